package check

// icrc computes the invariant CRC of a packet from its IP header on, bit by bit
// as annex A17 defines it, so that it can disagree with the tables of the NIC.
func icrc(ip []byte) uint32 {
	b := append(make([]byte, 0, 8+len(ip)), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	b = append(b, ip...)
	h := b[8:]
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
	for _, v := range b {
		crc ^= uint32(v)
		for range 8 {
			if crc&1 != 0 {
				crc = crc>>1 ^ 0xedb88320
			} else {
				crc >>= 1
			}
		}
	}
	return ^crc
}
