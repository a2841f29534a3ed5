package driver_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

func addr16(s string) [16]byte { return netip.MustParseAddr(s).As16() }

var mac2 = [6]byte{2, 5: 2}

// datagrams is a pair of UD QPs, ready, on a device with addresses of both families.
func datagrams(t testing.TB) *pair {
	p := unconnected(t, driver.Config{GID: addr16("fe80::1")}, driver.QPConfig{
		Type: abi.QPTypeUD, MaxSend: 4, MaxRecv: 4, MaxSendSGE: 3, MaxRecvSGE: 2, MaxInline: 64,
	})
	p.m.needGID = true
	require.NoError(t, p.a.Start(0x11))
	require.NoError(t, p.b.Start(0x22))
	return p
}

func (p *pair) handle(t testing.TB, a driver.AHAttr) *driver.AH {
	h, err := p.pd.CreateAH(a)
	require.NoError(t, err)
	return h
}

// A datagram goes where its handle, QPN and Q_Key say, and its receiver can answer by
// what came with it.
func TestDatagramThereAndBack(t *testing.T) {
	for _, c := range []struct {
		to   driver.AHAttr
		back abi.AV // as it should be
	}{
		{
			driver.AHAttr{MAC: mac2, DGID: addr16("::ffff:10.0.0.1"), TrafficClass: 0x2b, HopLimit: 9},
			abi.AV{DMAC: mac2, DGID: addr16("::ffff:10.0.0.1"), SGIDIndex: 1, TrafficClass: 0x2a, HopLimit: 255, UDPSPort: 0xc001},
		},
		{
			driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1"), TrafficClass: 0x21, FlowLabel: 0xabcde},
			abi.AV{DMAC: mac2, DGID: addr16("fe80::1"), TrafficClass: 0x21, HopLimit: 255, FlowLabel: 0xabcde, UDPSPort: 0xc000 | 0x3cde ^ 0x2a},
		},
	} {
		p := datagrams(t)
		h := p.handle(t, c.to)
		_, err := p.b.PostRecv(driver.RecvWR{ID: 1, SGEs: []driver.SGE{p.mr.SGE(0, 40), p.mr.SGE(100, 100)}})
		require.NoError(t, err)
		_, err = p.a.PostSend(driver.SendWR{
			ID: 2, Op: abi.OpSendImm, Imm: 7, Inline: []byte("ping"), Signaled: true, AH: h, RemoteQPN: p.b.Number(), RemoteQKey: 0x22,
		})
		require.NoError(t, err)
		p.m.settle()
		wcs := poll(t, p.cq)
		require.Equal(t, []uint64{1, 2}, ids(wcs))
		require.NoError(t, wcs[0].Err())
		require.Equal(t, abi.CQEGRH|abi.CQEWithImm, wcs[0].Flags)
		require.EqualValues(t, 44, wcs[0].ByteLen)
		require.Equal(t, p.a.Number(), wcs[0].SrcQPN)
		require.Equal(t, "ping", read(t, p.buf, 100, 4))

		grh := []byte(read(t, p.buf, 0, 40))
		back, err := p.pd.CreateAHFromWC(&wcs[0], grh, mac2)
		require.NoError(t, err)
		require.Equal(t, c.back, p.m.ahs[back.Number()].AV)
		_, err = p.a.PostRecv(driver.RecvWR{ID: 3, SGEs: []driver.SGE{p.mr.SGE(200, 100)}})
		require.NoError(t, err)
		_, err = p.b.PostSend(driver.SendWR{ID: 4, Op: abi.OpSend, Inline: []byte("pong"), AH: back, RemoteQPN: wcs[0].SrcQPN, RemoteQKey: 0x11})
		require.NoError(t, err)
		p.m.settle()
		require.Equal(t, []uint64{3}, ids(poll(t, p.cq)))
		require.Equal(t, "pong", read(t, p.buf, 240, 4))
	}
}

// A datagram that nobody takes is no fault of its sender.
func TestDatagramsThatAreLost(t *testing.T) {
	p := datagrams(t)
	h := p.handle(t, driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1")})
	for name, wr := range map[string]driver.SendWR{
		"Q_Key":      {AH: h, RemoteQPN: p.b.Number(), RemoteQKey: 0x11},
		"own Q_Key":  {AH: h, RemoteQPN: p.b.Number(), RemoteQKey: 1 << 31},
		"QPN":        {AH: h, RemoteQPN: 50, RemoteQKey: 0x22},
		"no receive": {AH: h, RemoteQPN: p.b.Number(), RemoteQKey: 0x22},
	} {
		wr.Op, wr.Signaled = abi.OpSend, true
		_, err := p.a.PostSend(wr)
		require.NoError(t, err, name)
		p.m.settle()
		wcs := poll(t, p.cq)
		require.Len(t, wcs, 1, name)
		require.NoError(t, wcs[0].Err(), name)
	}
}

func TestDatagramRules(t *testing.T) {
	p, other := datagrams(t), datagrams(t)
	good := driver.SendWR{Op: abi.OpSend, Signaled: true, AH: p.handle(t, driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1")}), RemoteQPN: p.b.Number()}
	dead := p.handle(t, driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1")})
	require.NoError(t, dead.Destroy())
	for name, change := range map[string]func(w *driver.SendWR){
		"no AH":                func(w *driver.SendWR) { w.AH = nil },
		"destroyed AH":         func(w *driver.SendWR) { w.AH = dead },
		"AH of another device": func(w *driver.SendWR) { w.AH = other.handle(t, driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1")}) },
		"QPN":                  func(w *driver.SendWR) { w.RemoteQPN = 1 << 24 },
		"SGEs":                 func(w *driver.SendWR) { w.SGEs = make([]driver.SGE, 4) },
		"inline":               func(w *driver.SendWR) { w.Inline = make([]byte, 65) },
	} {
		bad := good
		change(&bad)
		n, err := p.a.PostSend(good, bad, good)
		require.ErrorIs(t, err, driver.ErrInvalid, name)
		require.Equal(t, 1, n, name)
		p.m.settle()
		require.Len(t, poll(t, p.cq), 1, name)
	}
	pd, err := p.dev.AllocPD()
	require.NoError(t, err)
	good.AH, err = pd.CreateAH(driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1")})
	require.NoError(t, err)
	_, err = p.a.PostSend(good)
	require.NoError(t, err, "the device judges")
	p.m.settle()
	require.Equal(t, abi.StatusLocQPOp, poll(t, p.cq)[0].Status)
}

// What a type does not have is refused at post, whatever the device does.
func TestOperationsOfTypes(t *testing.T) {
	has := map[abi.QPType]string{
		abi.QPTypeRC:  "SEND SEND_IMM SEND_INV WRITE WRITE_IMM READ COMPARE_SWAP FETCH_ADD LOCAL_INV BIND_MW FAST_REG NOP ",
		abi.QPTypeUC:  "SEND SEND_IMM WRITE WRITE_IMM LOCAL_INV BIND_MW FAST_REG NOP ",
		abi.QPTypeUD:  "SEND SEND_IMM NOP ",
		abi.QPTypeRaw: "SEND NOP ",
	}
	for typ, want := range has {
		p := unconnected(t, driver.Config{}, driver.QPConfig{Type: typ, MaxSend: 16, MaxSendSGE: 1})
		if typ == abi.QPTypeRC || typ == abi.QPTypeUC {
			require.NoError(t, p.a.Connect(p.b.Endpoint(), driver.ConnectOptions{}))
		} else {
			require.NoError(t, p.a.Start(1))
		}
		got := ""
		for op := range abi.OpNop + 1 {
			_, err := p.a.PostSend(driver.SendWR{Op: op})
			if err != nil && strings.Contains(err.Error(), "of a QP of type "+typ.String()) {
				require.ErrorIs(t, err, driver.ErrInvalid)
				continue
			}
			got += op.String() + " "
		}
		require.Equal(t, want, got, typ)
	}
}

// Each proper subset of what a transition needs is refused, by type, and so is each
// attribute that it does not allow.
func TestAttributesOfTypes(t *testing.T) {
	attr := driver.QPAttr{Port: 1, PathMTU: abi.MTU1024, DestQPN: 3, AV: abi.AV{SGIDIndex: 1, UDPSPort: 0xc000}, QKey: 5, SQPSN: 9}
	for _, typ := range []abi.QPType{abi.QPTypeUC, abi.QPTypeUD, abi.QPTypeRaw} {
		p := unconnected(t, driver.Config{}, driver.QPConfig{Type: typ})
		for _, to := range []abi.QPState{abi.QPInit, abi.QPRTR, abi.QPRTS} {
			attr.State = to
			required, optional, _ := abi.Transition(typ, to-1, to)
			for sub := required; sub != 0; {
				sub = (sub - 1) & required
				require.ErrorIs(t, p.a.Modify(attr, sub|abi.AttrState), driver.ErrInvalid, "%s to %s with %s", typ, to, sub)
			}
			for bit := abi.AttrCurState; bit <= abi.AttrDestQPN; bit <<= 1 {
				if bit&(required|optional) == 0 {
					require.ErrorIs(t, p.a.Modify(attr, required|bit|abi.AttrState), driver.ErrInvalid, "%s to %s with %s", typ, to, bit)
				}
			}
			require.Equal(t, to-1, p.a.State())
			require.NoError(t, p.a.Modify(attr, required|abi.AttrState))
		}
	}
}

func TestConnectAndStart(t *testing.T) {
	for _, typ := range []abi.QPType{abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD, abi.QPTypeRaw} {
		p := unconnected(t, driver.Config{}, driver.QPConfig{Type: typ, PSN: 77})
		connect, start := p.a.Connect(p.b.Endpoint(), driver.ConnectOptions{}), p.a.Start(0x80000001)
		if typ == abi.QPTypeUD || typ == abi.QPTypeRaw {
			connect, start = start, connect
			require.Equal(t, typ == abi.QPTypeUD, p.m.qps[p.a.Number()].QKey == 0x80000001)
		}
		require.NoError(t, connect, typ)
		require.ErrorIs(t, start, driver.ErrInvalid, typ)
		require.Equal(t, abi.QPRTS, p.a.State())
		require.Equal(t, typ != abi.QPTypeRaw, p.m.qps[p.a.Number()].SQPSN == 77)
		if typ == abi.QPTypeUC {
			require.Equal(t, abi.AccessRemoteWrite, p.m.qps[p.a.Number()].AccessFlags)
		}
	}
	p := unconnected(t, driver.Config{}, driver.QPConfig{Type: abi.QPTypeUD})
	require.NoError(t, p.a.Modify(driver.QPAttr{State: abi.QPInit, Port: 1}, abi.AttrState|abi.AttrPort|abi.AttrPKeyIndex|abi.AttrQKey))
	require.NoError(t, p.a.Start(0), "from INIT")
}

// The send queue of UC and UD fails alone, flushes, and works again after RTS. A
// device that still flushes is asked again, for a while.
func TestSendQueueError(t *testing.T) {
	p := datagrams(t)
	h := p.handle(t, driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1")})
	wr := driver.SendWR{ID: 1, Op: abi.OpSend, AH: h, SGEs: []driver.SGE{{Addr: 1, Length: 1, LKey: 99 << 8}}}
	_, err := p.a.PostSend(wr)
	require.NoError(t, err)
	p.m.settle()
	_, err = p.a.PostSend(nop(2, true), nop(3, false), nop(4, true))
	require.NoError(t, err, "also in SQE")
	rts := driver.QPAttr{State: abi.QPRTS, CurState: abi.QPSQE}
	was := p.m.now
	require.NoError(t, p.a.Modify(rts, abi.AttrState|abi.AttrCurState))
	require.Greater(t, p.m.now-was, int64(1_500_000), "three were to be flushed")
	wcs := poll(t, p.cq)
	require.Equal(t, []uint64{1, 2, 3, 4}, ids(wcs))
	require.Equal(t, abi.StatusLocProt, wcs[0].Status)
	for _, w := range wcs[1:] {
		require.Equal(t, abi.StatusWRFlush, w.Status)
	}
	_, err = p.a.PostSend(nop(5, true))
	require.NoError(t, err)
	p.m.settle()
	require.NoError(t, poll(t, p.cq)[0].Err())

	q := p.m.qps[p.a.Number()]
	q.State, q.sqPI = abi.QPSQE, q.exec+1 // it never ends
	p.m.hold = true
	p.dev.Config.AdminTimeout = 30_000_000
	was = p.m.now
	require.ErrorIs(t, p.a.Modify(rts, abi.AttrState), driver.ErrBusy)
	require.Greater(t, p.m.now-was, int64(30_000_000))
	require.Less(t, p.m.now-was, int64(40_000_000))
	p.m.refuse = func(*abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) { return abi.AdminBusy, abi.SynObject }
	was = p.m.now
	require.ErrorIs(t, p.a.Modify(rts, abi.AttrState), driver.ErrBusy)
	require.Less(t, p.m.now-was, int64(5_000_000), "nothing to wait for")
	p.m.refuse = func(*abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
		return abi.AdminBadState, abi.SynDraining
	}
	was = p.m.now
	require.ErrorIs(t, p.a.Modify(rts, abi.AttrState), driver.ErrInvalid)
	require.Less(t, p.m.now-was, int64(5_000_000), "SQD that is not drained")
}

func TestAHRules(t *testing.T) {
	p := datagrams(t)
	good := driver.AHAttr{MAC: mac2, DGID: addr16("fe80::2")}
	invalid, unsupported := driver.ErrInvalid, driver.ErrNotSupported
	asked := p.m.ci
	for _, c := range []struct {
		says   string
		want   error
		change func(a *driver.AHAttr)
	}{
		{"GID 8, the device has 8", invalid, func(a *driver.AHAttr) { a.SGIDIndex = 8 }},
		{"GID -1, the device has 8", invalid, func(a *driver.AHAttr) { a.SGIDIndex = -1 }},
		{"own address, GID 2, is free", invalid, func(a *driver.AHAttr) { a.SGIDIndex = 2 }},
		{"DGID fe80::2 is IPv6, own GID 1, 10.0.0.1, is IPv4", invalid, func(a *driver.AHAttr) { a.SGIDIndex = 1 }},
		{"flow label 0x100000 ", invalid, func(a *driver.AHAttr) { a.FlowLabel = 1 << 20 }},
		{"UDP source port 0xbfff", invalid, func(a *driver.AHAttr) { a.UDPSPort = 0xbfff }},
		{"VLAN 4095 is reserved", invalid, func(a *driver.AHAttr) { a.VLANValid, a.VLAN = true, 0xafff }},
		{"MAC address missing", invalid, func(a *driver.AHAttr) { a.MAC = [6]byte{} }},
		{"MAC address 33 33 00 00 00 01: multicast", unsupported, func(a *driver.AHAttr) { a.MAC = [6]byte{0x33, 0x33, 5: 1} }},
		{"DGID: address ::", invalid, func(a *driver.AHAttr) { a.DGID = [16]byte{} }},
		{"DGID: address 0.0.0.0", invalid, func(a *driver.AHAttr) { a.DGID = addr16("0.0.0.0") }},
		{"DGID: address ff02::1: multicast", unsupported, func(a *driver.AHAttr) { a.DGID = addr16("ff02::1") }},
		{"DGID: address 224.0.0.1: multicast", unsupported, func(a *driver.AHAttr) { a.DGID = addr16("224.0.0.1") }},
		{"DGID: address 255.255.255.255: multicast", unsupported, func(a *driver.AHAttr) { a.DGID = addr16("255.255.255.255") }},
	} {
		bad := good
		c.change(&bad)
		_, err := p.pd.CreateAH(bad)
		require.ErrorIs(t, err, c.want, c.says)
		require.ErrorContains(t, err, c.says)
	}
	require.Equal(t, asked, p.m.ci, "the device is not asked")
	require.NoError(t, p.dev.SetGID(5, netip.MustParseAddr("10.9.8.7")))
	h := p.handle(t, driver.AHAttr{MAC: mac2, DGID: addr16("::ffff:10.0.0.2"), SGIDIndex: 5, VLANValid: true, VLAN: 0xb123, UDPSPort: 0xffff})
	require.Equal(t, abi.AV{
		DMAC: mac2, DGID: addr16("::ffff:10.0.0.2"), SGIDIndex: 5, VLANValid: true, VLAN: 0xb123, UDPSPort: 0xffff, HopLimit: 64,
	}, p.m.ahs[h.Number()].AV)

	pd, err := p.dev.AllocPD()
	require.NoError(t, err)
	var hs []*driver.AH
	for range 15 {
		h, err := pd.CreateAH(good)
		require.NoError(t, err)
		hs = append(hs, h)
	}
	_, err = pd.CreateAH(good)
	require.ErrorIs(t, err, driver.ErrNoMemory)
	require.ErrorIs(t, pd.Destroy(), driver.ErrBusy)
	for _, h := range hs {
		require.NoError(t, h.Destroy())
		require.ErrorIs(t, h.Destroy(), driver.ErrInvalid)
	}
	require.NoError(t, pd.Destroy())
	_, err = pd.CreateAH(good)
	require.ErrorIs(t, err, driver.ErrInvalid)
	require.NoError(t, p.dev.Close())
	require.Empty(t, p.m.ahs)
}
