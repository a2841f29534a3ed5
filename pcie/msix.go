package pcie

import "encoding/binary"

// Message is an MSI-X message: a posted write of one DW. It follows the order of
// posted writes, so whatever the device wrote before is visible before it.
type Message struct {
	Addr uint64 // multiple of 4
	Data uint32
}

// Beat returns the message as a whole TLP of requester id.
func (m Message) Beat(id ID) Beat {
	b := Beat{Hdr: Request(MWr, m.Addr&^3, 4), Len: 4, First: true, Last: true}
	b.Hdr.ID = id
	binary.LittleEndian.PutUint32(b.Data[:], m.Data)
	return b
}
