package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// handleTo2 is a mailbox for a handle to host 2.
func handleTo2() abi.AHMailbox { return abi.AHMailbox{PD: 7, AV: connected().AV} }

func TestHandles(t *testing.T) {
	var h AH
	try := func(op port.QPAdminOp, known bool, m abi.AHMailbox) (result, Bank) {
		before := h
		r, w := h.admin(&port.QPAdmin{Op: op, AH: m}, known, &env)
		if r.Status != abi.AdminOK {
			require.Equal(t, before, h)
		}
		return result{r.Status, abi.AdminSyndrome(r.Syndrome)}, w
	}
	bad := result{abi.AdminBadObject, abi.SynObject}
	for _, op := range []port.QPAdminOp{port.AHCreate, port.AHDestroy} {
		r, w := try(op, false, handleTo2())
		require.Equal(t, bad, r, "%v", op)
		require.Zero(t, w)
	}
	r, _ := try(port.AHDestroy, true, handleTo2())
	require.Equal(t, bad, r)
	for name, change := range map[string]func(av *abi.AV){
		"family":      func(av *abi.AV) { av.SGIDIndex = 0 },
		"no address":  func(av *abi.AV) { av.SGIDIndex = 2 },
		"index":       func(av *abi.AV) { av.SGIDIndex = 255 },
		"source port": func(av *abi.AV) { av.UDPSPort = 4791 },
		"nowhere":     func(av *abi.AV) { av.DGID = [16]byte{} },
	} {
		m := handleTo2()
		change(&m.AV)
		r, w := try(port.AHCreate, true, m)
		require.Equal(t, badParam(abi.SynAV), r, name)
		require.Zero(t, w)
	}
	m := handleTo2()
	m.AV.SGIDIndex, m.AV.VLANValid, m.AV.VLAN = 5, true, 0xe123
	r, w := try(port.AHCreate, true, m)
	require.Equal(t, result{}, r)
	require.Equal(t, InAH, w)
	require.Equal(t, AH{Exists: true, PD: 7, Address: Address{
		DMAC: roce.HostMAC(2), DGID: roce.GIDFromIPv4(roce.HostIPv4(2)), SIP: roce.GIDFromIPv4(roce.HostIPv4(77)), Index: 5,
		Flow: 0x12345, SPort: 0xc123, TOS: 2, TTL: 64, VLAN: true, TCI: 0xe123,
	}}, h)
	r, _ = try(port.AHCreate, true, handleTo2())
	require.Equal(t, result{abi.AdminExists, abi.SynObject}, r)
	r, w = try(port.AHDestroy, true, abi.AHMailbox{})
	require.Equal(t, result{}, r)
	require.Equal(t, InAH, w)
	require.Zero(t, h)
}

// The headers of a datagram are its handle's, those of all others the QP's.
func TestHeaderOfADatagram(t *testing.T) {
	h := AH{Exists: true, PD: 7, Address: Address{
		V6: true, DMAC: roce.HostMAC(3), DGID: roce.HostIPv6(3), SIP: roce.HostIPv6(77), Flow: 9, SPort: 0xc999, TOS: 8, TTL: 7, VLAN: true, TCI: 0x1002,
	}}
	want := port.TxHdr{
		QKey: 0x80112233, VLAN: true, TCI: 0x1002, SIP: roce.HostIPv6(77), PD: 7, PKey: 0xffff, DMAC: roce.HostMAC(3), V6: true,
		DIP: roce.HostIPv6(3), SPort: 0xc999, TOS: 8, TTL: 7, Flow: 9,
	}
	for _, s := range states {
		x := ofType(abi.QPTypeUD, s)
		got, _ := x.header(&port.TxHdrReq{UD: true}, &h, &env)
		if s == abi.QPRTS || s == abi.QPSQD {
			require.Equal(t, want, got, "%v", s)
		} else {
			require.True(t, got.Drop && !got.BadAH, "%v", s)
		}
	}
	x := ofType(abi.QPTypeUD, abi.QPRTS)
	other := h
	other.PD = 8
	for _, bad := range []*AH{{}, &other} {
		got, _ := x.header(&port.TxHdrReq{UD: true}, bad, &env)
		require.Equal(t, port.TxHdr{BadAH: true, QKey: 0x80112233, PD: 7, PKey: 0xffff}, got)
	}
	x.Requester.Gen = 1
	got, _ := x.header(&port.TxHdrReq{UD: true}, &AH{}, &env)
	require.True(t, got.Drop && got.Stale && !got.BadAH, "of an older generation: nobody asks where it goes")
	x = ofType(abi.QPTypeUC, abi.QPRTS)
	got, _ = x.header(&port.TxHdrReq{}, &h, &env)
	require.Equal(t, port.TxHdr{
		SIP: roce.GIDFromIPv4(roce.HostIPv4(1)), PD: 7, DestQPN: 0x22, PKey: 0xffff, DMAC: roce.HostMAC(2),
		DIP: roce.GIDFromIPv4(roce.HostIPv4(2)), SPort: 0xc123, TOS: 2, TTL: 64, Flow: 0x12345,
	}, got)
	got, _ = ofType(abi.QPTypeRaw, abi.QPRTS).header(&port.TxHdrReq{}, &AH{}, &env)
	require.Equal(t, port.TxHdr{PD: 7, PKey: 0xffff}, got)
}
