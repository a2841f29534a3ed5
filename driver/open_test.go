package driver_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

func TestOpenSetsTheDeviceUp(t *testing.T) {
	m := newMachine()
	d, err := driver.Open(m.bus(), driver.Config{
		MAC: [6]byte{2, 0, 0, 0, 0, 7}, IPv4: [4]byte{10, 0, 0, 7}, GID: [16]byte{0xfe, 0x80, 15: 7},
		MTU: abi.MTU2048, TimeUnit: 8, Vectors: 2, PKey: 0x8001,
	})
	require.NoError(t, err)
	want := map[uint32]uint32{
		abi.RegPortMACHi: 0x0200, abi.RegPortMACLo: 7, abi.RegPortIPv4: 0x0a000007, abi.RegPortMTU: 4,
		abi.RegPortGID0: 0xfe800000, abi.RegPortGID0 + 4: 0, abi.RegPortGID0 + 12: 7, abi.RegTimeUnit: 8, abi.RegPortPKey: 0x8001,
	}
	for off, v := range want {
		require.Equal(t, v, m.reg[off/4], "register %#x", off)
	}
	require.Len(t, m.eqs, 3)
	for n, q := range m.eqs {
		require.True(t, q.armed)
		require.Equal(t, uint8(n), q.Vector)
		require.Equal(t, abi.MSIXEntry{AddrLo: 0xfee00000, Data: n}, m.vectors[n])
	}
	require.True(t, m.vectors[3].Masked)
	require.Equal(t, m.limit, d.Attr)
	require.Equal(t, m.limit.MaxQP, d.Attr.MaxQP)
	require.NoError(t, d.Close())
	require.False(t, m.status.AdminEnabled)
	require.Empty(t, m.dma)
	require.Empty(t, m.faults)
}

func TestOpenDefaults(t *testing.T) {
	m, d := start(t, driver.Config{})
	require.EqualValues(t, abi.MTU4096, m.reg[abi.RegPortMTU/4])
	require.EqualValues(t, 1024, m.reg[abi.RegTimeUnit/4])
	require.EqualValues(t, 0xffff, m.reg[abi.RegPortPKey/4])
	require.EqualValues(t, 50_000, d.Config.PostCost)
	require.EqualValues(t, 30_000, d.Config.PollCost)
}

func TestOpenRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(m *machine)
		cfg   driver.Config
		want  error
	}{
		"another device":       {func(m *machine) { m.reg[abi.RegID/4]++ }, driver.Config{}, driver.ErrNoDevice},
		"another interface":    {func(m *machine) { m.reg[abi.RegVersion/4] = 2 << 16 }, driver.Config{}, driver.ErrNoDevice},
		"not ready":            {func(m *machine) { m.status.Ready = false }, driver.Config{}, driver.ErrTimeout},
		"too many vectors":     {nil, driver.Config{Vectors: 16}, driver.ErrInvalid},
		"negative vectors":     {nil, driver.Config{Vectors: -1}, driver.ErrInvalid},
		"MTU that is none":     {nil, driver.Config{MTU: 6}, driver.ErrInvalid},
		"no memory":            {func(m *machine) { m.noMem = true }, driver.Config{}, driver.ErrNoMemory},
		"silent":               {func(m *machine) { m.mute = true }, driver.Config{}, driver.ErrTimeout},
		"left-over objects":    {func(m *machine) { m.refuse = exists }, driver.Config{}, driver.ErrExists},
		"limits beyond belief": {func(m *machine) { m.limit.MaxQP = 1 << 31 }, driver.Config{}, driver.ErrDevice},
		"wrong completion":     {func(m *machine) { m.twist = func(e *abi.AdminCompletion) { e.ID++ } }, driver.Config{}, driver.ErrDevice},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine()
			if c.spoil != nil {
				c.spoil(m)
			}
			c.cfg.MAC = mac2
			_, err := driver.Open(m.bus(), c.cfg)
			require.ErrorIs(t, err, c.want)
			require.False(t, m.status.AdminEnabled && len(m.events) == 0)
			require.Empty(t, m.faults)
		})
	}
}

func exists(c *abi.AdminCommand) (abi.AdminStatus, abi.AdminSyndrome) {
	if c.Op == abi.AdminCreateEQ {
		return abi.AdminExists, abi.SynObject
	}
	return abi.AdminOK, 0
}

func TestOpenStopsADeviceLeftRunning(t *testing.T) {
	m := newMachine()
	m.status.AdminEnabled = true
	m.reg[abi.RegAdminDoorbell/4] = 77
	_, err := driver.Open(m.bus(), driver.Config{MAC: [6]byte{2, 5: 1}, IPv4: [4]byte{10, 0, 0, 1}})
	require.NoError(t, err)
	require.True(t, m.status.AdminEnabled)
	require.Empty(t, m.faults)
}

func TestOpenAgainAfterClose(t *testing.T) {
	m := newMachine()
	for range 3 {
		d, err := driver.Open(m.bus(), driver.Config{MAC: [6]byte{2, 5: 1}, IPv4: [4]byte{10, 0, 0, 1}})
		require.NoError(t, err)
		_, err = d.CreateCQ(3, driver.CQOptions{})
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
	require.Empty(t, m.dma)
	require.Empty(t, m.faults)
}

func TestCloseDestroysAll(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxRecv: 4, MaxRecvSGE: 1})
	_, err := p.dev.AllocContiguous(1<<20, 1<<16)
	require.NoError(t, err)
	_, err = p.b.PostRecv(driver.RecvWR{SGEs: []driver.SGE{p.mr.SGE(0, 10)}})
	require.NoError(t, err)
	require.NoError(t, p.dev.Close())
	require.Empty(t, p.m.dma)
	require.Empty(t, p.m.pages)
	require.Empty(t, p.m.qps)
	require.Empty(t, p.m.cqs)
	require.Empty(t, p.m.mrs)
	require.Empty(t, p.m.eqs)

	require.ErrorIs(t, p.dev.Close(), driver.ErrInvalid)
	_, err = p.dev.AllocPD()
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = p.dev.CreateCQ(1, driver.CQOptions{})
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = p.dev.AllocBuffer(1, 0)
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = p.a.PostSend(nop(1, true))
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = p.cq.Poll(make([]driver.WC, 1))
	require.ErrorIs(t, err, syscall.EINVAL)
}

func TestCounters(t *testing.T) {
	m, d := start(t, driver.Config{})
	v, err := d.Counter(abi.RxBytes)
	require.NoError(t, err)
	require.EqualValues(t, 0x101c<<32|0x1018, v) // the fake answers with the offset
	m.reg[abi.RegCyclesLo/4], m.reg[abi.RegCyclesHi/4] = 5, 6
	v, err = d.Cycles()
	require.NoError(t, err)
	require.EqualValues(t, 6<<32|5, v)
	_, err = d.Counter(abi.NumCounters)
	require.ErrorIs(t, err, driver.ErrInvalid)
}

// The latch of the high word is one for all threads.
func TestCountersOfThreads(t *testing.T) {
	m, d := start(t, driver.Config{})
	m.watchLatch = true
	for i := range 4 {
		m.spawn(func(b *bus) {
			dev := d.On(b)
			for k := range 5 {
				c := abi.Counter(5*i + k)
				v, err := dev.Counter(c)
				require.NoError(t, err)
				off := uint64(abi.CounterAddr(c))
				require.Equal(t, (off+4)<<32|off, v)
			}
		})
	}
	require.True(t, m.run())
}

// What no device could work with is refused before one is touched.
func TestOpenRefusesConfig(t *testing.T) {
	good := driver.Config{MAC: mac2, IPv4: [4]byte{10, 0, 0, 1}, GID: addr16("fe80::1"), PKey: 0x8001}
	for name, c := range map[string]struct {
		change func(c *driver.Config)
		says   string
	}{
		"no MAC":             {func(c *driver.Config) { c.MAC = [6]byte{} }, "MAC"},
		"MAC of a group":     {func(c *driver.Config) { c.MAC[0] = 3 }, "MAC"},
		"IPv4 GID":           {func(c *driver.Config) { c.GID = addr16("::ffff:10.0.0.1") }, "IPv4"},
		"IPv6 group":         {func(c *driver.Config) { c.GID = addr16("ff02::1") }, "multicast"},
		"IPv4 group":         {func(c *driver.Config) { c.IPv4 = [4]byte{224, 0, 0, 1} }, "multicast"},
		"IPv4 broadcast":     {func(c *driver.Config) { c.IPv4 = [4]byte{255, 255, 255, 255} }, "255.255.255.255"},
		"P_Key":              {func(c *driver.Config) { c.PKey = 0x8000 }, "P_Key 0x8000"},
		"MSI-X address":      {func(c *driver.Config) { c.MSIXAddress = 0xfee00002 }, "MSI-X"},
		"negative timeout":   {func(c *driver.Config) { c.AdminTimeout = -1 }, "AdminTimeout"},
		"negative post cost": {func(c *driver.Config) { c.PostCost = -1 }, "PostCost"},
		"negative poll cost": {func(c *driver.Config) { c.PollCost = -1 }, "PollCost"},
	} {
		m := newMachine()
		bad := good
		c.change(&bad)
		_, err := driver.Open(m.bus(), bad)
		require.ErrorIs(t, err, driver.ErrInvalid, name)
		require.ErrorContains(t, err, c.says, name)
		require.Zero(t, m.reads+len(m.writes), name)
	}
	_, err := driver.Open(newMachine().bus(), good)
	require.NoError(t, err)
}
