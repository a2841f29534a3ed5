package e2e_test

import (
	"encoding/binary"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

var adds = flag.Int("adds", 1000, "times that each QP of TestAdders adds to its word")

// adder is a host with two QPs that add to one word of the peer.
type adder struct {
	side *e2e.Side
	ends [2]*e2e.End
	cq   *driver.CQ
	word *driver.MR     // that the peer adds to
	seen map[uint64]int // old value: times
	last [2]uint64      // old value that each QP has got last, plus 1
	err  error
}

// adderDepth is the adds that a QP has posted.
const adderDepth = 16

// run has both QPs add n times, 1 each.
func (a *adder) run(n int, remote *driver.MR) {
	var posted, done [2]int
	post := func(q int) {
		for posted[q] < n && posted[q]-done[q] < adderDepth && a.err == nil {
			at := 8 * (q*adderDepth + posted[q]%adderDepth)
			_, a.err = a.ends[q].QP.PostSend(driver.SendWR{
				ID: uint64(q)<<32 | uint64(posted[q]), Op: abi.OpFetchAdd, Signaled: true, SwapAdd: 1,
				SGEs: []driver.SGE{a.side.MR.SGE(at, 8)}, RemoteAddr: remote.Addr, RKey: remote.RKey,
			})
			posted[q]++
		}
	}
	post(0)
	post(1)
	var wcs [8]driver.WC
	for done[0]+done[1] < 2*n && a.err == nil {
		var k int
		if k, a.err = a.cq.Wait(wcs[:], a.side.Bus.Now()+1_000_000_000); k == 0 {
			break
		}
		for _, wc := range wcs[:k] {
			q, i := int(wc.ID>>32), int(uint32(wc.ID))
			if a.err == nil {
				a.err = wc.Err()
			}
			var b [8]byte
			_, _ = a.side.Buf.ReadAt(b[:], int64(8*(q*adderDepth+i%adderDepth)))
			old := binary.LittleEndian.Uint64(b[:])
			a.seen[old]++
			if old >= a.last[q] {
				a.last[q] = old + 1
			} else {
				a.seen[^uint64(0)]++ // back in time
			}
			done[q]++
			post(q)
		}
	}
}

// TestAdders: two QPs each way add to one word, all at once. Nothing is lost: each
// old value comes once, later ones to a QP later.
func TestAdders(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	var hosts [2]*adder
	for i, d := range []*e2e.Side{s.A, s.B} {
		a := &adder{side: d, cq: d.CQ(4 * adderDepth), seen: map[uint64]int{}}
		for q := range a.ends {
			a.ends[q] = d.QP(driver.QPConfig{MaxSend: adderDepth, MaxRecv: 1, MaxSendSGE: 1, MaxRecvSGE: 1, SendCQ: a.cq})
		}
		a.word = region(t, d, d.PD, farAt, 8, abi.AccessLocalWrite|abi.AccessRemoteAtomic)
		hosts[i] = a
	}
	for q := range hosts[0].ends {
		s.Join(hosts[0].ends[q], hosts[1].ends[q], driver.ConnectOptions{})
	}
	n := *adds
	s.Both(func() { hosts[0].run(n, hosts[1].word) }, func() { hosts[1].run(n, hosts[0].word) })
	for _, a := range hosts {
		require.NoError(t, a.err)
		require.Equal(t, 2*n, len(a.seen))
		for v := range uint64(2 * n) {
			require.Equal(t, 1, a.seen[v], "%d", v)
		}
		require.EqualValues(t, 2*n, binary.LittleEndian.Uint64(a.side.Read(farAt, 8)))
	}
}
