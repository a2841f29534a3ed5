package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb"
	"rnic/tb/e2e"
)

// TestResetAmongInvalidations (B247): RESET at any moment of a queue of binds and
// invalidations ends in bounded time; no window of the old life is left, and the next works.
func TestResetAmongInvalidations(t *testing.T) {
	g := newGlass(t, abi.QPTypeRC)
	w := g.window(abi.KeyWindow2)
	for delay := int64(0); delay < 40; delay++ {
		var wrs []driver.SendWR
		for range 4 {
			b := g.at(0, 4096, remoteAll)
			b.MW, b.RKey = w, w.RKey+1
			wrs = append(wrs, driver.SendWR{ID: 1, Op: abi.OpBindMW, Bind: &b}, driver.SendWR{ID: 2, Op: abi.OpLocalInv, Imm: uint32(b.RKey)})
			w.RKey = b.RKey
		}
		g.B.Send(wrs...)
		g.s.Sleep(1 + 13*delay)
		g.anew()
		g.s.B.Poll(g.B.SCQ)
		g.allowed(true, g.access(1, abi.OpWrite, g.mr.RKey, 0, 8))
	}
	g.s.B.Must(g.mr.Dereg)
}

// TestReplyOvertakesAnswer (B174): the peer's reply completes before the request does, whose
// acknowledgement is late; what is in one send queue stays in order.
func TestReplyOvertakesAnswer(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Pair()
	hold := &holdAnswers{}
	s.A.SetFault(func(f tb.Frame) tb.Verdict {
		if len(hold.frames) == 2 {
			return tb.Verdict{}
		}
		return hold.fault(f)
	})
	p.B.Recv(p.B.RecvWR(11, 0, 100), p.B.RecvWR(12, 0, 100))
	p.A.Recv(p.A.RecvWR(21, 4096, 100))
	p.A.Send(p.A.SendWR(1, 0, 100), p.A.SendWR(2, 0, 100))
	p.B.Received(e2e.OK(11, 12)...)
	p.B.Send(p.B.SendWR(3, 0, 50))
	p.A.Received(e2e.OK(21)...)
	p.A.DemandNone(p.A.SCQ)
	require.NotEmpty(t, hold.frames)
	s.A.SetFault(nil)
	s.A.Inject(hold.frames[len(hold.frames)-1])
	p.A.Sent(e2e.OK(1, 2)...)
	p.B.Sent(e2e.OK(3)...)
}
