package bits_test

import (
	"fmt"

	"rnic/bits"
)

// Seq is a number of 24 bits: it says so itself, wherever it is used.
type Seq uint32

func (Seq) Width() int { return 24 }

// Note is described by its fields alone.
type Note struct {
	Urgent bool
	Kind   uint8    `bits:"3" doc:"what it is about"`
	_      struct{} `bits:"4"`
	Seq    Seq      `doc:"number of the note"`
	Text   [4]byte
}

func Example() {
	layout := bits.MustLayout[Note]("note", bits.Big, 8)

	b := make([]byte, layout.Size)
	layout.Encode(&Note{Urgent: true, Kind: 5, Seq: 0x010203, Text: [4]byte{'h', 'e', 'y', '!'}}, b)
	fmt.Printf("% x\n", b)

	var n Note
	fmt.Println(layout.Decode(b, &n), n.Kind, n.Seq, string(n.Text[:]))
	fmt.Println(layout.Decode(b[:7], &n))
	fmt.Println(layout.Check(&Note{Kind: 8}))

	for _, f := range layout.Fields() {
		fmt.Printf("bit %d, %d wide: %q %q\n", f.BitOffset, f.Width, f.Name, f.Doc)
	}
	// Output:
	// d0 01 02 03 68 65 79 21
	// <nil> 5 66051 hey!
	// note: too short: 8 bytes needed
	// note.Kind: value wider than its field: 0x8 in 3 bits
	// bit 0, 1 wide: "Urgent" ""
	// bit 1, 3 wide: "Kind" "what it is about"
	// bit 4, 4 wide: "" ""
	// bit 8, 24 wide: "Seq" "number of the note"
	// bit 32, 32 wide: "Text" ""
}
