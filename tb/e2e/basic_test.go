package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/e2e"
)

func TestSendArrives(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	p.A.Fill(0, 3000, 1)
	p.B.Recv(p.B.RecvWR(7, 4096, 4000))
	p.A.Send(p.A.SendWR(5, 0, 3000))
	p.A.Sent(e2e.OK(5)...)
	wc := p.B.Received(e2e.OK(7)...)
	require.EqualValues(t, 3000, wc[0].ByteLen)
	p.B.Demand(4096, e2e.Bytes(3000, 1))
}
