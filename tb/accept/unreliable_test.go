package accept_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/accept"
)

// Of the scripts: QP 6, of UC, is connected to QP 10, and sends from PSN 0xfffffe on and
// expects 7; QP 7, of UD, has Q_Key 0x11.
const (
	uc, ucPeer = 6, 10
	ud         = 7
	qkey       = 0x11
)

func newUnreliable() *script {
	s := newScript()
	s.Make(s.now, uc, accept.QP{Type: abi.QPTypeUC})
	s.Connect(s.now, uc, accept.Connection{PeerQPN: ucPeer, MTU: mtu, SendPSN: 0xfffffe, RecvPSN: 7, Access: everything})
	s.Connected(s.now, uc)
	s.Make(s.now, ud, accept.QP{Type: abi.QPTypeUD})
	s.Connect(s.now, ud, accept.Connection{MTU: 1024, SendPSN: 1, RecvPSN: 1, QKey: qkey, Addresses: []roce.GID{roce.GIDFromIPv4(roce.HostIPv4(1))}})
	s.Connected(s.now, ud)
	return s
}

// ask posts a send of n bytes to a QP.
func (s *script) ask(q uint32, id uint64, op abi.WQEOp, n int, change ...func(*accept.SendWR)) *script {
	w := accept.SendWR{ID: id, Op: op, Signaled: true, SGEs: sge(0, n), Data: append([]byte{}, s.mem[:n]...), RKey: 0x77, RemoteAddr: 0x5000, Imm: 0x1234}
	w.To = accept.Datagram{QPN: 9, QKey: qkey, Path: accept.Path{DMAC: roce.HostMAC(2), SGID: roce.GIDFromIPv4(roce.HostIPv4(1)), DGID: roce.GIDFromIPv4(roce.HostIPv4(2)), HopLimit: 64, SourcePort: 0xc000}}
	for _, f := range change {
		f(&w)
	}
	s.PostSend(s.now, q, w)
	return s
}

// take posts a receive of n bytes to a QP.
func (s *script) take(q uint32, id uint64, off, n int) *script {
	s.PostRecv(s.now, q, accept.RecvWR{ID: id, SGEs: sge(off, n), Read: func(n int) []byte { return s.mem[off:][:n] }})
	s.now += 200
	return s
}

func (s *script) out(dest roce.QPN, op roce.Opcode, psn roce.PSN, n int, change ...func(*roce.Packet)) *script {
	s.at(10).Frame(s.now, true, false, packet(1, 2, dest, op, psn, n, append([]func(*roce.Packet){silent}, change...)))
	return s
}

func (s *script) in(q roce.QPN, op roce.Opcode, psn roce.PSN, n int, change ...func(*roce.Packet)) *script {
	s.at(10).Frame(s.now, false, false, packet(2, 1, q, op, psn, n, append([]func(*roce.Packet){silent}, change...)))
	return s
}

// silent asks for no acknowledgement.
func silent(p *roce.Packet) { p.BTH.AckReq = false }

// deth says where a datagram comes from.
func deth(key uint32, src roce.QPN) func(*roce.Packet) {
	return func(p *roce.Packet) { p.DETH = roce.DETH{QKey: key, SrcQP: src} }
}

// ends is a completion of a QP.
func (s *script) ends(q uint32, id uint64, st abi.WCStatus, op abi.WCOpcode, n uint32, change ...func(*accept.Completion)) *script {
	c := accept.Completion{QPN: q, ID: id, Status: st, Opcode: op, ByteLen: n}
	if q == uc {
		c.SrcQPN = ucPeer
	}
	for _, f := range change {
		f(&c)
	}
	s.at(10).Complete(s.now, c)
	return s
}

// pattern puts the payload of a packet into memory.
func (s *script) pattern(off, n int) *script {
	for i := range n {
		s.mem[off+i] = byte(i*7 + i>>8)
	}
	return s
}

// header puts the IPv4 header of an incoming datagram of n bytes there.
func (s *script) header(off, n int) *script {
	b := packet(2, 1, ud, roce.UDSendOnly, 5, n, []func(*roce.Packet){silent, deth(qkey, 9)})
	copy(s.mem[off+20:], b[14:34])
	return s
}

func fromUD(c *accept.Completion) { c.SrcQPN, c.Flags = 9, abi.CQEGRH }

func TestUnreliable(t *testing.T) {
	rules := []rule{
		{name: "UC sends", run: func(s *script) {
			s.ask(uc, 1, abi.OpSend, 600).out(ucPeer, roce.UCSendFirst, 0xfffffe, 512).
				out(ucPeer, roce.UCSendLast, 0xffffff, 88, data(512, 88)).ends(uc, 1, 0, abi.WCSend, 0).settles()
		}},
		{name: "completed while in the MAC", run: func(s *script) {
			s.ask(uc, 1, abi.OpSend, 60).ends(uc, 1, 0, abi.WCSend, 0).out(ucPeer, roce.UCSendOnly, 0xfffffe, 60).settles()
		}},
		{name: "completed long before", want: "when its last packet has left", run: func(s *script) {
			s.ask(uc, 1, abi.OpSend, 60).ends(uc, 1, 0, abi.WCSend, 0).at(3000).out(ucPeer, roce.UCSendOnly, 0xfffffe, 60)
		}},
		{name: "never left", want: "oldest without an answer", run: func(s *script) {
			s.ask(uc, 1, abi.OpSend, 60).settles()
		}},
		{name: "sent again", want: "nothing is sent again", run: func(s *script) {
			s.ask(uc, 1, abi.OpSend, 600).out(ucPeer, roce.UCSendFirst, 0xfffffe, 512).out(ucPeer, roce.UCSendFirst, 0xfffffe, 512)
		}},
		{name: "AckReq", want: "with AckReq", run: func(s *script) {
			s.ask(uc, 1, abi.OpSend, 60).out(ucPeer, roce.UCSendOnly, 0xfffffe, 60, func(p *roce.Packet) { p.BTH.AckReq = true })
		}},
		{name: "RC opcode", want: "sent by a QP of type UC", run: func(s *script) {
			s.ask(uc, 1, abi.OpSend, 60).out(ucPeer, roce.RCSendOnly, 0xfffffe, 60)
		}},
		{name: "passes a bind", want: "in queue order", run: func(s *script) {
			s.post(1, abi.OpSend, 4).post(2, abi.OpLocalInv, 0).post(3, abi.OpSend, 4)
			s.gets(roce.RCAck, 0xfffffd, 0).sends(roce.RCSendOnly, 0xfffffe, 4).sends(roce.RCSendOnly, 0xffffff, 4)
		}},
		{name: "UC receives", run: func(s *script) {
			s.take(uc, 1, 100, 600).in(uc, roce.UCSendOnly, 7, 60).pattern(100, 60).ends(uc, 1, 0, abi.WCRecv, 60).settles()
		}},
		{name: "receive taken again behind a gap", run: func(s *script) {
			s.take(uc, 1, 100, 600).in(uc, roce.UCSendFirst, 7, 512).in(uc, roce.UCSendOnly, 9, 60).pattern(100, 60).ends(uc, 1, 0, abi.WCRecv, 60).settles()
		}},
		{name: "message with a gap completes", want: "has not come in full", run: func(s *script) {
			s.take(uc, 1, 100, 2000).in(uc, roce.UCSendFirst, 7, 512).in(uc, roce.UCSendLast, 9, 60).ends(uc, 1, 0, abi.WCRecv, 572).settles()
		}},
		{name: "message lost", want: "no completion of receive 0x1", run: func(s *script) {
			s.take(uc, 1, 100, 600).in(uc, roce.UCSendOnly, 7, 60).settles()
		}},
		{name: "too long, and what is behind", run: func(s *script) {
			s.take(uc, 1, 100, 50).in(uc, roce.UCSendOnly, 7, 60).in(uc, roce.UCSendOnly, 8, 30).settles()
		}},
		{name: "UD sends", run: func(s *script) {
			s.ask(ud, 1, abi.OpSend, 60).out(9, roce.UDSendOnly, 1, 60, deth(qkey, ud)).ends(ud, 1, 0, abi.WCSend, 0).settles()
		}},
		{name: "wrong Q_Key sent", want: "Q_Key", run: func(s *script) {
			s.ask(ud, 1, abi.OpSend, 60).out(9, roce.UDSendOnly, 1, 60, deth(qkey+1, ud))
		}},
		{name: "own Q_Key", run: func(s *script) {
			s.ask(ud, 1, abi.OpSend, 60, func(w *accept.SendWR) { w.To.QKey = 1 << 31 }).out(9, roce.UDSendOnly, 1, 60, deth(qkey, ud)).ends(ud, 1, 0, abi.WCSend, 0).settles()
		}},
		{name: "another way", want: "address vector", run: func(s *script) {
			s.ask(ud, 1, abi.OpSend, 60).out(9, roce.UDSendOnly, 1, 60, deth(qkey, ud), func(p *roce.Packet) { p.IP4.TTL = 3 })
		}},
		{name: "UD receives", run: func(s *script) {
			s.take(ud, 1, 100, 600).in(ud, roce.UDSendOnly, 5, 60, deth(qkey, 9)).header(100, 60).pattern(140, 60).ends(ud, 1, 0, abi.WCRecv, 100, fromUD).settles()
		}},
		{name: "no GRH", want: "not in memory", run: func(s *script) {
			s.take(ud, 1, 100, 600).in(ud, roce.UDSendOnly, 5, 60, deth(qkey, 9)).pattern(140, 60).ends(ud, 1, 0, abi.WCRecv, 100, fromUD)
		}},
		{name: "length without GRH", want: "due 100", run: func(s *script) {
			s.take(ud, 1, 100, 600).in(ud, roce.UDSendOnly, 5, 60, deth(qkey, 9)).header(100, 60).pattern(140, 60).ends(ud, 1, 0, abi.WCRecv, 60, fromUD)
		}},
		{name: "wrong Q_Key received", want: "has not come", run: func(s *script) {
			s.take(ud, 1, 100, 600).in(ud, roce.UDSendOnly, 5, 60, deth(qkey+1, 9)).ends(ud, 1, 0, abi.WCRecv, 100, fromUD)
		}},
		{name: "does not fit", run: func(s *script) {
			s.take(ud, 1, 100, 99).in(ud, roce.UDSendOnly, 5, 60, deth(qkey, 9)).at(5000).in(ud, roce.UDSendOnly, 5, 59, deth(qkey, 9)).header(100, 59).
				pattern(140, 59).ends(ud, 1, 0, abi.WCRecv, 99, fromUD).settles()
		}},
		{name: "fits long after one that did not", want: "no completion", run: func(s *script) {
			s.take(ud, 1, 100, 99).in(ud, roce.UDSendOnly, 5, 60, deth(qkey, 9)).at(5000).in(ud, roce.UDSendOnly, 5, 59, deth(qkey, 9)).settles()
		}},
	}
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			s := newUnreliable()
			r.run(s)
			errs := s.Errors()
			if r.want == "" {
				require.Empty(t, errs)
				return
			}
			require.NotEmpty(t, errs)
			require.ErrorContains(t, errs[0], r.want)
		})
	}
}
