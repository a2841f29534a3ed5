package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb"
	"rnic/tb/e2e"
)

// mishap is what happens to one frame of a run.
type mishap struct {
	name     string
	harmless bool // nothing may fail
	make     func() tb.Fault
}

var mishaps = []mishap{
	{"lost", false, func() tb.Fault { return tb.Lose }},
	{"spoiled", false, func() tb.Fault {
		return func(tb.Frame) tb.Verdict { return tb.Verdict{BadFCS: true} }
	}},
	{"doubled", true, func() tb.Fault {
		return func(f tb.Frame) tb.Verdict {
			return tb.Verdict{After: [][]byte{append([]byte(nil), f.Data...)}}
		}
	}},
	{"late", false, nil}, // arrives behind the next one
}

// strike has the n-th frame on the way to a host meet with a mishap.
func strike(m mishap, n int, fired *int) tb.Fault {
	var kept []byte
	seen := 0
	return func(f tb.Frame) tb.Verdict {
		defer func() { seen++ }()
		switch {
		case seen == n && m.make != nil:
			*fired++
			return m.make()(f)
		case seen == n:
			*fired++
			kept = append([]byte(nil), f.Data...)
			return tb.Verdict{Drop: true}
		case kept != nil:
			v := tb.Verdict{After: [][]byte{kept}}
			kept = nil
			return v
		}
		return tb.Verdict{}
	}
}

// TestEveryFrame (B023, B025, B056): each frame of a stream of messages, in either
// direction, is lost, spoiled, doubled or late, one a run. With retries all is done.
// Without, what completes is in order and true; one work request fails at most, and the
// rest is flushed.
func TestEveryFrame(t *testing.T) {
	const messages, size = 5, 700
	for _, m := range mishaps {
		for run := range 4 {
			dir, retries := run%2, uint8(run/2)
			for n := 0; ; n++ {
				s := e2e.New(t, quick)
				p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), driver.ConnectOptions{MTU: abi.MTU256, Timeout: 8, RetryCnt: retries})
				fired := 0
				to := []*e2e.Side{s.B, s.A}[dir]
				to.SetFault(strike(m, n, &fired))
				p.A.Fill(0, messages*size, 1)
				p.B.Recv(p.B.Recvs(0, 1000, 10, 11, 12, 13, 14)...)
				for i := range messages {
					wr := p.A.SendWR(uint64(i), i*size, size)
					if i == 3 {
						wr.Op, wr.Imm = abi.OpSendImm, 7
					}
					p.A.Send(wr)
				}
				sent := p.A.Await(p.A.SCQ, messages)
				s.Sleep(2000)
				received := p.B.Poll(p.B.RCQ)
				done, arrived := succeeded(t, sent, 0), succeeded(t, received, 10)
				require.LessOrEqual(t, done, arrived, "%s, %d, %d: acknowledged and not received", m.name, dir, n)
				for i := range arrived {
					p.B.Demand(1000*i, e2e.Bytes(messages*size, 1)[i*size:(i+1)*size])
				}
				if m.harmless || retries > 0 {
					require.Equal(t, messages, done)
				} else if done < messages {
					require.Equal(t, abi.StatusRetryExc, sent[done].Status)
				}
				p.B.DemandState(abi.QPRTS)
				p.B.Fail()
				require.Equal(t, messages-arrived, len(p.B.Await(p.B.RCQ, messages-arrived)))
				again(t, s, p)
				s.Close()
				if fired == 0 {
					require.Greater(t, n, 3, "%s, %d", m.name, dir)
					break
				}
			}
		}
	}
}
