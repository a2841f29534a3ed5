package e2e_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestDeregisterReceive: a region goes away while messages arrive in it. When the
// call returns the device writes to it no more, whatever was on its way.
func TestDeregisterReceive(t *testing.T) {
	const size = 64 << 10
	for _, after := range []int64{0, 2_000, 3_300, 4_100, 5_700, 7_000} {
		s := e2e.New(t, quick)
		a, b := s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{})
		p := s.Join(a, b, driver.ConnectOptions{MTU: abi.MTU4096, Timeout: 12})
		m := region(t, s.B, s.B.PD, 0, 4*size, abi.AccessLocalWrite)
		p.A.Fill(0, 4*size, 1)
		p.B.Fill(0, 4*size, 2)
		for i := range 4 {
			p.B.Recv(driver.RecvWR{ID: uint64(10 + i), SGEs: []driver.SGE{m.SGE(i*size, size)}})
		}
		var wrs []driver.SendWR
		for i := range 4 {
			wrs = append(wrs, p.A.SendWR(uint64(i), i*size, size))
		}
		then := make([]byte, 4*size)
		var err error
		s.Both(func() { _, err = a.QP.PostSend(wrs...) }, func() {
			s.B.Bus.Spend(after * 1000)
			if e := m.Dereg(); e != nil {
				err = e
			}
			_, _ = s.B.Buf.ReadAt(then, 0)
		})
		require.NoError(t, err)
		sent, received := p.A.Await(p.A.SCQ, 4), p.B.Await(p.B.RCQ, 4)
		p.B.Demand(0, then)
		for i := range 4 { // what is told to be received is all there
			if received[i].Status == abi.StatusSuccess {
				p.B.Demand(i*size, e2e.Bytes(4*size, 1)[i*size:(i+1)*size])
			}
			require.Equal(t, sent[i].Status == abi.StatusSuccess, received[i].Status == abi.StatusSuccess)
		}
		require.Equal(t, abi.StatusWRFlush, received[3].Status, "%d ns: too late", after)
		again(t, s, p)
		s.Close()
	}
}

// TestDeregisterSend: when the call returns the device reads the region no more.
func TestDeregisterSend(t *testing.T) {
	const size = 256 << 10
	for _, after := range []int64{0, 1_500, 2_300, 3_100, 4_700, 6_000} {
		s := e2e.New(t, quick)
		a, b := s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{})
		p := s.Join(a, b, driver.ConnectOptions{MTU: abi.MTU4096, Timeout: 12})
		m := region(t, s.A, s.A.PD, 0, size, 0)
		p.A.Fill(0, size, 1)
		p.B.Recv(p.B.RecvWR(11, 0, size))
		var err error
		s.Both(func() {
			_, err = a.QP.PostSend(driver.SendWR{ID: 1, Op: abi.OpSend, SGEs: []driver.SGE{m.SGE(0, size)}})
			s.A.Bus.Spend(after * 1000)
			if e := m.Dereg(); e != nil {
				err = e
			}
			_, _ = s.A.Buf.WriteAt(e2e.Bytes(size, 2), 0)
		}, func() {})
		require.NoError(t, err)
		wcs := p.A.Sent(e2e.All(abi.StatusLocProt, 1)...)
		require.Equal(t, abi.VendorLKeyUnknown, wcs[0].VendorErr)
		want := e2e.Bytes(size, 1)
		for i, r := range s.A.Requests(0) {
			at := i * 4096
			require.True(t, bytes.Equal(want[at:at+len(r.Payload)], r.Payload), "%d ns, packet %d", after, i)
		}
		p.B.Fail()
		p.B.Received(e2e.Flushed(11)...)
		again(t, s, p)
		s.Close()
	}
}
