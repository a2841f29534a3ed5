package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	ackgen "rnic/rtl/ack_gen"
	pkttx "rnic/rtl/pkt_tx"
	"rnic/rtl/responder"
	rqfetch "rnic/rtl/rq_fetch"
	"rnic/rtl/scatter"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// rounds of everything, with so many keys of each kind that end.
const crowdRounds, crowdKeys = 4, 6

// crowd is four connections: for READs and atomics, WRITEs, memory operations, and SENDs
// with invalidate. Side 0 is A, side 1 B.
type crowd struct {
	*e2e.Scene
	t     *testing.T
	sides [2]*e2e.Side
	ends  [2][4]*e2e.End
	far   [2]*driver.MR            // stays
	dies  [2][crowdKeys]*driver.MR // by the peer's SEND
}

// TestFencesInACrowd: both hosts end keys in all ways at once while READs, WRITEs and
// atomics of all sizes keep both pipelines full, with the least buffers that the blocks may
// have: every work request is done, so nobody waits for ever.
func TestFencesInACrowd(t *testing.T) {
	for i, h := range []host.Params{{}, {LinkBytes: 16}, {Read: host.Uniform(500_000, 1_500_000), Shuffle: true, Split: host.SplitRandom}} {
		for _, least := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d, least %v", i, least), func(t *testing.T) {
				t.Parallel()
				o := quick
				o.Bench.Host = h
				if n := &o.Bench.NIC; least {
					n.Scatter = scatter.Params{Jobs: 2, Pieces: 2, Runs: 2, InFlight: 2, Asides: 2}
					n.Tx = pkttx.Params{PayloadBeats: 66, Packets: 2, Asked: 2}
					n.AckGen, n.RQFetch, n.Responder = ackgen.Params{Ops: 2}, rqfetch.Params{Lines: 2, Gets: 2}, responder.Params{Jobs: 16, Budget: 2}
				}
				x := newCrowd(t, o)
				for round := range crowdRounds {
					x.round(round)
				}
			})
		}
	}
}

func newCrowd(t *testing.T, o e2e.Options) *crowd {
	s := e2e.New(t, o)
	x := &crowd{Scene: s, t: t, sides: [2]*e2e.Side{s.A, s.B}}
	c := driver.QPConfig{MaxSend: 64, MaxRecv: 64, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64}
	for i := range x.ends[0] {
		p := s.Join(s.A.QP(c), s.B.QP(c), driver.ConnectOptions{MTU: abi.MTU1024, Timeout: 16, MaxRdAtomic: 16, MaxDestRdAtomic: 16})
		x.ends[0][i], x.ends[1][i] = p.A, p.B
	}
	for i, d := range x.sides {
		x.far[i] = region(t, d, d.PD, farAt, most, all|abi.AccessMWBind)
	}
	return x
}

// round has both sides do everything at once, and waits until all is done.
func (x *crowd) round(round int) {
	for i, d := range x.sides {
		for k := range crowdKeys {
			x.dies[i][k] = region(x.t, d, d.PD, farAt, most, all)
		}
	}
	var errs [2]error
	var scripts [2]func()
	for me := range x.sides {
		wrs := x.work(me, round)
		scripts[me] = func() { errs[me] = x.script(me, wrs) }
	}
	x.Both(scripts[0], scripts[1])
	for me, d := range x.sides {
		require.NoError(x.t, errs[me])
		for i, e := range x.ends[me] {
			n := crowdKeys
			if i == 0 || i == 2 {
				n = 2 * crowdKeys
			}
			for _, wc := range e.Await(e.SCQ, n) {
				require.Equal(x.t, abi.StatusSuccess, wc.Status, "connection %d: %+v", i, wc)
			}
		}
		sends := x.ends[me][3]
		for _, wc := range sends.Await(sends.RCQ, crowdKeys) {
			require.Equal(x.t, abi.CQEWithInv, wc.Flags)
		}
		for _, m := range x.dies[me] {
			d.Must(m.Dereg)
		}
	}
}

// script posts everything, and registers and deregisters a region meanwhile.
func (x *crowd) script(me int, wrs [4][]driver.SendWR) error {
	d := x.sides[me]
	for i, e := range x.ends[me] {
		if _, err := e.QP.PostSend(wrs[i]...); err != nil {
			return err
		}
	}
	m, err := d.PD.RegMRRange(d.Buf, farAt, 4096, all)
	if err != nil {
		return err
	}
	return m.Dereg()
}

// work is what a side posts, by connection, but for its receives, which it posts now.
func (x *crowd) work(me, round int) (wrs [4][]driver.SendWR) {
	d, to, sends := x.sides[me], x.far[1-me], x.ends[me][3]
	var w *driver.MW
	d.Must(func() (err error) {
		w, err = d.PD.AllocMW(abi.KeyWindow2)
		return err
	})
	for k := range crowdKeys {
		id, size := uint64(k), []int{8, 3000, 64, 16 << 10, 1024, 1}[(k+round)%6]
		read := driver.SendWR{ID: id, Op: abi.OpRead, Signaled: true, SGEs: []driver.SGE{d.MR.SGE(200_000, size)}, RemoteAddr: to.Addr, RKey: to.RKey}
		add, write := read, read
		add.Op, add.SwapAdd, add.SGEs = abi.OpFetchAdd, 1, []driver.SGE{d.MR.SGE(300_000+8*k, 8)}
		add.RemoteAddr += 8 * uint64(k%2)
		write.Op, write.SGEs = abi.OpWrite, []driver.SGE{d.MR.SGE(400_000, size)}
		write.RemoteAddr += 32 << 10
		bind := driver.Bind{MW: w, RKey: abi.MakeKey(w.RKey.Index(), uint8(k)), MR: x.far[me], Addr: x.far[me].Addr, Length: most, Access: remoteAll}
		wrs[0] = append(wrs[0], read, add)
		wrs[1] = append(wrs[1], write)
		wrs[2] = append(wrs[2], driver.SendWR{ID: 2 * id, Op: abi.OpBindMW, Signaled: true, Bind: &bind},
			driver.SendWR{ID: 2*id + 1, Op: abi.OpLocalInv, Signaled: true, Imm: uint32(bind.RKey)})
		wrs[3] = append(wrs[3], driver.SendWR{ID: id, Op: abi.OpSendInv, Signaled: true, Imm: uint32(x.dies[1-me][k].RKey), SGEs: write.SGEs})
		sends.Recv(sends.RecvWR(id, 500_000, 16<<10))
	}
	return wrs
}
