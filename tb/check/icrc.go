package check

// crcTable is the CRC of each byte, computed bit by bit from the polynomial: so
// the checker can disagree with the tables of the NIC.
var crcTable = func() (t [256]uint32) {
	for i := range t {
		c := uint32(i)
		for range 8 {
			c = c>>1 ^ 0xedb88320&-(c&1)
		}
		t[i] = c
	}
	return t
}()

// masked is how many bytes of a packet hold fields that the ICRC leaves out: IPv6,
// UDP, and BTH up to its reserved byte.
const masked = 40 + 8 + 5

// ICRC computes the invariant CRC of a packet from its IP header on, as annex A17
// defines it.
func ICRC(ip []byte) uint32 {
	var h [masked]byte
	n := copy(h[:], ip)
	udp := 20
	if h[0]>>4 == 4 {
		h[1], h[8], h[10], h[11] = 0xff, 0xff, 0xff, 0xff // TOS, TTL, checksum
	} else {
		udp = 40
		h[0] |= 0x0f // traffic class, flow label
		h[1], h[2], h[3], h[7] = 0xff, 0xff, 0xff, 0xff
	}
	h[udp+6], h[udp+7] = 0xff, 0xff // UDP checksum
	h[udp+8+4] = 0xff               // BTH: FECN, BECN, reserved
	crc := ^uint32(0)
	for range 8 {
		crc = crc>>8 ^ crcTable[byte(crc)^0xff]
	}
	for _, v := range h[:n] {
		crc = crc>>8 ^ crcTable[byte(crc)^v]
	}
	for _, v := range ip[n:] {
		crc = crc>>8 ^ crcTable[byte(crc)^v]
	}
	return ^crc
}
