package pcie

import (
	"errors"

	"rnic/bits"
)

// HeaderSize is the room for an encoded header, bytes. Completions use 12 of
// them on the link; the last 4 are 0 here.
const HeaderSize = 16

// ErrUnsupported is the error of Decode on a format or type that the package
// does not have.
var ErrUnsupported = errors.New("unsupported TLP type")

// head is the first DW of every TLP.
type head struct {
	Format  uint8    `bits:"3" doc:"0 3 DW, 1 4 DW, 2 3 DW with data, 3 4 DW with data"`
	Type    uint8    `bits:"5" doc:"0 memory, 10 completion"`
	_       struct{} `bits:"1"`
	Class   TrafficClass
	_       struct{} `bits:"1"`
	IDOrder bool     `doc:"attribute bit 2"`
	_       struct{} `bits:"1"`
	_       struct{} `bits:"1" doc:"processing hints present"`
	Digest  bool     `doc:"TD: an ECRC follows the payload; not used"`
	Poison  bool     `doc:"EP"`
	Relaxed bool     `doc:"attribute bit 1"`
	NoSnoop bool     `doc:"attribute bit 0"`
	_       struct{} `bits:"2" doc:"address type"`
	Len     uint16   `bits:"10" doc:"DWs, 0 is 1024"`
}

// memoryHeader is the header of MRd and MWr with 64-bit address.
type memoryHeader struct {
	head
	ID    ID
	Tag   Tag
	Last  ByteEnable
	First ByteEnable
	Addr  uint64   `bits:"62" doc:"byte address bits 63:2"`
	_     struct{} `bits:"2"`
}

// completionHeader is the header of Cpl and CplD.
type completionHeader struct {
	head
	Completer ID
	Status    Status
	Modified  bool   `doc:"BCM: PCI-X bridges only"`
	Count     uint16 `bits:"12" doc:"bytes left, 0 is 4096"`
	ID        ID
	Tag       Tag
	_         struct{} `bits:"1"`
	Lower     LowerAddr
	_         struct{} `bits:"32" doc:"not on the link"`
}

var (
	memoryLayout     = bits.MustLayout[memoryHeader]("memory_request", bits.Big, HeaderSize)
	completionLayout = bits.MustLayout[completionHeader]("completion", bits.Big, HeaderSize)
)

const (
	typeMemory     = 0x00
	typeCompletion = 0x0A
)

// formats are the Format and Type of each Kind.
var formats = [4]struct{ format, typ uint8 }{
	MRd:  {1, typeMemory},
	MWr:  {3, typeMemory},
	Cpl:  {0, typeCompletion},
	CplD: {2, typeCompletion},
}

// Encode writes the header. Values out of their range are masked.
func (t *TLP) Encode(b *[HeaderSize]byte) {
	f := &formats[t.Kind&3]
	h := head{
		Format: f.format, Type: f.typ, Class: t.Class, Poison: t.Poison, Len: uint16(t.Len),
		IDOrder: t.Attr.IDOrder, Relaxed: t.Attr.Relaxed, NoSnoop: t.Attr.NoSnoop,
	}
	if t.Kind.IsRequest() {
		memoryLayout.Encode(&memoryHeader{
			head: h, ID: t.ID, Tag: t.Tag, First: t.First, Last: t.Last, Addr: t.Addr >> 2,
		}, b[:])
		return
	}
	completionLayout.Encode(&completionHeader{
		head: h, Completer: t.Completer, Status: t.Status, Count: uint16(t.Count),
		ID: t.ID, Tag: t.Tag, Lower: t.Lower,
	}, b[:])
}

// Decode reads the header. The error is ErrUnsupported, or nil.
func (t *TLP) Decode(b *[HeaderSize]byte) error {
	var m memoryHeader
	if err := memoryLayout.Decode(b[:], &m); err != nil {
		return err
	}
	kind := MRd
	for kind <= CplD && (formats[kind].format != m.Format || formats[kind].typ != m.Type) {
		kind++
	}
	if kind > CplD || m.Digest {
		return ErrUnsupported
	}
	*t = TLP{
		Kind: kind, Class: m.Class, Poison: m.Poison, Len: DWords((m.Len-1)&1023 + 1),
		Attr: Attr{IDOrder: m.IDOrder, Relaxed: m.Relaxed, NoSnoop: m.NoSnoop},
	}
	if kind.IsRequest() {
		t.ID, t.Tag, t.First, t.Last, t.Addr = m.ID, m.Tag, m.First, m.Last, m.Addr<<2
		return nil
	}
	var c completionHeader
	if err := completionLayout.Decode(b[:], &c); err != nil {
		return err
	}
	if kind == Cpl {
		t.Len = 0
	}
	t.ID, t.Tag, t.Completer, t.Status = c.ID, c.Tag, c.Completer, c.Status
	t.Count, t.Lower = ByteCount((c.Count-1)&4095+1), c.Lower
	return nil
}
