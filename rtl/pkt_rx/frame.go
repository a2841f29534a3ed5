package pktrx

import (
	"encoding/binary"

	"rnic/roce"
	"rnic/rtl/port"
)

// drop is the class of the first fault of a frame.
type drop uint8

const (
	dropNone drop = iota
	dropNotRoCE
	dropMalformed
	dropDisabled // the port is off: not even counted
)

// Width is 2 bits.
func (drop) Width() int { return 2 }

func (d drop) String() string {
	return [...]string{"NONE", "NOT_ROCE", "MALFORMED", "DISABLED"}[d&3]
}

// maxHeader is the length of the longest BTH with extended headers.
const maxHeader = roce.BTHSize + roce.AtomicETHSize

// frame is the frame register: what is known of the frame in progress. Beat 0
// holds all headers up to UDP, whatever the IP version.
type frame struct {
	Drop   drop // found in beat 0; that of Ethernet and IP before that of UDP
	UDP    bool // Drop was found in or behind the UDP header
	RoCE   bool // UDP port 4791
	V6     bool // IPv6
	VLAN   bool // it came with a tag, of TCI
	TCI    uint16
	Raw    port.QPN // that gets it as it is, 0: it is RoCE or dropped
	CE     bool     // congestion experienced
	Bad    bool     // FCS or length, as the MAC says
	NoRoom bool     // rx_buf was full
	Need   uint8    // bytes without which Drop means nothing
	Beat   uint8    // beats taken, at most 255
	Stored uint8    // beats in rx_buf
	Bytes  uint16   // taken, at most 0xffff
	End    uint16   // where the IP packet ends, bytes from the start of the frame
	Check  uint16   // UDP checksum field
	Sum    uint32   // of the pseudo header and the datagram so far, if Check is not 0
	CRC    roce.CRC
	SIP    [16]byte
	DIP    [16]byte
	Header [maxHeader]byte // BTH and what follows, from beats 0 and 1
}

const (
	l3Offset = roce.EthernetSize
	udp4     = l3Offset + roce.IPv4Size
	udp6     = l3Offset + roce.IPv6Size
	bth4     = udp4 + roce.UDPSize
	bth6     = udp6 + roce.UDPSize
	maxEnd   = 1 << 13 // longer IP packets are no RoCE packets of any MTU
)

func (f *frame) udp() int {
	if f.V6 {
		return udp6
	}
	return udp4
}

// first starts the register with beat 0. Bytes behind the end of a short frame
// are looked at too; judge knows better.
func (f *frame) first(b *port.EthBeat, reg port.PortReg) {
	*f = frame{CRC: roce.ICRCStart, Need: roce.EthernetSize, VLAN: b.VLAN, TCI: b.TCI}
	p := &b.Data
	own := [6]byte(p[:6]) == reg.MAC
	switch {
	case !reg.Enable:
		f.Drop = dropDisabled
		return
	case reg.RawQPN != 0 && (own && !isRoCE(b) || !own && p[0]&group != 0):
		f.Raw = reg.RawQPN
		return
	case !own:
		f.Drop = dropNotRoCE
		return
	}
	switch roce.EtherType(binary.BigEndian.Uint16(p[12:])) {
	case roce.EtherTypeIPv4:
		f.Need = udp4
		f.ipv4(p)
	case roce.EtherTypeIPv6:
		f.V6, f.Need = true, udp6
		f.ipv6(p)
	default:
		f.Drop = dropNotRoCE
	}
	if f.Drop == dropNone {
		f.udpHeader(p)
	}
}

func (f *frame) ipv4(p *[beatBytes]byte) {
	ip := p[l3Offset:udp4]
	end := l3Offset + int(binary.BigEndian.Uint16(ip[2:]))
	fragment := binary.BigEndian.Uint16(ip[6:])&0x3FFF != 0 // MF, offset
	switch {
	case ip[0] != 4<<4|roce.IPv4Size/4, binary.BigEndian.Uint16(ip[10:]) != roce.IPv4Checksum(ip):
		f.Drop = dropMalformed
	case ip[9] != roce.ProtocolUDP:
		f.Drop = dropNotRoCE
	case fragment, end < udp4, end > maxEnd:
		f.Drop = dropMalformed
	}
	f.End = uint16(min(end, maxEnd))
	f.CE = ip[1]&3 == roce.ECNCongestion
	f.SIP = roce.GIDFromIPv4(roce.IPv4Addr(ip[12:]))
	f.DIP = roce.GIDFromIPv4(roce.IPv4Addr(ip[16:]))
}

func (f *frame) ipv6(p *[beatBytes]byte) {
	ip := p[l3Offset:udp6]
	end := udp6 + int(binary.BigEndian.Uint16(ip[4:]))
	switch {
	case ip[0]>>4 != 6:
		f.Drop = dropMalformed
	case ip[6] != roce.ProtocolUDP:
		f.Drop = dropNotRoCE
	case end > maxEnd:
		f.Drop = dropMalformed
	}
	f.End = uint16(min(end, maxEnd))
	f.CE = ip[1]>>4&3 == roce.ECNCongestion
	f.SIP, f.DIP = [16]byte(ip[8:]), [16]byte(ip[24:])
}

// udpHeader checks the UDP header, and starts the sum over its datagram.
func (f *frame) udpHeader(p *[beatBytes]byte) {
	at := f.udp()
	h := p[at : at+roce.UDPSize]
	room := int(f.End) - at
	if room < roce.UDPSize {
		f.Drop = dropMalformed
		return
	}
	f.UDP = true
	if binary.BigEndian.Uint16(h[2:]) != roce.Port {
		f.Drop = dropNotRoCE
		return
	}
	f.RoCE = true
	if int(binary.BigEndian.Uint16(h[4:])) != room {
		f.Drop = dropMalformed
		return
	}
	f.Check = binary.BigEndian.Uint16(h[6:])
	if f.Check != 0 {
		addresses := p[l3Offset+12 : udp4]
		if f.V6 {
			addresses = p[l3Offset+8 : udp6]
		}
		f.Sum = wordSum(addresses) + roce.ProtocolUDP + uint32(room)
	}
}

// add works a beat into the register. It returns how many of its bytes belong to
// the IP packet, as far as its length tells, or to the raw frame.
func (f *frame) add(b *port.EthBeat) int {
	beat := int(f.Beat)
	f.Beat = uint8(min(beat+1, 255))
	f.Bytes = uint16(min(int(f.Bytes)+int(b.Len), 0xFFFF))
	f.Bad = b.Last && b.Bad
	switch {
	case f.Drop != dropNone, beat > maxEnd/beatBytes:
		return 0
	case f.Raw != 0 && beat < maxRaw/beatBytes:
		return int(b.Len)
	case f.Raw != 0:
		return 0
	}
	n := min(max(int(f.End)-beat*beatBytes, 0), beatBytes)
	if n == 0 {
		return 0
	}
	f.CRC = f.CRC.ICRCBeat(&b.Data, n, beat, false, f.V6)
	from := 0
	if beat == 0 {
		from = f.udp()
	}
	if f.Check != 0 {
		f.Sum += wordSum(b.Data[from:max(n, from)])
	}
	switch beat {
	case 0:
		copy(f.Header[:], b.Data[from+roce.UDPSize:])
	case 1:
		copy(f.Header[beatBytes-roce.UDPSize-f.udp():], b.Data[:])
	}
	return n
}

// wordSum adds big-endian 16-bit words; a last odd byte counts as a high one.
func wordSum(b []byte) uint32 {
	sum := uint32(0)
	for len(b) >= 2 {
		sum += uint32(b[0])<<8 | uint32(b[1])
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint32(b[0]) << 8
	}
	return sum
}

// checksumRight tells whether the sum over a datagram with its checksum is that
// of a right one (RFC 768).
func (f *frame) checksumRight() bool {
	sum := f.Sum>>16 + f.Sum&0xFFFF
	return f.Check == 0 || sum>>16+sum&0xFFFF == 0xFFFF
}
