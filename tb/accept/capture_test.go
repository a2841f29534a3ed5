package accept_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/accept"
)

// captured is a frame of a capture; a cycle is a nanosecond.
type captured struct {
	at   uint64
	data []byte
	roce.Packet
}

func capture(t *testing.T, name string) (list []captured) {
	f, err := os.Open(filepath.Join("../../testdata/pcaps", name+".pcap"))
	require.NoError(t, err)
	defer f.Close()
	r, err := pcapgo.NewReader(f)
	require.NoError(t, err)
	for {
		b, ci, err := r.ReadPacketData()
		if err != nil {
			return list
		}
		p, err := roce.ParseFrame(b)
		if err == nil && p.BTH.Opcode.Transport() == roce.RC && p.BTH.Opcode.Valid() {
			list = append(list, captured{uint64(ci.Timestamp.UnixNano()), b, p})
		}
	}
}

// endpoint is an end of a connection in a capture: packets to it have its QPN.
type endpoint struct {
	mac roce.MAC
	qpn uint32
}

// play is a capture between two acceptors, one for each host.
type play struct {
	frames []captured
	hosts  map[roce.MAC]*accept.Acceptor
	peers  map[endpoint]uint32
	timer  uint8
	retry  uint8
}

const everything = abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

// open makes the hosts and connects what talks. Where only one direction is seen the
// QPs of both ends have the same number, as these captures have it.
func open(frames []captured, timer, retry uint8) *play {
	p := &play{frames: frames, hosts: map[roce.MAC]*accept.Acceptor{}, peers: map[endpoint]uint32{}, timer: timer, retry: retry}
	for i := range frames {
		f := &frames[i]
		for _, m := range []roce.MAC{f.Eth.Src, f.Eth.Dst} {
			if p.hosts[m] == nil {
				a := accept.New(accept.Params{Name: m.String(), TimeUnit: 4096, Inside: 50_000_000, Posted: 1, Early: 5_000_000, NoPad: true, Soft: true})
				a.Register(0, 1, accept.Region{Len: 1 << 40, Access: everything})
				p.hosts[m] = a
			}
		}
	}
	for i := range frames {
		f := &frames[i]
		if !f.BTH.Opcode.IsRequest() {
			continue
		}
		to := endpoint{f.Eth.Dst, uint32(f.BTH.DestQP)}
		if _, ok := p.peers[to]; ok {
			continue
		}
		from := endpoint{f.Eth.Src, p.answered(f)}
		p.peers[to], p.peers[from] = from.qpn, to.qpn
		p.connect(from, to)
		p.connect(to, from)
	}
	return p
}

// answered is the QP that the answer to a request goes to.
func (p *play) answered(f *captured) uint32 {
	for i := range p.frames {
		g := &p.frames[i]
		if g.at > f.at && g.BTH.Opcode.IsResponse() && g.Eth.Dst == f.Eth.Src && g.BTH.PSN == f.BTH.PSN {
			return uint32(g.BTH.DestQP)
		}
	}
	return uint32(f.BTH.DestQP)
}

// requests are those from one end to the other.
func (p *play) requests(to endpoint) (l []*captured) {
	for i := range p.frames {
		f := &p.frames[i]
		if f.BTH.Opcode.IsRequest() && f.Eth.Dst == to.mac && uint32(f.BTH.DestQP) == to.qpn {
			l = append(l, f)
		}
	}
	return l
}

func (p *play) connect(me, peer endpoint) {
	out, in := p.requests(peer), p.requests(me)
	c := accept.Connection{
		PeerQPN: peer.qpn, MTU: 4096, Timeout: p.timer, RetryCnt: p.retry, RNRRetry: p.retry,
		RdAtomic: 128, DestRdAtomic: 128, Access: everything,
	}
	for _, l := range [][]*captured{out, in} {
		for _, f := range l {
			if op := f.BTH.Opcode; op.IsFirst() || op.IsMiddle() {
				c.MTU = len(f.Payload)
			}
		}
	}
	for i := range p.frames {
		f := &p.frames[i]
		if op := f.BTH.Opcode; op == roce.RCReadRespFirst {
			c.MTU = len(f.Payload)
		}
		if f.BTH.Opcode == roce.RCAck && f.Eth.Src == me.mac && f.AETH.Syndrome.Kind() == roce.KindRNR {
			c.MinRNRTimer = f.AETH.Syndrome.Value()
		}
	}
	if len(out) > 0 {
		c.SendPSN = out[0].BTH.PSN
	}
	if len(in) > 0 {
		c.RecvPSN = in[0].BTH.PSN
	}
	a := p.hosts[me.mac]
	a.Create(0, me.qpn, 0, false)
	a.Connect(0, me.qpn, c)
	a.Connected(0, me.qpn)
	for _, f := range in {
		if p.refused(f) {
			continue
		}
		key := abi.Key(f.RETH.RKey)
		if f.BTH.Opcode.IsAtomic() {
			key = abi.Key(f.AtomicETH.RKey)
		}
		a.Register(0, key, accept.Region{Len: 1<<64 - 1, Access: everything})
	}
	for _, w := range work(out) {
		a.PostSend(1, me.qpn, w)
	}
}

// refused tells whether a request was answered by a NAK.
func (p *play) refused(f *captured) bool {
	for i := range p.frames {
		g := &p.frames[i]
		if g.BTH.Opcode == roce.RCAck && g.Eth.Dst == f.Eth.Src && g.BTH.PSN == f.BTH.PSN && g.AETH.Syndrome.Kind() == roce.KindNAK && g.AETH.Syndrome.Value() == 2 {
			return true
		}
	}
	return false
}

// work are the work requests that lead to packets: of a PSN the first counts.
func work(l []*captured) (wrs []accept.SendWR) {
	next, begun := roce.PSN(0), false
	var w accept.SendWR
	for _, f := range l {
		op := f.BTH.Opcode
		if begun && f.BTH.PSN != next {
			continue
		}
		begun, next = true, f.BTH.PSN.Add(1)
		if op.Starts() {
			w = accept.SendWR{ID: uint64(len(wrs)), Signaled: true, Data: []byte{}}
		}
		if op.HasRETH() {
			w.RemoteAddr, w.RKey = f.RETH.VA, abi.Key(f.RETH.RKey)
		}
		w.Solicited = f.BTH.SE
		w.Data = append(w.Data, f.Payload...)
		switch {
		case op.IsReadRequest():
			w.Op, w.Len = abi.OpRead, int(f.RETH.Length)
			next = f.BTH.PSN.Add(uint32(max(1, (w.Len+1023)/1024)))
		case op.IsAtomic():
			w.Op, w.RemoteAddr, w.RKey = abi.OpCompareSwap, f.AtomicETH.VA, abi.Key(f.AtomicETH.RKey)
			if op == roce.RCFetchAdd {
				w.Op = abi.OpFetchAdd
			}
			w.SwapAdd, w.Compare = f.AtomicETH.SwapAdd, f.AtomicETH.Compare
		case op.IsWrite():
			w.Op = abi.OpWrite
			if op.HasImm() {
				w.Op, w.Imm = abi.OpWriteImm, f.Imm.Imm
			}
		case op.HasImm():
			w.Op, w.Imm = abi.OpSendImm, f.Imm.Imm
		case op.HasIETH():
			w.Op, w.Imm = abi.OpSendInv, f.IETH.RKey
		default:
			w.Op = abi.OpSend
		}
		if op.Ends() {
			wrs = append(wrs, w)
		}
	}
	return wrs
}

// run shows each frame to its sender, and but for those that are lost to its receiver,
// which posts a receive when the capture shows that it had one.
func (p *play) run(lost map[int]bool) {
	taken := map[endpoint]map[roce.PSN]bool{}
	for i := range p.frames {
		f := &p.frames[i]
		p.hosts[f.Eth.Src].Frame(f.at, true, false, f.data)
		if lost[i] {
			continue
		}
		to := endpoint{f.Eth.Dst, uint32(f.BTH.DestQP)}
		a := p.hosts[to.mac]
		if f.BTH.Opcode.TakesReceive() && !taken[to][f.BTH.PSN] && !p.unready(i) {
			if taken[to] == nil {
				taken[to] = map[roce.PSN]bool{}
			}
			taken[to][f.BTH.PSN] = true
			a.PostRecv(f.at-10, to.qpn, accept.RecvWR{ID: uint64(f.BTH.PSN), SGEs: []abi.SGE{{Length: 1 << 30, LKey: 1}}})
		}
		a.Frame(f.at, false, false, f.data)
	}
}

// unready tells whether the next answer to a request is an RNR NAK.
func (p *play) unready(i int) bool {
	f := &p.frames[i]
	for k := i + 1; k < len(p.frames); k++ {
		g := &p.frames[k]
		if g.BTH.Opcode == roce.RCAck && g.Eth.Src == f.Eth.Dst && !g.BTH.PSN.Before(f.BTH.PSN) {
			return g.AETH.Syndrome.Kind() == roce.KindRNR
		}
	}
	return true
}

func (p *play) errors() (l []error) {
	for _, a := range p.hosts {
		l = append(l, a.Errors()...)
	}
	return l
}

// TestLinux: what two Linux hosts said to each other is legal. Lost are the frames
// that did not arrive (testdata/pcaps/README.md).
func TestLinux(t *testing.T) {
	for _, c := range []struct {
		name         string
		timer, retry uint8
		lost         []int
	}{
		{"rc_pingpong_s1_mtu1024", 14, 7, nil}, {"rc_pingpong_s1_mtu4096", 14, 7, nil}, {"rc_pingpong_s1027_mtu256", 14, 7, nil},
		{"rc_pingpong_s4096_mtu1024", 14, 7, nil}, {"rc_pingpong_s4096_mtu4096", 14, 7, nil}, {"rc_pingpong_s64_mtu4096", 14, 7, nil},
		{"rc_pingpong_s10001_mtu1024", 14, 7, nil}, {"rc_pingpong_ipv6_s3001_mtu1024", 14, 7, nil},
		{"ib_send_bw_rc_mtu1024", 14, 7, nil}, {"ib_send_bw_rc_mtu4096", 14, 7, nil},
		{"ib_write_bw_rc_mtu1024", 14, 7, nil}, {"ib_write_bw_rc_mtu4096", 14, 7, nil},
		{"ib_write_lat_rc_mtu1024", 14, 7, nil}, {"ib_write_lat_rc_mtu4096", 14, 7, nil},
		{"ib_read_bw_rc_mtu1024", 14, 7, nil}, {"ib_atomic_bw_faa_mtu1024", 14, 7, nil}, {"ib_atomic_bw_faa_mtu4096", 14, 7, nil},
		{"ib_atomic_bw_cas_mtu1024", 14, 7, nil}, {"v_rc_all_ops", 14, 7, nil}, {"v_rc_psn_wrap", 14, 7, nil},
		{"v_rc_rnr_nak", 14, 7, nil}, {"v_rc_rnr_exhausted", 14, 1, nil}, {"v_rc_nak_remote_access", 14, 7, nil},
		{"v_rc_loss_seq_nak", 14, 7, []int{1}}, {"v_rc_loss_last_timeout", 14, 7, []int{0}},
		{"v_rc_loss_atomic_ack", 14, 7, []int{1}}, {"v_rc_retry_exhausted", 12, 2, []int{0, 1, 2}},
		{"v_rc_bad_icrc", 14, 7, []int{0}}, {"v_rc_tc_ttl_ecn", 14, 7, nil}, {"srq_pingpong_q4_mtu1024", 14, 7, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(capture(t, c.name), c.timer, c.retry)
			lost := map[int]bool{}
			for _, i := range c.lost {
				lost[i] = true
			}
			p.run(lost)
			require.Empty(t, p.errors())
		})
	}
}
