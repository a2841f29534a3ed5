package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

// FuzzSRQCompletions writes any bytes as CQEs of QPs with an SRQ, then ends the QP: what
// makes no sense is an error, never a panic, no work request completes twice, and none
// loses its place.
func FuzzSRQCompletions(f *testing.F) {
	good := abi.CQE{Index: 1, Opcode: abi.WCRecv, QPN: 5, Phase: true}
	b := make([]byte, abi.CQESize)
	abi.CQELayout.Encode(&good, b)
	f.Add(b, b, b, uint8(2))
	for _, change := range []func(e *abi.CQE){
		func(e *abi.CQE) { e.Index = 0 }, func(e *abi.CQE) { e.Index = 3 }, func(e *abi.CQE) { e.Index = 4 },
		func(e *abi.CQE) { e.Index = 0xffff }, func(e *abi.CQE) { e.Status = 99 }, func(e *abi.CQE) { e.Opcode = 200 },
		func(e *abi.CQE) { e.Opcode = abi.WCSend }, func(e *abi.CQE) { e.QPN = 4 },
	} {
		e := good
		change(&e)
		bad := make([]byte, abi.CQESize)
		abi.CQELayout.Encode(&e, bad)
		f.Add(bad, b, bad, uint8(3))
	}
	f.Fuzz(func(t *testing.T, x, y, z []byte, polls uint8) {
		s := sharing(t, 1, driver.SRQAttr{MaxRecv: 3, MaxSGE: 1})
		s.post(t, 3)
		c := s.m.cqs[s.cqs[0].Number()]
		for i, b := range [][]byte{x, y, z} {
			s.m.write(c.Base+uint64(i)*abi.CQESize, b[:min(len(b), abi.CQESize)])
		}
		seen := map[uint64]bool{}
		wcs := make([]driver.WC, 1)
		for range polls % 5 {
			n, err := s.cqs[0].Poll(wcs)
			if err != nil {
				require.ErrorIs(t, err, driver.ErrDevice)
			}
			for _, w := range wcs[:n] {
				require.True(t, w.ID >= 1000 && w.ID < 1003 && !seen[w.ID], "%+v", w)
				seen[w.ID] = true
			}
		}
		if err := s.to[0].Destroy(); err != nil {
			require.ErrorIs(t, err, driver.ErrDevice)
		}
		free := s.post(t, 99)
		require.True(t, free >= len(seen) && free <= 3)
		s.m.faults = nil // consumer indices of queues that the device did not write
	})
}
