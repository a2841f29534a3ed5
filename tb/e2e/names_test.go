package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// leaves marks a scene in which completions, or dead queues, are left.
var leaves = e2e.Options{Dirty: true, Driver: driver.Config{TimeUnit: 8}}

// TestHandleOfHeldDatagram: the number of a destroyed handle that a posted datagram names
// is nobody's until the datagram has failed.
func TestHandleOfHeldDatagram(t *testing.T) {
	s := e2e.New(t, leaves)
	p, o := s.Datagrams(driver.QPConfig{}), s.Datagrams(driver.QPConfig{})
	o.B.Recv(o.B.RecvWR(9, 0, 1000))
	old := s.A.AHTo(p.B)
	to(p.A, abi.QPSQD)
	p.A.Send(p.A.Datagram(1, 0, 100, old, p.B))
	s.A.Must(old.Destroy)
	made := 0
	s.A.Do(func() {
		e := o.B.QP.Endpoint()
		for ; ; made++ {
			h, err := s.A.PD.CreateAH(driver.AHAttr{MAC: e.MAC, DGID: e.GID})
			if err != nil || h.Number() == old.Number() {
				break
			}
		}
	})
	require.EqualValues(t, s.A.Dev.Attr.MaxAH-1, made, "all but the one")
	to(p.A, abi.QPRTS)
	p.A.Sent(e2e.All(abi.StatusLocQPOp, 1)...)
	require.Equal(t, old.Number(), s.A.AHTo(o.B).Number())
	require.Empty(t, s.B.Poll(o.B.RCQ))
}

// TestKeyOfHeldWorkRequest: a BIND_MW or FAST_REG of an object that is no more changes no
// other one.
func TestKeyOfHeldWorkRequest(t *testing.T) {
	const many = 1 << 20
	for _, kind := range []abi.KeyKind{abi.KeyWindow1, abi.KeyWindow2, abi.KeyFastReg} {
		t.Run(kind.String(), func(t *testing.T) {
			g := newGlass(t, abi.QPTypeRC)
			pd := g.s.B.PD
			var key abi.Key
			var again func() (abi.Key, error)
			to(g.B, abi.QPSQD)
			if kind == abi.KeyFastReg {
				wr := g.fast(1)(0, 4096, all)
				wr.Signaled = true
				g.B.Send(wr)
				m := wr.FastReg.MR
				key = m.RKey
				g.s.B.Must(m.Dereg)
				again = func() (abi.Key, error) {
					m, err := pd.AllocFastMR(1)
					if err != nil {
						return 0, err
					}
					return m.RKey, nil
				}
			} else {
				w := g.window(kind)
				g.bind(g.B, 2, w, g.at(0, 4096, remoteAll))
				key = w.RKey
				g.s.B.Must(w.Dealloc)
				again = func() (abi.Key, error) {
					w, err := pd.AllocMW(kind)
					if err != nil {
						return 0, err
					}
					return w.RKey, nil
				}
			}
			reused := false
			g.s.B.Do(func() {
				for range many {
					k, err := again()
					if reused = err == nil && k.Index() == key.Index(); reused || err != nil {
						break
					}
				}
			})
			require.False(t, reused)
			to(g.B, abi.QPRTS)
			g.B.Sent(e2e.All(abi.StatusMWBind, 2)...)
			if kind == abi.KeyFastReg {
				g.s.B.Must(func() (err error) { _, err = pd.RegMR(g.s.B.Buf, 0); return err })
			} else {
				g.s.B.Must(func() (err error) { key, err = again(); return err })
			}
			g.anew()
		})
	}
}
