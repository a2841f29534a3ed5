package abi

import (
	"reflect"

	"rnic/bits"
)

// Structure documents one structure that driver and device exchange.
type Structure struct {
	Name   string // of the Go type
	CName  string // of the C struct, after rnic_
	Doc    string
	Size   int // bytes
	Fields []bits.Field
	Type   reflect.Type
}

// Structures lists every structure, those that others contain first.
func Structures() []Structure {
	return []Structure{
		structure(MSIXEntryLayout, "Entry of the MSI-X table, as PCI has it."),
		structure(DoorbellLayout, "One aligned 8-byte write to offset 0 of a doorbell page."),
		structure(WQEControlLayout, "First 16 bytes of every send WQE."),
		structure(RemoteSegmentLayout, "Second 16 bytes of every send WQE; ignored where the operation has no remote address."),
		structure(SGELayout, "Scatter/gather element."),
		structure(AtomicSegmentLayout, "Operands of an atomic, in place of the second SGE."),
		structure(WQELayout, "First unit of a send WQE with a gather list."),
		structure(WQEInlineLayout, "First unit of a send WQE with inline data."),
		structure(WQEAtomicLayout, "Send WQE of COMPARE_SWAP and FETCH_ADD."),
		structure(WQESGEsLayout, "Further unit of a send WQE with a gather list. With inline data a further unit is 64 bytes of it."),
		structure(RWQEControlLayout, "First 16 bytes of every receive WQE; the scatter list follows."),
		structure(CQELayout, "Entry of a completion queue."),
		structure(EventLayout, "Entry of an event queue."),
		structure(AdminCommandLayout, "Entry of the admin command ring."),
		structure(AdminCompletionLayout, "Entry of the admin completion ring."),
		structure(DeviceMailboxLayout, "Written by QUERY_DEVICE."),
		structure(EQMailboxLayout, "Read by CREATE_EQ."),
		structure(CQMailboxLayout, "Read by CREATE_CQ."),
		structure(MRMailboxLayout, "Read by REG_MR."),
		structure(AVLayout, "Address vector: the way to the peer. IPv4 when DGID is an IPv4-mapped address, else IPv6."),
		structure(QPMailboxLayout, "Read by CREATE_QP (up to SQMaxInline) and MODIFY_QP (the attributes that AttrMask names), written by QUERY_QP."),
	}
}

func structure[T any](l *bits.Layout[T], doc string) Structure {
	t := reflect.TypeFor[T]()
	return Structure{Name: t.Name(), CName: l.Name, Doc: doc, Size: l.Size, Fields: l.Fields(), Type: t}
}
