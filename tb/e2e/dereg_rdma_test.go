package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestDeregisterRemote: a region goes away while the peer writes to it, or reads it.
// When the call returns the device touches it no more; what the peer was told to be
// done is done, the next fails, and the rest is flushed.
func TestDeregisterRemote(t *testing.T) {
	const size = 64 << 10
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead} {
		for _, after := range []int64{0, 2_000, 3_300, 4_100, 5_700, 7_000, 11_000} {
			s := e2e.New(t, quick)
			a, b := s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{})
			p := s.Join(a, b, driver.ConnectOptions{MTU: abi.MTU4096, Timeout: 12})
			m := region(t, s.B, s.B.PD, 0, 4*size, all)
			p.A.Fill(0, 4*size, 1)
			p.B.Fill(0, 4*size, 2)
			var wrs []driver.SendWR
			for i := range 4 {
				wr := p.A.SendWR(uint64(i), i*size, size)
				wr.Op, wr.RemoteAddr, wr.RKey = op, m.Addr+uint64(i*size), m.RKey
				wrs = append(wrs, wr)
			}
			atEnd := make([]byte, 4*size)
			var err error
			s.Both(func() { _, err = a.QP.PostSend(wrs...) }, func() {
				s.B.Bus.Spend(after * 1000)
				if e := m.Dereg(); e != nil {
					err = e
				}
				if op == abi.OpRead { // whatever is read later is something else
					_, _ = s.B.Buf.WriteAt(e2e.Bytes(4*size, 3), 0)
				}
				_, _ = s.B.Buf.ReadAt(atEnd, 0)
			})
			require.NoError(t, err)
			sent := p.A.Await(p.A.SCQ, 4)
			p.B.Demand(0, atEnd)
			from, to := e2e.Bytes(4*size, 1), p.B
			if op == abi.OpRead {
				from, to = e2e.Bytes(4*size, 2), p.A
			}
			good := 0
			for good < 4 && sent[good].Status == abi.StatusSuccess {
				to.Demand(good*size, from[good*size:(good+1)*size])
				good++
			}
			require.Less(t, good, 4, "%d ns: too late", after)
			require.Equal(t, abi.StatusRemAccess, sent[good].Status, "%v %d ns: %v", op, after, sent)
			for _, wc := range sent[good+1:] {
				require.Equal(t, abi.StatusWRFlush, wc.Status)
			}
			at, page := 0, 4096
			for _, r := range responses(s.B) { // all that has left was read in time
				same(t, from[at:at+page], r.Payload)
				at += page
			}
			events := s.B.Events()
			require.NotEmpty(t, events)
			for _, e := range events { // of the next READ that came, and of that whose answer broke off
				require.Equal(t, abi.EventQPAccessErr, e.Type)
			}
			naks := 0
			for _, a := range s.B.Answers(0) {
				if a.AETH.Syndrome == roce.NAKSyndrome(roce.NAKRemoteAccess) {
					naks++
				}
			}
			require.Equal(t, 1, naks)
			again(t, s, p)
			s.Close()
		}
	}
}

// TestReregister: the same memory again, key after key: each key opens it while it
// is the region's, and none before does.
func TestReregister(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Pair()
	p.A.Fill(0, 4096, 1)
	var old []abi.Key
	for i := range 12 {
		m := region(t, s.B, s.B.PD, farAt, 4096, all)
		require.NotContains(t, old, m.RKey)
		wr := p.A.SendWR(1, 100*i, 100)
		wr.Op, wr.RemoteAddr, wr.RKey = abi.OpWrite, m.Addr, m.RKey
		p.A.Send(wr)
		p.A.Sent(e2e.OK(1)...)
		p.B.Demand(farAt, e2e.Bytes(4096, 1)[100*i:100*i+100])
		if len(old) > 0 {
			wr.RKey = old[i%len(old)]
			p.A.Send(wr)
			p.A.Sent(e2e.All(abi.StatusRemAccess, 1)...)
			require.Equal(t, 1, len(s.B.Events()))
			again(t, s, p)
		}
		s.B.Do(func() { require.NoError(t, m.Dereg()) })
		old = append(old, m.RKey)
	}
}
