package driver_test

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/driver"
)

func TestCreateQP(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{
		MaxSend: 5, MaxRecv: 9, MaxSendSGE: 3, MaxRecvSGE: 4, MaxInline: 33, SigAll: true, PSN: 0x123456,
	})
	q := p.m.qps[p.a.Number()]
	require.EqualValues(t, 2, p.a.Number(), "0 and 1 are reserved")
	require.Equal(t, abi.QPTypeRC, q.Type)
	require.EqualValues(t, 4, q.SQLogUnits, "5 work requests of 2 units")
	require.EqualValues(t, 4, q.RQLogEntries)
	require.EqualValues(t, 7, q.RQLogStride)
	require.EqualValues(t, []uint8{3, 4}, []uint8{q.SQMaxSGE, q.RQMaxSGE})
	require.EqualValues(t, 33, q.SQMaxInline)
	require.Equal(t, abi.QPSigAll, q.Flags)
	require.Equal(t, []int{8, 16}, []int{p.a.MaxSend, p.a.MaxRecv})
	require.EqualValues(t, 0x123456, p.a.Endpoint().PSN)
	require.Equal(t, abi.QPReset, p.a.State())
}

func TestCreateQPErrors(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{})
	other, err := p.dev.CreateCQ(1, driver.CQOptions{})
	require.NoError(t, err)
	p.dev.Attr.QPTypes &^= 1 << abi.QPTypeUD
	good := driver.QPConfig{SendCQ: p.cq, RecvCQ: p.cq, MaxSend: 1 << 15, MaxRecv: 1 << 15, MaxRecvSGE: 4, MaxInline: 32, MaxSendSGE: 2}
	for name, c := range map[string]struct {
		change func(c *driver.QPConfig)
		want   error
	}{
		"no CQ":           {func(c *driver.QPConfig) { c.RecvCQ = nil }, driver.ErrInvalid},
		"type":            {func(c *driver.QPConfig) { c.Type = 1 }, driver.ErrInvalid},
		"no UD":           {func(c *driver.QPConfig) { c.Type = abi.QPTypeUD }, driver.ErrNotSupported},
		"type beyond":     {func(c *driver.QPConfig) { c.Type = abi.QPTypeRaw + 1 }, driver.ErrInvalid},
		"GID":             {func(c *driver.QPConfig) { c.GIDIndex = 8 }, driver.ErrInvalid},
		"negative":        {func(c *driver.QPConfig) { c.MaxSend = -1 }, driver.ErrInvalid},
		"send SGEs":       {func(c *driver.QPConfig) { c.MaxSendSGE = 17 }, driver.ErrInvalid},
		"receive SGEs":    {func(c *driver.QPConfig) { c.MaxRecvSGE = 17 }, driver.ErrInvalid},
		"inline":          {func(c *driver.QPConfig) { c.MaxInline = 65 }, driver.ErrInvalid},
		"sends":           {func(c *driver.QPConfig) { c.MaxSend = 1<<15 + 1 }, driver.ErrInvalid},
		"sends, two each": {func(c *driver.QPConfig) { c.MaxSend, c.MaxSendSGE = 1<<14+1, 3 }, driver.ErrInvalid},
		"receives":        {func(c *driver.QPConfig) { c.MaxRecv = 1<<15 + 1 }, driver.ErrInvalid},
		"PSN":             {func(c *driver.QPConfig) { c.PSN = 1 << 24 }, driver.ErrInvalid},
	} {
		bad := good
		c.change(&bad)
		_, err := p.pd.CreateQP(bad)
		require.ErrorIs(t, err, c.want, name)
	}
	dma := len(p.m.dma)
	p.m.refuse = func(*abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) { return abi.AdminNoResource, 0 }
	_, err = p.pd.CreateQP(good)
	require.ErrorIs(t, err, driver.ErrNoMemory)
	p.m.refuse, p.m.noMem = nil, true
	_, err = p.pd.CreateQP(good)
	require.ErrorIs(t, err, driver.ErrNoMemory)
	p.m.noMem = false
	require.Len(t, p.m.dma, dma)

	q, err := p.pd.CreateQP(good)
	require.NoError(t, err)
	require.NoError(t, q.Destroy())
	require.NoError(t, other.Destroy())
	good.SendCQ = other
	_, err = p.pd.CreateQP(good)
	require.ErrorIs(t, err, driver.ErrInvalid, "destroyed CQ")
}

func TestReferences(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{})
	recv, err := p.dev.CreateCQ(1, driver.CQOptions{})
	require.NoError(t, err)
	q, err := p.pd.CreateQP(driver.QPConfig{SendCQ: p.cq, RecvCQ: recv})
	require.NoError(t, err)
	require.ErrorIs(t, recv.Destroy(), driver.ErrBusy)
	require.ErrorIs(t, p.pd.Destroy(), driver.ErrBusy)
	require.NoError(t, q.Destroy())
	require.ErrorIs(t, q.Destroy(), driver.ErrInvalid)
	require.NoError(t, recv.Destroy())
	require.ErrorIs(t, recv.Destroy(), driver.ErrInvalid)
	require.ErrorIs(t, recv.Arm(false), driver.ErrInvalid)
	require.ErrorIs(t, q.Modify(driver.QPAttr{}, abi.AttrState), driver.ErrInvalid)
	_, err = q.Query()
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = q.PostRecv(driver.RecvWR{})
	require.ErrorIs(t, err, driver.ErrInvalid)
	require.ErrorIs(t, p.cq.Destroy(), driver.ErrBusy)
	require.NoError(t, p.a.Destroy())
	require.NoError(t, p.b.Destroy())
	require.NoError(t, p.cq.Destroy())
	require.NoError(t, p.mr.Dereg())
	require.NoError(t, p.pd.Destroy())
}

func TestQPNsRunOut(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{})
	c := driver.QPConfig{SendCQ: p.cq, RecvCQ: p.cq}
	for range 60 {
		_, err := p.pd.CreateQP(c)
		require.NoError(t, err)
	}
	_, err := p.pd.CreateQP(c)
	require.ErrorIs(t, err, driver.ErrNoMemory)
	require.NoError(t, p.a.Destroy())
	q, err := p.pd.CreateQP(c)
	require.NoError(t, err)
	require.EqualValues(t, 2, q.Number())
}

// Each proper subset of what a transition needs is refused, and changes nothing.
func TestModifyNeedsAllAttributes(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{})
	attr := driver.QPAttr{
		Port: 1, PathMTU: abi.MTU1024, DestQPN: 3, RQPSN: 1, SQPSN: 2, MaxRdAtomic: 1, MaxDestRdAtomic: 1, Timeout: 14,
		AV: abi.AV{SGIDIndex: 1, UDPSPort: 0xc000},
	}
	for _, to := range []abi.QPState{abi.QPInit, abi.QPRTR, abi.QPRTS} {
		from := p.a.State()
		attr.State = to
		required, _, ok := abi.Transition(abi.QPTypeRC, from, to)
		require.True(t, ok)
		for sub := (required - 1) & required; ; sub = (sub - 1) & required {
			require.ErrorIs(t, p.a.Modify(attr, sub|abi.AttrState), driver.ErrInvalid)
			require.Equal(t, from, p.a.State())
			if sub == 0 {
				break
			}
		}
		require.ErrorIs(t, p.a.Modify(attr, required|abi.AttrState|abi.AttrQKey), driver.ErrInvalid)
		require.NoError(t, p.a.Modify(attr, required|abi.AttrState))
		require.Equal(t, to, p.a.State())
	}
	got, err := p.a.Query()
	require.NoError(t, err)
	require.Equal(t, abi.QPRTS, got.State)
	require.EqualValues(t, []uint32{3, 1, 2}, []uint32{got.DestQPN, got.RQPSN, got.SQPSN})
}

// What does not fit its field is refused, not cut; what is not meant is not sent.
func TestModifyRanges(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{})
	require.NoError(t, p.a.Init(abi.AccessRemoteWrite))
	for _, c := range []struct {
		mask abi.QPAttr
		attr driver.QPAttr
	}{
		{abi.AttrState, driver.QPAttr{State: 8}},
		{abi.AttrTimeout, driver.QPAttr{Timeout: 32}},
		{abi.AttrMinRNRTimer, driver.QPAttr{MinRNRTimer: 32}},
		{abi.AttrRetryCnt, driver.QPAttr{RetryCnt: 8}},
		{abi.AttrRNRRetry, driver.QPAttr{RNRRetry: 8}},
		{abi.AttrPathMTU, driver.QPAttr{PathMTU: 8}},
		{abi.AttrRQPSN, driver.QPAttr{RQPSN: 1 << 24}},
		{abi.AttrSQPSN, driver.QPAttr{SQPSN: 1 << 24}},
		{abi.AttrDestQPN, driver.QPAttr{DestQPN: 1 << 24}},
	} {
		n := p.m.ci
		require.ErrorIs(t, p.a.Modify(c.attr, c.mask), driver.ErrInvalid, c.mask)
		require.Equal(t, n, p.m.ci, "no command was issued")
		c.attr.State, c.attr.Access = 0, abi.AccessRemoteRead
		require.NoError(t, p.a.Modify(c.attr, abi.AttrAccessFlags), "%s is not meant", c.mask)
	}
}

// ip4 is the Endpoint of a peer.
var ip4 = driver.Endpoint{QPN: 7, PSN: 0xabcdef, GID: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2}, MAC: [6]byte{2, 5: 2}}

func TestConnect(t *testing.T) {
	p := unconnected(t, driver.Config{GID: addr16("fe80::1")}, driver.QPConfig{})
	remote := ip4
	require.NoError(t, p.a.Connect(remote, driver.ConnectOptions{}))
	require.Equal(t, abi.QPRTS, p.a.State())
	q := p.m.qps[p.a.Number()]
	require.EqualValues(t, 7, q.DestQPN)
	require.EqualValues(t, 0xabcdef, q.RQPSN)
	require.EqualValues(t, p.a.Endpoint().PSN, q.SQPSN)
	require.Equal(t, abi.MTU1024, q.PathMTU)
	require.EqualValues(t, 14, q.Timeout)
	require.EqualValues(t, 12, q.MinRNRTimer)
	require.EqualValues(t, []uint8{16, 16}, []uint8{q.MaxRdAtomic, q.MaxDestRdAtomic})
	require.Equal(t, abi.AccessRemoteRead|abi.AccessRemoteWrite|abi.AccessRemoteAtomic, q.AccessFlags)
	require.Equal(t, abi.AV{
		DMAC: remote.MAC, SGIDIndex: 1, HopLimit: 64, DGID: remote.GID, UDPSPort: 0xc000 + uint16(p.a.Number()),
	}, q.AV)
	require.ErrorIs(t, p.a.Connect(remote, driver.ConnectOptions{}), driver.ErrInvalid, "connected already")

	b, err := p.pd.CreateQP(driver.QPConfig{SendCQ: p.cq, RecvCQ: p.cq, IPv6: true})
	require.NoError(t, err)
	require.NoError(t, b.Init(0))
	remote.GID = [16]byte{0xfe, 0x80, 15: 2}
	require.NoError(t, b.Connect(remote, driver.ConnectOptions{
		MTU: abi.MTU256, Access: abi.AccessRemoteRead, Timeout: 3, MinRNRTimer: 1, MaxRdAtomic: 2, MaxDestRdAtomic: 3,
		HopLimit: 9, TrafficClass: 0x20, FlowLabel: 5, UDPSPort: 0xffff,
	}))
	q = p.m.qps[b.Number()]
	require.Equal(t, abi.AV{
		DMAC: remote.MAC, HopLimit: 9, DGID: remote.GID, UDPSPort: 0xffff, TrafficClass: 0x20, FlowLabel: 5,
	}, q.AV)
	require.Equal(t, abi.AccessRemoteRead, q.AccessFlags)
	require.EqualValues(t, []uint8{3, 1, 2, 3}, []uint8{q.Timeout, q.MinRNRTimer, q.MaxRdAtomic, q.MaxDestRdAtomic})

	c, err := p.pd.CreateQP(driver.QPConfig{SendCQ: p.cq, RecvCQ: p.cq})
	require.NoError(t, err)
	require.ErrorIs(t, c.Connect(ip4, driver.ConnectOptions{RetryCnt: 1}), driver.ErrNotSupported)
	require.Equal(t, abi.QPReset, c.State(), "refused by the device, on the way")
	require.NoError(t, c.Connect(ip4, driver.ConnectOptions{}))
}

// A wrong option, or a peer that can't be one, is told before anything changes.
func TestConnectRefuses(t *testing.T) {
	p := unconnected(t, driver.Config{GID: addr16("fe80::1"), MTU: abi.MTU2048}, driver.QPConfig{})
	mk := func(c driver.QPConfig) *driver.QP {
		c.SendCQ, c.RecvCQ = p.cq, p.cq
		q, err := p.pd.CreateQP(c)
		require.NoError(t, err)
		return q
	}
	ip6 := ip4
	ip6.GID = addr16("fe80::2")
	bad := func(change func(e *driver.Endpoint)) driver.Endpoint {
		e := ip4
		change(&e)
		return e
	}
	type o = driver.ConnectOptions
	for _, c := range []struct {
		says string
		qp   driver.QPConfig
		to   driver.Endpoint
		opts o
	}{
		{"17 READs and atomics as initiator, the device has 16", driver.QPConfig{}, ip4, o{MaxRdAtomic: 17}},
		{"1000 READs and atomics as responder, the device has 16", driver.QPConfig{}, ip4, o{MaxDestRdAtomic: 1000}},
		{"retry count 8", driver.QPConfig{}, ip4, o{RetryCnt: 8}},
		{"RNR retry count 8", driver.QPConfig{}, ip4, o{RNRRetry: 8}},
		{"timeout 32", driver.QPConfig{}, ip4, o{Timeout: 32}},
		{"minimal RNR timer 32", driver.QPConfig{}, ip4, o{MinRNRTimer: 32}},
		{"MTU", driver.QPConfig{}, ip4, o{MTU: 6}},
		{"the port has 2048", driver.QPConfig{}, ip4, o{MTU: abi.MTU4096}},
		{"VLAN 4095", driver.QPConfig{}, ip4, o{VLANValid: true, VLAN: 0xfff}},
		{"UDP source port", driver.QPConfig{}, ip4, o{UDPSPort: 4791}},
		{"flow label", driver.QPConfig{}, ip4, o{FlowLabel: 1 << 20}},
		{"peer with QPN", driver.QPConfig{}, bad(func(e *driver.Endpoint) { e.QPN = 1 << 24 }), o{}},
		{"PSN 0x1000000", driver.QPConfig{}, bad(func(e *driver.Endpoint) { e.PSN = 1 << 24 }), o{}},
		{"MAC", driver.QPConfig{}, bad(func(e *driver.Endpoint) { e.MAC = [6]byte{} }), o{}},
		{"DGID", driver.QPConfig{}, bad(func(e *driver.Endpoint) { e.GID = [16]byte{} }), o{}},
		{"tells GID 0, fe80::1, which is IPv6, and the peer's GID 10.0.0.2 is IPv4", driver.QPConfig{IPv6: true}, ip4, o{}},
		{"tells GID 1, 10.0.0.1, which is IPv4, and the peer's GID fe80::2 is IPv6", driver.QPConfig{}, ip6, o{}},
		{"DGID 10.0.0.2 is IPv4, own GID 6, fd00::6, is IPv6", driver.QPConfig{GIDIndex: 6}, ip4, o{}},
		{"own address, GID 5, is free", driver.QPConfig{GIDIndex: 5}, ip4, o{}},
		{"own address, GID 5, is free", driver.QPConfig{}, ip4, o{SGIDIndex: 5}},
	} {
		require.NoError(t, p.dev.SetGID(6, netip.MustParseAddr("fd00::6")))
		q := mk(c.qp)
		asked := p.m.ci
		err := q.Connect(c.to, c.opts)
		require.ErrorIs(t, err, driver.ErrInvalid, c.says)
		require.ErrorContains(t, err, c.says)
		require.Equal(t, abi.QPReset, q.State(), c.says)
		require.Equal(t, asked, p.m.ci, "no command was issued: %s", c.says)
		require.NoError(t, q.Destroy())
	}
	require.ErrorIs(t, mk(driver.QPConfig{}).Connect(ip4, o{Access: 0x80}), driver.ErrNotSupported)
	require.NoError(t, mk(driver.QPConfig{Type: abi.QPTypeUC}).Connect(ip4, o{RetryCnt: 9, Timeout: 99, MaxRdAtomic: 1000}), "UC has no use for them")
	require.NoError(t, mk(driver.QPConfig{}).Connect(ip6, o{SGIDIndex: 6}), "chosen here")
}

func TestEndpointForms(t *testing.T) {
	m, d := start(t, driver.Config{GID: [16]byte{0xfe, 0x80, 15: 9}})
	pd, _ := d.AllocPD()
	cq, _ := d.CreateCQ(1, driver.CQOptions{})
	c := driver.QPConfig{SendCQ: cq, RecvCQ: cq, PSN: 0x00beef}
	q, err := pd.CreateQP(c)
	require.NoError(t, err)
	require.Equal(t, "qpn=0x000002,psn=0x00beef,gid=::ffff:10.0.0.1,mac=02:00:00:00:00:01", q.Endpoint().String())
	c.IPv6 = true
	q, err = pd.CreateQP(c)
	require.NoError(t, err)
	require.Equal(t, "qpn=0x000003,psn=0x00beef,gid=fe80::9,mac=02:00:00:00:00:01", q.Endpoint().String())
	require.NotNil(t, m)

	rapid.Check(t, func(t *rapid.T) {
		var e, text, bin, js driver.Endpoint
		e.QPN, e.PSN = rapid.Uint32Range(0, 1<<24-1).Draw(t, "qpn"), rapid.Uint32Range(0, 1<<24-1).Draw(t, "psn")
		copy(e.GID[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "gid"))
		copy(e.MAC[:], rapid.SliceOfN(rapid.Byte(), 6, 6).Draw(t, "mac"))
		b, err := e.MarshalText()
		require.NoError(t, err)
		require.NoError(t, text.UnmarshalText(b))
		require.Equal(t, e, text)
		b, err = e.MarshalBinary()
		require.NoError(t, err)
		require.Len(t, b, driver.EndpointSize)
		require.NoError(t, bin.UnmarshalBinary(b))
		require.Equal(t, e, bin)
		b, err = json.Marshal(e)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &js))
		require.Equal(t, e, js)
	})
}

func TestEndpointErrors(t *testing.T) {
	for _, s := range []string{
		"", "qpn=1", "qpn=1,psn=2,gid=::1", "qpn=1,psn=2,gid=::1,mac=02:00:00:00:00:01,x=1",
		"psn=1,qpn=2,gid=::1,mac=02:00:00:00:00:01", "qpn=0x1000000,psn=2,gid=::1,mac=02:00:00:00:00:01",
		"qpn=1,psn=-2,gid=::1,mac=02:00:00:00:00:01", "qpn=1,psn=2,gid=nobody,mac=02:00:00:00:00:01",
		"qpn=1,psn=2,gid=fe80::1%eth0,mac=02:00:00:00:00:01", "qpn=1,psn=2,gid=::1,mac=02:00:00:00:00",
		"qpn=1,psn=2,gid=::1,mac=02:00:00:00:00:00:00:01",
	} {
		e := driver.Endpoint{QPN: 5}
		require.ErrorIs(t, e.UnmarshalText([]byte(s)), driver.ErrInvalid, s)
		require.Equal(t, driver.Endpoint{QPN: 5}, e, s)
	}
	var e driver.Endpoint
	require.ErrorIs(t, e.UnmarshalBinary(make([]byte, 29)), driver.ErrInvalid)
	bad := make([]byte, 30)
	bad[0] = 1
	require.ErrorIs(t, e.UnmarshalBinary(bad), driver.ErrInvalid)
}

func FuzzEndpointText(f *testing.F) {
	f.Add("qpn=0x000002,psn=0x00beef,gid=::ffff:10.0.0.1,mac=02:00:00:00:00:01")
	f.Add("qpn=1,psn=2,gid=::1%x,mac=")
	f.Fuzz(func(t *testing.T, s string) {
		var e, again driver.Endpoint
		if e.UnmarshalText([]byte(s)) == nil {
			require.NoError(t, again.UnmarshalText([]byte(e.String())))
			require.Equal(t, e, again)
		}
	})
}
