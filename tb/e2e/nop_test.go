package e2e_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/e2e"
)

// nops is a host that posts no-op WQEs on many QPs, in an order drawn by seed,
// and takes their completions from shared queues.
type nops struct {
	d    *e2e.Side
	rng  *rand.Rand
	qps  []*driver.QP
	cqs  []*driver.CQ
	next map[uint32]uint64   // by QPN: ID to post next
	due  map[uint32][]uint64 // by QPN: signalled and not yet completed
	left int                 // that many are due
	err  error
}

// connect makes the QPs and has them send to a peer that does not exist: a no-op
// never leaves the host.
func (n *nops) connect(t *testing.T, count, cqs int) {
	for range cqs {
		n.cqs = append(n.cqs, n.d.CQ(count/cqs*16))
	}
	for i := range count {
		cq := n.cqs[i%cqs]
		n.qps = append(n.qps, n.d.QP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 16, MaxRecv: 1}).QP)
	}
	n.d.Do(func() {
		for _, q := range n.qps {
			nowhere := driver.Endpoint{QPN: 0x1234, GID: roce.GIDFromIPv4(roce.HostIPv4(2)), MAC: roce.HostMAC(2)}
			if n.err = q.Connect(nowhere, driver.ConnectOptions{}); n.err != nil {
				return
			}
		}
	})
	require.NoError(t, n.err)
}

// post gives a random QP a random number of no-ops; the last one always asks for
// a completion.
func (n *nops) post() {
	q := n.qps[n.rng.IntN(len(n.qps))]
	k := min(1+n.rng.IntN(5), 16-len(n.due[q.Number()]))
	var wrs []driver.SendWR
	for i := range k {
		wr := driver.SendWR{ID: n.next[q.Number()], Op: abi.OpNop, Signaled: i == k-1 || n.rng.IntN(2) == 0}
		n.next[q.Number()]++
		wrs = append(wrs, wr)
	}
	done, err := q.PostSend(wrs...)
	for _, wr := range wrs[:done] {
		if wr.Signaled {
			n.due[q.Number()] = append(n.due[q.Number()], wr.ID)
			n.left++
		}
	}
	if err != nil { // no room, which is no fault: the rest is not posted
		n.next[q.Number()] -= uint64(len(wrs) - done)
	}
}

// reap takes completions of a CQ, sleeping until its interrupt if it has none.
func (n *nops) reap(t *testing.T, cq *driver.CQ) {
	var wcs [32]driver.WC
	k, err := cq.Wait(wcs[:], n.d.Bus.Now()+20_000_000)
	if err != nil && n.err == nil {
		n.err = err
	}
	for _, wc := range wcs[:k] {
		due := n.due[wc.QPN]
		if len(due) == 0 || due[0] != wc.ID || wc.Status != abi.StatusSuccess || wc.Opcode != abi.WCNop {
			t.Errorf("QP %d: completion %+v, due are %v", wc.QPN, wc, due)
			continue
		}
		n.due[wc.QPN] = due[1:]
		n.left--
	}
}

// TestNops (B243): no-op WQEs posted on 256 QPs come back as CQEs, in order on each QP;
// the queues sleep on interrupts. Fast and strict runs are the same to the bit.
func TestNops(t *testing.T) {
	run := func(t *testing.T, c tb.Config, total int) uint64 {
		c.Digest = true
		s := e2e.New(t, e2e.Options{Bench: c})
		n := &nops{
			d: s.A, rng: rand.New(rand.NewPCG(c.Seed, 1)),
			next: map[uint32]uint64{}, due: map[uint32][]uint64{},
		}
		n.connect(t, 256, 8)
		before := n.d.Counters()
		n.d.Do(func() {
			for posted := 0; posted < total; posted++ {
				n.post()
				if n.rng.IntN(3) == 0 {
					n.reap(t, n.cqs[n.rng.IntN(len(n.cqs))])
				}
			}
			for i := 0; n.left > 0 && n.err == nil && !t.Failed() && i < 1000; i++ {
				n.reap(t, n.cqs[i%len(n.cqs)])
			}
		})
		require.NoError(t, n.err)
		require.Zero(t, n.left, "completions missing")
		after := n.d.Counters()
		require.Greater(t, after[abi.MSIXSent], before[abi.MSIXSent]+10)
		require.Zero(t, len(n.d.Requests(0)), "a no-op on the wire")
		digest := s.Digest()
		s.Close()
		return digest
	}
	for seed := range uint64(2) {
		fast := run(t, tb.Config{Seed: seed}, 1500)
		strict := run(t, tb.Config{Seed: seed, Strict: true, Order: seed + 9}, 1500)
		require.Equal(t, fast, strict, "seed %d", seed)
	}
}
