// Package bits describes a binary format once, as a Go struct, and derives
// encoding, decoding, range checks and documentation from that description.
//
//	type BTH struct {
//		Opcode Opcode   // 8 bits: Opcode has Width() int
//		SE     bool     // 1 bit
//		Pad    uint8    `bits:"2" doc:"pad bytes after the payload"`
//		_      struct{} `bits:"5"`
//		PSN    PSN      // 24 bits: PSN has Width() int
//	}
//	var BTHLayout = bits.MustLayout[BTH]("bth", bits.Big, 5)
//
// # Description
//
// Fields lie in the order in which the struct lists them, with no gaps. The
// width of a field in bits is, in this order: its `bits` tag; the Width method
// of its type; 1 for a bool; the Go size of an unsigned integer. A tag that
// contradicts a Width method is refused, since a width is said once.
//
//   - blank fields (any type) are reserved: written as 0, not read;
//   - structs and arrays are flattened; a tag on an array is the width of one
//     element; names become "SGE[1].Addr", those of embedded structs are
//     promoted as in Go;
//   - [N]byte lies on a byte boundary and keeps its byte order in both Orders;
//   - signed integers, floats, pointers, slices, maps and strings are refused.
//
// # Bit numbering
//
// Big is the order of the wire: bit 0 is the most significant bit of byte 0,
// and a field's most significant bit comes first. Little is the order of host
// structures: bit 0 is the least significant bit of byte 0, and a field's
// least significant bit comes first. In both, byte k holds bits 8k..8k+7.
//
// # Cost
//
// A description is compiled when the program starts into a flat list of words
// of up to 8 bytes and the shifts and masks of the fields inside them. Encode
// and Decode run that list without reflection or allocation.
package bits
