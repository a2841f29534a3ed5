package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestSRQ: two QPs of a type take from one shared receive queue.
func TestSRQ(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC} {
		s := e2e.New(t, quick)
		var srq *driver.SRQ
		var err error
		s.B.Do(func() { srq, err = s.B.PD.CreateSRQ(driver.SRQAttr{MaxRecv: 16, MaxSGE: 2}) })
		require.NoError(t, err)
		ca := driver.QPConfig{Type: typ, MaxSend: 16, MaxRecv: 1, MaxSendSGE: 4, MaxRecvSGE: 4}
		cb := ca
		cb.SRQ = srq
		p := s.Join(s.A.QP(ca), s.B.QP(cb), driver.ConnectOptions{})
		q := s.Join(s.A.QP(ca), s.B.QP(cb), driver.ConnectOptions{})
		for round := range uint64(3) {
			s.B.Do(func() {
				for i := range 8 {
					_, e := srq.PostRecv(p.B.RecvWR(100+uint64(i), 8192+4096*i, 4096))
					err = e
				}
			})
			require.NoError(t, err)
			s.A.Fill(0, 3000, round)
			for range 4 {
				p.A.Send(p.A.SendWR(1, 0, 3000))
				q.A.Send(q.A.SendWR(2, 0, 3000))
			}
			p.A.Sent(e2e.OK(1, 1, 1, 1)...)
			q.A.Sent(e2e.OK(2, 2, 2, 2)...)
			got := append(s.B.Await(p.B.RCQ, 4), s.B.Await(q.B.RCQ, 4)...)
			seen := map[uint64]bool{}
			for _, w := range got {
				require.Equal(t, abi.StatusSuccess, w.Status)
				seen[w.ID] = true
			}
			require.Len(t, seen, 8)
			for i := range 8 {
				s.B.Demand(8192+4096*i, e2e.Bytes(3000, round))
			}
		}
	}
}
