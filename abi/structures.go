package abi

import (
	"reflect"

	"rnic/bits"
)

// Structure documents one structure that driver and device exchange.
type Structure struct {
	Name   string // of the Go type
	CName  string // of the C struct, after rnic_
	Size   int    // bytes
	Fields []bits.Field
	Type   reflect.Type
}

// Structures lists every structure, those that others contain first.
func Structures() []Structure {
	return []Structure{
		structure(MSIXEntryLayout),
		structure(DoorbellLayout),
		structure(WQEControlLayout),
		structure(RemoteSegmentLayout),
		structure(SGELayout),
		structure(AtomicSegmentLayout),
		structure(AHSegmentLayout),
		structure(BindSegmentLayout),
		structure(FastRegSegmentLayout),
		structure(WQELayout),
		structure(WQEInlineLayout),
		structure(WQEAtomicLayout),
		structure(WQESGEsLayout),
		structure(WQEUDLayout),
		structure(WQEBindLayout),
		structure(WQEFastRegLayout),
		structure(RWQEControlLayout),
		structure(CQELayout),
		structure(EventLayout),
		structure(AdminCommandLayout),
		structure(AdminCompletionLayout),
		structure(DeviceMailboxLayout),
		structure(EQMailboxLayout),
		structure(CQMailboxLayout),
		structure(MRMailboxLayout),
		structure(AVLayout),
		structure(QPMailboxLayout),
		structure(AHMailboxLayout),
		structure(SRQMailboxLayout),
	}
}

func structure[T any](l *bits.Layout[T]) Structure {
	t := reflect.TypeFor[T]()
	return Structure{Name: t.Name(), CName: l.Name, Size: l.Size, Fields: l.Fields(), Type: t}
}
