package roce

import "encoding/binary"

// maskedByte is a byte with bits that the ICRC takes as ones, because routers
// and switches may change them (annex A17): offset from the IP header, and mask.
type maskedByte struct {
	off  int
	mask byte
}

var (
	masked4 = []maskedByte{
		{1, 0xFF},              // DSCP, ECN
		{8, 0xFF},              // TTL
		{10, 0xFF}, {11, 0xFF}, // header checksum
		{IPv4Size + 6, 0xFF}, {IPv4Size + 7, 0xFF}, // UDP checksum
		{IPv4Size + UDPSize + 4, 0xFF}, // FECN, BECN, reserved
	}
	masked6 = []maskedByte{
		{0, 0x0F}, {1, 0xFF}, {2, 0xFF}, {3, 0xFF}, // traffic class, flow label
		{7, 0xFF},                                  // hop limit
		{IPv6Size + 6, 0xFF}, {IPv6Size + 7, 0xFF}, // UDP checksum
		{IPv6Size + UDPSize + 4, 0xFF}, // FECN, BECN, reserved
	}
)

// maskedSpan is the length of the longest part of a packet with masked bytes.
const maskedSpan = IPv6Size + UDPSize + 5

// MaskICRC sets, in a packet from its IP header on, the bits that the ICRC takes
// as ones. The version is read from the first byte. A part of a packet is
// enough if it has the first 53 bytes; what is missing of them is not masked.
func MaskICRC(ip []byte) {
	if len(ip) == 0 {
		return
	}
	masked := masked4
	if ip[0]>>4 == 6 {
		masked = masked6
	}
	for _, m := range masked {
		if m.off < len(ip) {
			ip[m.off] |= m.mask
		}
	}
}

// ICRC is the invariant CRC of a packet from its IP header on, without its last
// 4 bytes, where it is stored little-endian. The packet is not changed.
func ICRC(ip []byte) uint32 {
	var head [maskedSpan]byte
	n := copy(head[:], ip)
	MaskICRC(head[:n])
	return ICRCStart.table(head[:n]).Update(ip[n:]).Sum()
}

// beatMasks[vlan][v6] are the bits to set in the first two beats of a frame, as
// little-endian words.
var beatMasks = func() (t [2][2][2][8]uint64) {
	for vlan := range 2 {
		l3 := EthernetSize + vlan*VLANSize
		for v6, masked := range [][]maskedByte{masked4, masked6} {
			for _, m := range masked {
				at := l3 + m.off
				t[vlan][v6][at/64][at%64/8] |= uint64(m.mask) << (at % 8 * 8)
			}
		}
	}
	return t
}()

// ICRCBeat is Beat for beat number `beat` (from 0) of a frame that begins with
// its Ethernet header: the Ethernet header is left out, the masked bits of the
// IP, UDP and BTH headers are taken as ones, and later beats are taken as they
// are. The register starts at ICRCStart. The beat is not changed.
func (c CRC) ICRCBeat(b *[64]byte, n, beat int, vlan, v6 bool) CRC {
	if beat >= 2 {
		return c.Beat(b, n)
	}
	l3, v, six := EthernetSize, 0, 0
	if vlan {
		l3, v = EthernetSize+VLANSize, 1
	}
	if v6 {
		six = 1
	}
	var m [64]byte
	for i, mask := range beatMasks[v][six][beat] {
		binary.LittleEndian.PutUint64(m[i*8:], binary.LittleEndian.Uint64(b[i*8:])|mask)
	}
	if beat == 1 {
		l3 = 0
	}
	return c.table(m[min(l3, n):n])
}
