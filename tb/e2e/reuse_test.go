package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb"
	"rnic/tb/e2e"
)

// TestNumberReused (B008): devices with two QPs, so that numbers come round at
// once. Pairs are destroyed in the midst of traffic, at another moment each time;
// all frames of a life arrive once more in the next of its number, at both ends, and
// nothing comes of it.
func TestNumberReused(t *testing.T) {
	c := tb.Config{}
	c.NIC.QPC.LogQP, c.NIC.Admin.LogQP = 2, 2
	s := e2e.New(t, e2e.Options{Bench: c, Driver: driver.Config{TimeUnit: 8}})
	numbers := map[uint32]int{}
	var marks [][2]int // in Seen, where each life begins
	for life := range 12 {
		marks = append(marks, [2]int{len(s.A.Seen), len(s.B.Seen)})
		p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), timeout8)
		numbers[p.A.QP.Number()]++
		require.Equal(t, p.A.QP.Number(), p.B.QP.Number())
		p.A.Recv(p.A.RecvWR(77, 500_000, 3000))
		p.B.Recv(p.B.RecvWR(77, 500_000, 3000))
		if life > 1 { // the life before the last had the same number
			replay(t, s.A, marks[life-2][0], marks[life-1][0], p.A)
			replay(t, s.B, marks[life-2][1], marks[life-1][1], p.B)
		}
		p.A.Send(p.A.SendWR(1, 0, 10))
		p.B.Send(p.B.SendWR(1, 0, 10))
		for _, e := range []*e2e.End{p.A, p.B} {
			e.Sent(e2e.OK(1)...)
			require.EqualValues(t, 10, e.Received(e2e.OK(77)...)[0].ByteLen)
		}
		exchange(t, p)
		p.A.Fill(0, 20_000, uint64(life))
		p.B.Recv(p.B.Recvs(0, 5000, 11, 12, 13, 14)...)
		var wrs []driver.SendWR
		for i := range 4 {
			wrs = append(wrs, p.A.SendWR(uint64(i), 5000*i, 5000))
		}
		var err [2]error
		s.A.Do(func() { _, err[0] = p.A.QP.PostSend(wrs...) })
		s.Both(func() {
			s.A.Bus.Spend(int64(life) * 350_000)
			err[0] = p.A.QP.Destroy()
		}, func() {
			s.B.Bus.Spend(int64(life*7%12) * 350_000)
			err[1] = p.B.QP.Destroy()
		})
		require.Equal(t, [2]error{}, err)
		s.A.DemandNone(p.A.SCQ)
		s.B.DemandNone(p.B.RCQ)
	}
	require.Equal(t, map[uint32]int{2: 6, 3: 6}, numbers)
}

// replay has everything that a side received in an older life arrive again.
func replay(t *testing.T, d *e2e.Side, from, to int, e *e2e.End) {
	t.Helper()
	before := e.Query()
	var frames [][]byte
	for i := range d.Seen[from:to] {
		if f := &d.Seen[from+i]; !f.Tx {
			frames = append(frames, f.Packet.Append(nil))
		}
	}
	require.NotEmpty(t, frames)
	d.ArriveFrames(frames...)
	after := e.Query()
	require.Equal(t, before.State, after.State)
	require.Equal(t, before.ExpectedPSN, after.ExpectedPSN)
	require.Equal(t, before.UnackedPSN, after.UnackedPSN)
	require.Equal(t, before.MSN, after.MSN)
	require.Equal(t, abi.QPRTS, after.State)
}
