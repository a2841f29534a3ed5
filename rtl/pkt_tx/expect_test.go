package pkttx_test

import (
	"encoding/binary"

	"github.com/stretchr/testify/require"

	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
)

// payload is what a packet's pieces hold; ok is false if they cannot be read.
func payload(pieces []port.TxPiece) (b []byte, ok bool) {
	for _, p := range pieces {
		switch {
		case p.Inline:
			b = append(b, p.Data[:p.Len]...)
			continue
		case p.Key >= badKey && p.Key <= badRead:
			return nil, false
		}
		for i := range p.Len {
			b = append(b, memory(translate(p.Key, p.VA+port.VA(i))))
		}
	}
	return b, true
}

// expected is the frame of a packet, as roce puts it together.
func expected(p *port.TxPkt, data []byte) *roce.Packet {
	h := headers(port.TxHdrReq{QPN: p.QPN, UD: p.UD, AH: p.AH})
	if p.UD {
		h.DestQPN = p.DestQPN
	}
	if p.QKey>>31 == 0 {
		h.QKey = p.QKey
	}
	e := &roce.Packet{
		Eth: roce.Ethernet{Dst: h.DMAC, Src: portReg.MAC},
		V6:  h.V6,
		UDP: roce.UDP{SrcPort: h.SPort},
		BTH: roce.BTH{
			Opcode: p.Opcode, SE: p.Solicited, MigReq: true, PKey: roce.PKey(h.PKey), DestQP: roce.QPN(h.DestQPN),
			AckReq: p.AckReq, PSN: p.PSN,
		},
		DETH:         roce.DETH{QKey: h.QKey, SrcQP: roce.QPN(p.QPN)},
		RETH:         roce.RETH{VA: uint64(p.Reth.VA), RKey: uint32(p.Reth.RKey), Length: p.Reth.Len},
		AtomicETH:    roce.AtomicETH{VA: uint64(p.Reth.VA), RKey: uint32(p.Reth.RKey), SwapAdd: p.Reth.Swap, Compare: p.Reth.Compare},
		AETH:         roce.AETH{Syndrome: roce.Syndrome(p.Syndrome), MSN: roce.MSN(p.MSN)},
		AtomicAckETH: roce.AtomicAckETH{Orig: p.Reth.Swap},
		Imm:          roce.ImmDt{Imm: p.Imm},
		IETH:         roce.IETH{RKey: p.Imm},
	}
	if h.V6 {
		e.IP6 = roce.IPv6{DSCP: h.TOS >> 2, ECN: h.TOS & 3, FlowLabel: h.Flow, HopLimit: h.TTL, Src: h.SIP, Dst: h.DIP}
	} else {
		e.IP4 = roce.IPv4{DSCP: h.TOS >> 2, ECN: h.TOS & 3, DF: true, TTL: h.TTL, Src: [4]byte(h.SIP[12:]), Dst: [4]byte(h.DIP[12:])}
	}
	e.SetPayload(data)
	return e
}

// frame is what a packet becomes on Eth.
type frame struct {
	bytes []byte
	raw   bool
	vlan  bool
	tci   uint16
}

func framed(p *port.TxPkt, data []byte) frame {
	if p.Raw {
		return frame{bytes: data, raw: true}
	}
	h := headers(port.TxHdrReq{QPN: p.QPN, UD: p.UD, AH: p.AH})
	return frame{expected(p, data).Append(nil), false, h.VLAN, h.TCI}
}

// plan is what has to come of a load.
type plan struct {
	req    []frame
	resp   map[port.QPN][]frame // in order for each QP
	faults []port.SQFault       // without reasons
	refuse []port.SQFault
	purges int
	left   []port.Left
}

// fatal tells whether a response is a NAK that ends its QP.
func fatal(p *port.TxPkt) bool { return p.Opcode == roce.RCAck && p.Syndrome > 0x60 }

func planned(l load) plan {
	w := plan{resp: map[port.QPN][]frame{}}
	failed, muted := map[port.QPN]bool{}, map[port.QPN]roce.PSN{}
	pieces := l.piece
	for i := range l.req {
		p := &l.req[i]
		if p.Purge {
			w.purges++
			continue
		}
		data, ok := payload(pieces[:p.NumPieces])
		pieces = pieces[p.NumPieces:]
		switch {
		case qp(p.QPN).Drop, failed[p.QPN]:
		case !ok, p.UD && p.AH == badAH:
			failed[p.QPN] = true
			w.faults = append(w.faults, port.SQFault{QPN: p.QPN, PSN: p.PSN})
		default:
			w.req = append(w.req, framed(p, data))
			if p.AckReq || p.Unacked {
				w.left = append(w.left, port.Left{QPN: p.QPN, LastPSN: p.LastPSN, Unacked: p.Unacked})
			}
		}
	}
	pieces = l.data
	for i := range l.resp {
		p := &l.resp[i]
		data, ok := payload(pieces[:p.NumPieces])
		pieces = pieces[p.NumPieces:]
		at, mute := muted[p.QPN]
		switch {
		case qp(p.QPN).Drop, mute && (!fatal(p) || p.PSN.After(at)):
		case !ok && p.Again:
		case !ok:
			muted[p.QPN] = p.PSN
			w.refuse = append(w.refuse, port.SQFault{QPN: p.QPN, PSN: p.PSN})
		default:
			w.resp[p.QPN] = append(w.resp[p.QPN], framed(p, data))
		}
	}
	return w
}

// compare checks all frames against the load: requests in order, responses in
// order for each QP.
func compare(t hdltest.T, l load, r result) {
	t.Helper()
	w := planned(l)
	var stats port.TxStats
	ids := uint16(0)
	for n, f := range r.Frames {
		if len(w.req) > 0 && w.req[0].raw && string(f.Frame) == string(w.req[0].bytes) {
			require.False(t, f.VLAN)
			w.req = w.req[1:]
			stats.RawFrames++
			continue
		}
		p, err := roce.ParseFrame(f.Frame)
		require.NoError(t, err, "frame %d", n)
		if !p.V6 { // the identification counts frames
			require.Equal(t, ids, p.IP4.ID)
			binary.BigEndian.PutUint16(f.Frame[18:], 0)
			binary.BigEndian.PutUint16(f.Frame[24:], roce.IPv4Checksum(f.Frame[14:34]))
			end := len(f.Frame) - 4
			require.Equal(t, p.ICRC, binary.LittleEndian.Uint32(f.Frame[end:]))
			binary.LittleEndian.PutUint32(f.Frame[end:], roce.ICRC(f.Frame[14:end]))
		}
		ids++
		got := frame{f.Frame, false, f.VLAN, f.TCI}
		qpn := port.QPN(p.BTH.DestQP) ^ 0x800001
		if resp := w.resp[qpn]; len(resp) > 0 && string(resp[0].bytes) == string(f.Frame) {
			require.Equal(t, resp[0], got)
			w.resp[qpn] = resp[1:]
		} else {
			require.NotEmpty(t, w.req, "frame %d: %+v", n, p)
			require.Equal(t, w.req[0], got, "frame %d: %+v", n, p)
			w.req = w.req[1:]
		}
		stats.TxPackets++
		size := len(f.Frame)
		if f.VLAN {
			size += 4
		}
		stats.TxBytes += uint64(max(60, size))
		if p.BTH.Opcode == roce.RCAck {
			switch p.AETH.Syndrome.Kind() {
			case roce.KindACK:
				stats.AcksSent++
			case roce.KindRNR:
				stats.RnrNaksSent++
			default:
				stats.NaksSent++
			}
		}
	}
	require.Zero(t, len(w.req), "requests missing")
	for n, resp := range w.resp {
		require.Zero(t, len(resp), "responses of QP %d missing", n)
	}
	require.Equal(t, stats, r.Stats)
	require.Len(t, r.Purges, w.purges)
	require.Equal(t, w.left, r.Left)
	require.Equal(t, w.faults, where(r.Faults))
	require.Equal(t, w.refuse, where(r.Refuse))
}

// where is faults without their reasons.
func where(fs []port.SQFault) (w []port.SQFault) {
	for _, f := range fs {
		w = append(w, port.SQFault{QPN: f.QPN, PSN: f.PSN})
	}
	return w
}
