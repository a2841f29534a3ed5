package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// head is the answer alone.
func head(c *Context, r port.TxHdrReq) port.TxHdr {
	h, _ := c.header(&r, &AH{}, &env)
	return h
}

func TestHeader(t *testing.T) {
	x := inState(abi.QPRTS)
	require.Equal(t, port.TxHdr{
		PD: 7, DestQPN: 0x22, PKey: 0xffff, DMAC: roce.HostMAC(2), DIP: roce.GIDFromIPv4(roce.HostIPv4(2)), SIP: roce.GIDFromIPv4(roce.HostIPv4(1)),
		SPort: 0xc123, TOS: 2, TTL: 64, Flow: 0x12345,
	}, head(x, port.TxHdrReq{}))
	a := connected()
	a.AV.DGID, a.AV.SGIDIndex = roce.HostIPv6(2), 0
	a.AttrMask = abi.AttrAV
	x.apply(&a, &env)
	h := head(x, port.TxHdrReq{})
	require.True(t, h.V6)
	require.Equal(t, [16]byte(roce.HostIPv6(2)), h.DIP)
}

func TestHeaderDrops(t *testing.T) {
	require.True(t, head(new(Context), port.TxHdrReq{}).Drop)
	for _, s := range states {
		request := s == abi.QPRTS || s == abi.QPSQD
		response := s == abi.QPRTR || s == abi.QPRTS || s == abi.QPSQD || s == abi.QPSQE || s == abi.QPErr
		require.Equal(t, !request, head(inState(s), port.TxHdrReq{}).Drop, "request in %v", s)
		require.Equal(t, !response, head(inState(s), port.TxHdrReq{Resp: true}).Drop, "response in %v", s)
	}
	for kind, drop := range map[FailKind]bool{FailLocal: false, FailAt: true, FailFlush: true} {
		x := inState(abi.QPErr)
		x.Requester.Fail = kind
		require.Equal(t, drop, head(x, port.TxHdrReq{}).Drop, "%v", kind)
	}
}
