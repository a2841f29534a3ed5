package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// What is nil, and must not be, is refused like any other wrong argument.
func TestNil(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4, MaxFastRegPages: 1})
	w, err := p.pd.AllocMW(abi.KeyWindow1)
	require.NoError(t, err)
	send := func(wr driver.SendWR) error { _, err := p.a.PostSend(wr); return err }
	for name, call := range map[string]func() error{
		"Open":           func() error { _, err := driver.Open(nil, driver.Config{MAC: mac2}); return err },
		"AHAttrFromWC":   func() error { _, err := p.dev.AHAttrFromWC(nil, nil); return err },
		"CreateAHFromWC": func() error { _, err := p.pd.CreateAHFromWC(nil, nil, mac2); return err },
		"MW.Bind":        func() error { return w.Bind(nil, driver.BindWR{}) },
		"RegMR":          func() error { _, err := p.pd.RegMR(nil, 0); return err },
		"RegMRRange":     func() error { _, err := p.pd.RegMRRange(nil, 0, 0, 0); return err },
		"CreateQP":       func() error { _, err := p.pd.CreateQP(driver.QPConfig{}); return err },
		"BIND_MW":        func() error { return send(driver.SendWR{Op: abi.OpBindMW}) },
		"BIND_MW, no MW": func() error { return send(driver.SendWR{Op: abi.OpBindMW, Bind: &driver.Bind{}}) },
		"FAST_REG":       func() error { return send(driver.SendWR{Op: abi.OpFastReg}) },
		"FAST_REG, no MR": func() error {
			return send(driver.SendWR{Op: abi.OpFastReg, FastReg: &driver.FastReg{}})
		},
		"Wait": func() error { _, err := p.cq.Wait(nil, 0); return err },
	} {
		require.ErrorIs(t, call(), driver.ErrInvalid, name)
	}
	n, err := p.cq.Poll(nil)
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, p.dev.SetRawQP(nil), "none")
}

// On a closed device every object refuses to be destroyed, or used.
func TestObjectsOfClosedDevice(t *testing.T) {
	p := connected(t, driver.Config{}, driver.QPConfig{MaxSend: 4})
	empty, err := p.dev.AllocPD()
	require.NoError(t, err)
	w, err := p.pd.AllocMW(abi.KeyWindow1)
	require.NoError(t, err)
	h, err := p.pd.CreateAH(driver.AHAttr{MAC: mac2, DGID: addr16("10.0.0.2")})
	require.NoError(t, err)
	require.Equal(t, []any{w.RKey, abi.KeyWindow1, abi.QPTypeRC}, []any{w.Key(), w.Kind(), p.a.Type()})
	require.NoError(t, p.dev.Close())
	for name, call := range map[string]func() error{
		"PD": p.pd.Destroy, "empty PD": empty.Destroy, "QP": p.a.Destroy, "CQ": p.cq.Destroy, "MR": p.mr.Dereg, "MW": w.Dealloc, "AH": h.Destroy,
		"buffer": p.buf.Free, "device": p.dev.Close,
	} {
		require.ErrorIs(t, call(), driver.ErrInvalid, name)
	}
}
