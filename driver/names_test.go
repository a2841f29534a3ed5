package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// namer is a kind of object whose number work requests name.
type namer struct {
	p    *pair
	make func() (number uint32, destroy func() error, post func() error, err error)
}

// namers are the kinds, each with nothing made but what is needed.
func namers(t *testing.T) map[string]*namer {
	keys := func() *pair { return connected(t, driver.Config{}, driver.QPConfig{MaxSend: 16, MaxFastRegPages: 1}) }
	u, w1, w2, f := datagrams(t), keys(), keys(), keys()
	send := func(p *pair, w driver.SendWR) error {
		_, err := p.a.PostSend(w)
		return err
	}
	return map[string]*namer{
		"AH": {u, func() (uint32, func() error, func() error, error) {
			h, err := u.pd.CreateAH(driver.AHAttr{MAC: mac2, DGID: addr16("fe80::1")})
			if err != nil {
				return 0, nil, nil, err
			}
			return h.Number(), h.Destroy, func() error { return send(u, driver.SendWR{Op: abi.OpSend, AH: h}) }, nil
		}},
		"window of type 1": {w1, func() (uint32, func() error, func() error, error) {
			w, err := w1.pd.AllocMW(abi.KeyWindow1)
			if err != nil {
				return 0, nil, nil, err
			}
			return w.RKey.Index(), w.Dealloc, func() error { return w.Bind(w1.a, driver.BindWR{}) }, nil
		}},
		"window of type 2": {w2, func() (uint32, func() error, func() error, error) {
			w, err := w2.pd.AllocMW(abi.KeyWindow2)
			if err != nil {
				return 0, nil, nil, err
			}
			return w.RKey.Index(), w.Dealloc, func() error {
				return send(w2, driver.SendWR{Op: abi.OpBindMW, Bind: &driver.Bind{MW: w, RKey: w.RKey + 1}})
			}, nil
		}},
		"region for FAST_REG": {f, func() (uint32, func() error, func() error, error) {
			m, err := f.pd.AllocFastMR(1)
			if err != nil {
				return 0, nil, nil, err
			}
			return m.RKey.Index(), m.Dereg, func() error {
				return send(f, driver.SendWR{Op: abi.OpFastReg, FastReg: &driver.FastReg{MR: m, Length: 1, Pages: f.buf.Pages()[:1]}})
			}, nil
		}},
	}
}

// fill makes objects until there is no number left.
func (n *namer) fill(t *testing.T) (made []uint32) {
	for {
		v, _, _, err := n.make()
		if err != nil {
			require.ErrorIs(t, err, driver.ErrNoMemory)
			return made
		}
		made = append(made, v)
	}
}

// A number that was given up is not handed out while a work request names it that may
// still be begun: until it is done, known by a completion or by asking the device, or
// forgotten.
func TestNumbersRestWhileNamed(t *testing.T) {
	for how, end := range map[string]func(p *pair){
		"done, not polled": func(p *pair) { p.m.release(); p.m.settle() },
		"polled": func(p *pair) {
			p.m.release()
			p.m.settle()
			poll(t, p.cq)
		},
		"reset":     func(p *pair) { require.NoError(t, p.a.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState)) },
		"destroyed": func(p *pair) { require.NoError(t, p.a.Destroy()) },
	} {
		for name, n := range namers(t) {
			name = name + ", " + how
			n.p.m.hold = true
			_, err := n.p.a.PostSend(nop(1, false))
			require.NoError(t, err)
			v, destroy, post, err := n.make()
			require.NoError(t, err, name)
			require.NoError(t, post(), name)
			require.NoError(t, destroy(), name)
			require.NotContains(t, n.fill(t), v, name)
			require.Empty(t, n.fill(t), name)
			end(n.p)
			require.Equal(t, []uint32{v}, n.fill(t), name)
			require.NoError(t, n.p.dev.Close(), name)
		}
	}
}

// What is not named is free at once, and a work request names a number in its own life
// only.
func TestNumbersThatNobodyNames(t *testing.T) {
	for name, n := range namers(t) {
		for range 40 {
			v, destroy, post, err := n.make()
			require.NoError(t, err, name)
			rest := n.fill(t)
			require.NotContains(t, rest, v)
			require.NoError(t, post(), name)
			n.p.m.settle()
			n.p.m.hold = true
			_, err = n.p.a.PostSend(nop(1, true))
			require.NoError(t, err)
			require.NoError(t, destroy(), name)
			got, destroy, _, err := n.make()
			require.NoError(t, err, name)
			require.Equal(t, v, got, name)
			require.NoError(t, destroy())
			n.p.m.release()
			n.p.m.settle()
			poll(t, n.p.cq)
			require.NoError(t, n.p.a.Modify(driver.QPAttr{State: abi.QPReset}, abi.AttrState))
			if name == "AH" {
				require.NoError(t, n.p.a.Start(1))
			} else {
				require.NoError(t, n.p.a.Connect(n.p.b.Endpoint(), driver.ConnectOptions{}))
			}
		}
	}
}
