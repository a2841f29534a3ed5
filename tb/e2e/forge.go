package e2e

import (
	"encoding/binary"

	"rnic/roce"
)

// Forge makes a packet as the peer's QP would send it to this end: with AckReq,
// and padded. Tests spoil it and have it arrive with Arrive.
func (e *End) Forge(op roce.Opcode, psn roce.PSN, payload []byte) roce.Packet {
	me, peer := uint8(e.Index), uint8(e.peer.Index)
	p := roce.Packet{
		Eth: roce.Ethernet{Dst: roce.HostMAC(me), Src: roce.HostMAC(peer)},
		IP4: roce.IPv4{DF: true, TTL: 64, Src: roce.HostIPv4(peer), Dst: roce.HostIPv4(me)},
		IP6: roce.IPv6{HopLimit: 64, Src: roce.HostIPv6(peer), Dst: roce.HostIPv6(me)},
		UDP: roce.UDP{SrcPort: 0xc000 | uint16(e.other.QP.Number())},
		BTH: roce.BTH{
			Opcode: op, MigReq: true, PKey: roce.DefaultPKey, DestQP: roce.QPN(e.QP.Number()),
			AckReq: op.IsRequest() && op.Transport() == roce.RC, PSN: psn,
		},
		V6: e.QP.Endpoint().GID == [16]byte(roce.HostIPv6(me)),
	}
	p.SetPayload(payload)
	return p
}

// ForgeAck makes an acknowledgement as the peer's QP would send it.
func (e *End) ForgeAck(s roce.Syndrome, psn roce.PSN, msn roce.MSN) roce.Packet {
	p := e.Forge(roce.RCAck, psn, nil)
	p.AETH = roce.AETH{Syndrome: s, MSN: msn}
	return p
}

// Arrive has packets arrive at the host one behind the other, when the doorbells
// that it has rung are at the NIC, and lets it deal with them.
func (d *Side) Arrive(packets ...roce.Packet) {
	d.scene.t.Helper()
	frames := make([][]byte, len(packets))
	for i := range packets {
		frames[i] = packets[i].Append(nil)
	}
	d.ArriveFrames(frames...)
}

// ArriveFrames has frames arrive that need not be packets at all.
func (d *Side) ArriveFrames(frames ...[]byte) {
	d.scene.t.Helper()
	d.scene.Sleep(200)
	for _, f := range frames {
		d.Inject(Pad(f))
	}
	d.scene.Sleep(settle)
}

// Pad appends the padding of Ethernet to a short frame.
func Pad(f []byte) []byte {
	for len(f) < roce.MinFrame {
		f = append(f, 0)
	}
	return f
}

// FirstPSN is the first PSN that the peer sends to this end.
func (e *End) FirstPSN() roce.PSN { return e.other.psn }

// Answers are the acknowledgements that the side has sent from a place in Seen on.
func (d *Side) Answers(from int) (as []roce.Packet) {
	for _, f := range d.Seen[from:] {
		if f.Tx && f.Err == nil && f.BTH.Opcode == roce.RCAck {
			as = append(as, f.Packet)
		}
	}
	return as
}

// Requests are the request packets that the side has sent from a place in Seen on.
func (d *Side) Requests(from int) (rs []roce.Packet) {
	for _, f := range d.Seen[from:] {
		if f.Tx && f.Err == nil && f.BTH.Opcode.IsRequest() {
			rs = append(rs, f.Packet)
		}
	}
	return rs
}

// Reseal makes IPv4 checksum and ICRC of a frame that was changed by hand right
// again, as far as its lengths allow.
func Reseal(f []byte) []byte {
	ip := f[roce.EthernetSize:]
	if len(ip) < roce.IPv4Size || ip[0]>>4 != 4 {
		return f
	}
	binary.BigEndian.PutUint16(ip[10:], roce.IPv4Checksum(ip[:roce.IPv4Size]))
	n := int(binary.BigEndian.Uint16(ip[2:]))
	if n >= roce.IPv4Size+roce.UDPSize+roce.ICRCSize && n <= len(ip) {
		binary.LittleEndian.PutUint32(ip[n-roce.ICRCSize:], roce.ICRC(ip[:n-roce.ICRCSize]))
	}
	return f
}
