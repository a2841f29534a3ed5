package e2e_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/agent"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// TestChaos: two pairs send both ways. The QPs of one meet with everything at once,
// drawn by seed: packets lost, doubled and spoiled, keys that are none, RESET, ERR and
// destruction at any moment, on hosts whose memory answers late and out of order.
// What completes is in order and true, nothing is left behind, and the other pair
// does not notice.
func TestChaos(t *testing.T) {
	for seed := range uint64(16) {
		newChaos(t, seed).run()
	}
}

// run is a run, from the first post on.
func (c *chaos) run() {
	for i, d := range []*e2e.Side{c.s.A, c.s.B} {
		c.spoil(d, uint64(i), c.victim[i].QP.Number())
	}
	c.s.Both(c.script(0), c.script(1))
	require.Equal(c.t, [2]error{}, c.errs, c.name)
	for i, e := range c.other {
		taken := len(c.takers(1, 1-i))
		e.Sent(e2e.OK(c.ids(0)...)...)
		e.Received(e2e.OK(c.ids(10)[:taken]...)...)
		c.arrived(i, 1, taken)
	}
	for i := range c.other {
		c.moved(i)
	}
	c.s.Sleep(40_000)
	for i := range c.victim {
		c.judge(i)
	}
	c.s.Close()
}

const (
	chaosMessages = 8
	chaosRoom     = 5000 // of a receive
	victimAt      = 100_000
	otherAt       = 300_000
)

// chaosAt are the offsets of what the victims and the others use.
var chaosAt = [2]int{victimAt, otherAt}

// fate is what the host does to its QP of the unlucky pair.
type fate int

const (
	reset fate = iota
	fail
	destroy
	failAndReset
	spared
	fates = iota
)

// chaos is one run.
type chaos struct {
	t             *testing.T
	name          string
	seed          uint64
	rng           *rand.Rand
	s             *e2e.Scene
	victim, other [2]*e2e.End // of host a and b
	size          int         // of a message
	bad           [2]int      // message without a good key, if there is such a one
	fate          [2]fate
	when          [2]int64
	errs          [2]error
	ops           [2][2][chaosMessages]abi.WQEOp // of the victims and of the others, by host
	mr            [2]*driver.MR                  // all of the buffers, with all rights
}

func newChaos(t *testing.T, seed uint64) *chaos {
	c := &chaos{t: t, name: fmt.Sprintf("seed %d", seed), seed: seed, rng: rand.New(rand.NewPCG(seed, 77))}
	b := tb.Config{Seed: seed, Strict: c.rng.IntN(4) == 0, Order: seed}
	b.Host = host.Params{
		Shuffle: true, Split: host.Split(c.rng.IntN(3)),
		Read: host.Uniform(100_000, 900_000), Write: host.Uniform(100_000, 500_000),
	}
	if c.rng.IntN(2) == 0 {
		b.Host.Up = agent.Throttle{Seed: seed + 1}
	}
	c.s = e2e.New(t, e2e.Options{Bench: b, Driver: driver.Config{TimeUnit: 8, NoPush: c.rng.IntN(2) == 0}})
	o := driver.ConnectOptions{MTU: abi.MTU(1 + c.rng.IntN(5)), Timeout: 9}
	for _, ends := range []*[2]*e2e.End{&c.victim, &c.other} {
		p := c.s.Join(c.s.A.QP(driver.QPConfig{}), c.s.B.QP(driver.QPConfig{}), o)
		*ends = [2]*e2e.End{p.A, p.B}
	}
	c.size = 1 + c.rng.IntN(chaosRoom)
	for i := range 2 {
		c.victim[i].Fill(0, chaosMessages*c.size, 1)
		c.victim[i].Recv(c.victim[i].Recvs(victimAt, chaosRoom, c.ids(10)...)...)
		c.other[i].Recv(c.other[i].Recvs(otherAt, chaosRoom, c.ids(10)...)...)
		c.bad[i] = c.rng.IntN(3 * chaosMessages)
		c.fate[i], c.when[i] = fate(c.rng.IntN(fates)), c.rng.Int64N(9_000_000)
	}
	return c
}

// ids are those of all work requests of a queue.
func (c *chaos) ids(first uint64) (ids []uint64) {
	for i := range uint64(chaosMessages) {
		ids = append(ids, first+i)
	}
	return ids
}

// spoil has some frames on the way to a QP go wrong.
func (c *chaos) spoil(d *e2e.Side, i uint64, qpn uint32) {
	rng := rand.New(rand.NewPCG(c.seed, i)) // the hosts run in parallel
	flip := func(f tb.Frame) tb.Verdict {
		x := append([]byte(nil), f.Data...)
		x[rng.IntN(len(x))] ^= 1 << rng.IntN(8)
		return tb.Verdict{Data: x}
	}
	var strikes []*tb.Strike
	for range rng.IntN(3) {
		do := mishaps[rng.IntN(3)].make()
		if rng.IntN(3) == 0 {
			do = flip
		}
		match := func(p *roce.Packet) bool { return uint32(p.BTH.DestQP) == qpn }
		strikes = append(strikes, &tb.Strike{Match: match, Skip: rng.IntN(60), Do: do})
	}
	d.SetFault(tb.Strikes(strikes...))
}

// sends are the messages of host i to its peer, of the victims (0) or the others (1).
// Those of the victim ask for one completion, at their end.
func (c *chaos) sends(i, pair int) (wrs []driver.SendWR) {
	e := c.ends(pair)[i]
	for m := range chaosMessages {
		wr := e.SendWR(uint64(m), m*c.size, c.size)
		c.remote(&wr, i, pair, m)
		if pair == 0 {
			wr.Signaled = m == chaosMessages-1
			if m == c.bad[i] {
				wr.SGEs[0].LKey = 0
			}
		}
		wrs = append(wrs, wr)
	}
	return wrs
}

// ends are those of the victims or of the others.
func (c *chaos) ends(pair int) *[2]*e2e.End {
	if pair == 0 {
		return &c.victim
	}
	return &c.other
}

// script is what host i does.
func (c *chaos) script(i int) func() {
	v, o := c.victim[i], c.other[i]
	mine, others := c.sends(i, 0), c.sends(i, 1)
	to := func(s abi.QPState) error { return v.QP.Modify(driver.QPAttr{State: s}, abi.AttrState) }
	return func() {
		if _, c.errs[i] = v.QP.PostSend(mine...); c.errs[i] != nil {
			return
		}
		if _, c.errs[i] = o.QP.PostSend(others...); c.errs[i] != nil {
			return
		}
		v.Bus.Spend(c.when[i])
		switch c.fate[i] {
		case reset:
			c.errs[i] = to(abi.QPReset)
		case fail:
			c.errs[i] = to(abi.QPErr)
		case destroy:
			c.errs[i] = v.QP.Destroy()
		case failAndReset:
			if c.errs[i] = to(abi.QPErr); c.errs[i] == nil {
				c.errs[i] = to(abi.QPReset)
			}
		}
	}
}

// judge looks at what host i's QP of the unlucky pair has completed.
func (c *chaos) judge(i int) {
	e := c.victim[i]
	sent, received := e.Poll(e.SCQ), e.Poll(e.RCQ)
	switch c.fate[i] {
	case reset, destroy, failAndReset:
		require.Zero(c.t, len(sent)+len(received), c.name)
		return
	case fail:
		require.Equal(c.t, chaosMessages, len(received), c.name)
	}
	c.ended(sent)
	c.arrived(i, 0, succeeded(c.t, received, 10))
}

// arrived demands that the first n receives of host i hold what they should.
func (c *chaos) arrived(i, pair, n int) {
	c.t.Helper()
	messages := c.takers(pair, 1-i)
	for k := range n {
		c.ends(pair)[i].Demand(chaosAt[pair]+chaosRoom*k, c.message(messages[k]))
	}
}

// ended demands that the last work request has completed; only it was signalled.
// With a failure before, that one and all behind it have.
func (c *chaos) ended(wcs []driver.WC) {
	n := len(wcs)
	require.NotZero(c.t, n, c.name)
	require.EqualValues(c.t, chaosMessages-1, wcs[n-1].ID, c.name)
	for i, w := range wcs[:n-1] {
		require.EqualValues(c.t, chaosMessages-n+i, w.ID, c.name)
		require.NotEqual(c.t, abi.StatusSuccess, w.Status, c.name)
		require.Equal(c.t, abi.StatusWRFlush, wcs[i+1].Status, c.name)
	}
}
