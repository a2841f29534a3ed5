// Package roce holds the RoCEv2 wire formats: headers, opcodes, PSN arithmetic,
// acknowledge syndromes, the invariant CRC, each described once.
//
//	Ethernet II | [802.1Q] | IPv4 or IPv6 | UDP 4791 | BTH | extended headers | payload | pad | ICRC | FCS
//	14            4          20      40     8          12    0..28              0..MTU    0..3  4      4   bytes
//
// There are three layers, for three kinds of user:
//
//   - header structs (BTH, RETH, ...) with a bits.Layout each, opcode
//     predicates, PSN arithmetic and CRC functions: pure, flat, free of
//     allocation, for hardware blocks that see a frame 64 bytes at a time;
//   - ParseFrame and Packet.Append: a whole frame at once, checked as a receiver
//     checks it, for monitors, tools and tests;
//   - addresses of the modelled hosts.
//
// All multi-byte fields are big-endian, but for the ICRC and the FCS, which are
// stored little-endian. Frames passed to this package carry no FCS, as in
// captures, unless a function says so.
//
// Sources: InfiniBand Architecture Specification vol. 1, chapter 9 (transport
// layer) and annex A17 (RoCEv2); IEEE 802.3 and 802.1Q; RFC 768, 791, 1071, 3168
// and 8200. The frames that Linux's Soft-RoCE sends are the golden vectors.
package roce
