package accept_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/accept"
)

// Of the scripts: QP 5 of host 1 is connected to QP 9 of host 2, at an MTU of 512. It
// sends from PSN 0xfffffe on, and expects 7. The ACK timer is 2,048 cycles, an RNR
// wait of code 1 takes 2,500.
const (
	qpn, peer = 5, 9
	mtu       = 512
	ackTimer  = 2048
	rnrWait   = 2500
	inside    = 500
	base      = 0x10000 // of the region
	key       = 0x100   // of it, both ways
)

// script is a NIC as a test writes it: what it is told, what it gets and what it does.
type script struct {
	*accept.Acceptor
	now uint64
	mem []byte // of the region
}

func newScript(change ...func(*accept.Connection)) *script {
	s := &script{
		Acceptor: accept.New(accept.Params{Name: "nic", TimeUnit: 1024, Inside: inside, Posted: 100, Early: 10}),
		mem:      make([]byte, 1<<16), now: 1000,
	}
	for i := range s.mem {
		s.mem[i] = byte(i*7 + i>>8)
	}
	c := accept.Connection{
		PeerQPN: peer, MTU: mtu, SendPSN: 0xfffffe, RecvPSN: 7, Timeout: 1, RetryCnt: 2, RNRRetry: 1, MinRNRTimer: 1,
		RdAtomic: 2, DestRdAtomic: 2, Access: everything,
	}
	for _, f := range change {
		f(&c)
	}
	s.Register(s.now, key, accept.Region{
		Addr: base, Len: uint64(len(s.mem)), Access: everything,
		Read: func(off, n int) []byte { return append([]byte(nil), s.mem[off:off+n]...) },
	})
	s.Create(s.now, qpn, 0, false)
	s.Connect(s.now, qpn, c)
	s.Connected(s.now, qpn)
	return s
}

// at lets time pass.
func (s *script) at(cycles uint64) *script {
	s.now += cycles
	return s
}

// sge is n bytes at off.
func sge(off, n int) []abi.SGE {
	return []abi.SGE{{Addr: base + uint64(off), Length: uint32(n), LKey: key}}
}

// post posts a work request of n bytes at offset 0; READs and atomics of offset 4096.
func (s *script) post(id uint64, op abi.WQEOp, n int, change ...func(*accept.SendWR)) *script {
	w := accept.SendWR{ID: id, Op: op, Signaled: true, RKey: 0x77, RemoteAddr: 0x5000, SGEs: sge(0, n), Imm: 0x1234}
	switch op {
	case abi.OpRead, abi.OpFetchAdd, abi.OpCompareSwap:
		w.Len, w.SGEs, w.SwapAdd = n, sge(4096, n), 3
		w.Result = func() []byte { return s.mem[4096:][:n] }
	default:
		w.Data = append([]byte{}, s.mem[:n]...)
	}
	for _, f := range change {
		f(&w)
	}
	s.PostSend(s.now, qpn, w)
	return s
}

// recv posts a receive of n bytes at an offset.
func (s *script) recv(id uint64, off, n int) *script {
	s.PostRecv(s.now, qpn, accept.RecvWR{ID: id, SGEs: sge(off, n), Read: func(n int) []byte { return s.mem[off:][:n] }})
	return s
}

// packet is one between the hosts, for QP dest.
func packet(from, to uint8, dest roce.QPN, op roce.Opcode, psn roce.PSN, n int, change []func(*roce.Packet)) []byte {
	p := roce.Packet{
		Eth: roce.Ethernet{Dst: roce.HostMAC(to), Src: roce.HostMAC(from)},
		IP4: roce.IPv4{DF: true, TTL: 64, Src: roce.HostIPv4(from), Dst: roce.HostIPv4(to)},
		UDP: roce.UDP{SrcPort: 0xc000},
		BTH: roce.BTH{Opcode: op, PKey: roce.DefaultPKey, DestQP: dest, PSN: psn, MigReq: true, AckReq: op.IsRequest() && op.Ends()},
	}
	if op.HasAETH() {
		p.AETH.Syndrome = roce.ACKSyndrome(31)
	}
	if op.HasImm() {
		p.Imm.Imm = 0x1234
	}
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	p.SetPayload(b)
	for _, f := range change {
		f(&p)
	}
	if k := roce.MinFrame - p.Size(); k > 0 {
		p.Trailer = make([]byte, k)
	}
	return p.Append(nil)
}

// sends and gets are a packet that leaves, or arrives, 10 cycles later.
func (s *script) sends(op roce.Opcode, psn roce.PSN, n int, change ...func(*roce.Packet)) *script {
	s.at(10).Frame(s.now, true, false, packet(1, 2, peer, op, psn, n, change))
	return s
}

func (s *script) gets(op roce.Opcode, psn roce.PSN, n int, change ...func(*roce.Packet)) *script {
	s.at(10).Frame(s.now, false, false, packet(2, 1, qpn, op, psn, n, change))
	return s
}

// completes is a completion.
func (s *script) completes(id uint64, st abi.WCStatus, op abi.WCOpcode, n uint32, change ...func(*accept.Completion)) *script {
	c := accept.Completion{QPN: qpn, ID: id, Status: st, Opcode: op, ByteLen: n, SrcQPN: peer}
	for _, f := range change {
		f(&c)
	}
	s.at(10).Complete(s.now, c)
	return s
}

// settles is the end.
func (s *script) settles() *script {
	s.at(10).Settle(s.now)
	return s
}

// aeth sets what an answer says.
func aeth(syn roce.Syndrome, msn roce.MSN) func(*roce.Packet) {
	return func(p *roce.Packet) { p.AETH = roce.AETH{Syndrome: syn, MSN: msn} }
}

// ok is an ACK without credits.
func ok(msn roce.MSN) func(*roce.Packet) { return aeth(roce.ACKSyndrome(31), msn) }

func nak(c roce.NAKCode, msn roce.MSN) func(*roce.Packet) { return aeth(roce.NAKSyndrome(c), msn) }

func rnr(msn roce.MSN) func(*roce.Packet) { return aeth(roce.RNRSyndrome(1), msn) }

// reth sets where a request goes.
func reth(va uint64, k, n uint32) func(*roce.Packet) {
	return func(p *roce.Packet) { p.RETH = roce.RETH{VA: va, RKey: k, Length: n} }
}

// data is payload from an offset of the pattern.
func data(off, n int) func(*roce.Packet) {
	return func(p *roce.Packet) {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte((i+off)*7 + (i+off)>>8)
		}
		p.SetPayload(b)
	}
}

// rule is a script and what is wrong with it; "": nothing.
type rule struct {
	name string
	want string
	run  func(s *script)
	with func(*accept.Connection)
}

func demand(t *testing.T, rules []rule) {
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			s := newScript()
			if r.with != nil {
				s = newScript(r.with)
			}
			r.run(s)
			errs := s.Errors()
			if r.want == "" {
				require.Empty(t, errs)
				return
			}
			require.NotEmpty(t, errs)
			require.ErrorContains(t, errs[0], r.want)
			require.Regexp(t, `^nic, cycle \d+: (QP 0x5 PSN [0-9a-f]{6}: )?.*\(.+\)$`, errs[0].Error())
		})
	}
}
