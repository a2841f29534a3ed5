package e2e

import (
	"errors"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
)

var errFCS = errors.New("bad FCS")

// Counters reads all counters of the device.
func (d *Side) Counters() (v [abi.NumCounters]uint64) {
	d.scene.t.Helper()
	d.try(func() (err error) {
		for _, c := range abi.Counters() {
			if v[c], err = d.Dev.Counter(c); err != nil {
				return err
			}
		}
		return nil
	})
	return v
}

// Faults are the counters of the packet pipelines that tell of something wrong.
// With those of frames in both directions they are what a fault may move.
type Faults map[abi.Counter]uint64

// faultCounters are the counters that Faults has.
func faultCounters() (cs []abi.Counter) {
	for c := abi.RxDropOverflow; c <= abi.RespRemoteInvalidRequest; c++ {
		cs = append(cs, c)
	}
	return append(cs, abi.NaksSent, abi.RNRNaksSent, abi.CQOverruns, abi.DMAReadErrors)
}

// Faults are the counters of faults that are not 0.
func (d *Side) Faults() Faults {
	d.scene.t.Helper()
	v, f := d.Counters(), Faults{}
	for _, c := range faultCounters() {
		if v[c] != 0 {
			f[c] = v[c]
		}
	}
	return f
}

// Since is what has moved since an earlier look.
func (f Faults) Since(before Faults) Faults {
	d := Faults{}
	for c, v := range f {
		if v != before[c] {
			d[c] = v - before[c]
		}
	}
	return d
}

// demandCounters demands that the counters of frames agree with what the port saw.
// Frames that went round by the loop were sent and received, and nobody saw them: of
// those, both directions count the same.
func (d *Side) demandCounters() {
	t := d.scene.t
	t.Helper()
	want, got := d.framesSeen(), d.Counters()
	loops := got[abi.TxPackets] - want[abi.TxPackets]
	if !d.Loops {
		require.Zero(t, loops, "%s: %d of %d frames sent were not on the wire", d.K.Name(), int64(loops), got[abi.TxPackets])
	}
	require.Equal(t, want[abi.RxPackets]+loops, got[abi.RxPackets], "%s: %v", d.K.Name(), abi.RxPackets)
	require.Equal(t, want[abi.RxBytes]-want[abi.TxBytes], got[abi.RxBytes]-got[abi.TxBytes], "%s: bytes", d.K.Name())
	for _, c := range []abi.Counter{abi.TxBytes, abi.AcksSent, abi.NaksSent, abi.RNRNaksSent, abi.RawTxFrames} {
		if loops == 0 && !(d.Loops && c == abi.RawTxFrames) {
			require.Equal(t, want[c], got[c], "%s: %v", d.K.Name(), c)
		}
		require.GreaterOrEqual(t, got[c], want[c], "%s: %v", d.K.Name(), c)
	}
}

// framesSeen is what the counters of frames must be at least.
func (d *Side) framesSeen() map[abi.Counter]uint64 {
	want := map[abi.Counter]uint64{}
	for i := range d.Seen {
		f := &d.Seen[i]
		if f.Tx && f.Err != nil {
			want[abi.RawTxFrames]++
			continue
		}
		if !f.Tx && !f.counted(d) {
			continue
		}
		n, bytes := abi.RxPackets, abi.RxBytes
		if f.Tx {
			n, bytes = abi.TxPackets, abi.TxBytes
		}
		want[n]++
		want[bytes] += uint64(f.Len)
		if f.Tx && f.BTH.Opcode == roce.RCAck {
			switch f.AETH.Syndrome.Kind() {
			case roce.KindACK:
				want[abi.AcksSent]++
			case roce.KindRNR:
				want[abi.RNRNaksSent]++
			default:
				want[abi.NaksSent]++
			}
		}
	}
	return want
}

// counted tells whether a frame that arrived counts as a RoCE frame, good or not:
// it has a good FCS, is for this station, and is whole UDP to port 4791.
func (f *Seen) counted(d *Side) bool {
	var drop roce.Drop
	longest := maxFrame
	if f.Tagged {
		longest += roce.VLANSize
	}
	switch {
	case f.Eth.Dst != roce.HostMAC(uint8(d.Index)), f.Len > longest:
		return false
	case errors.As(f.Err, &drop):
		return drop >= roce.DropUDPLength
	}
	return f.Err == nil
}

// maxFrame is the longest frame of any MTU, bytes without FCS and tag: the MAC takes
// what is longer for a bad one.
const maxFrame = 14 + 40 + 8 + 40 + 4096 + 4

// demandFrames demands of each frame that the side has sent what holds for all.
func (d *Side) demandFrames() {
	t := d.scene.t
	t.Helper()
	for i := range d.Seen {
		f := &d.Seen[i]
		if !f.Tx {
			continue
		}
		if !d.Raw {
			require.Equal(t, roce.HostMAC(uint8(d.Index)), f.Eth.Src)
		}
		if d.Raw && f.Err != nil {
			continue // what it likes
		}
		require.NoError(t, f.Err)
		require.NotEqual(t, f.Eth.Src, f.Eth.Dst, "a frame that should have gone round")
		b := &f.BTH
		require.True(t, b.MigReq && !b.FECN && !b.BECN, "%+v", b)
		require.Equal(t, roce.DefaultPKey, b.PKey)
		require.Equal(t, roce.PadCnt(len(f.Payload)), b.PadCnt)
		require.Equal(t, [3]byte{}, f.Pad)
		require.False(t, b.AckReq && b.Opcode.IsResponse())
		require.False(t, b.SE && !b.Opcode.Ends())
		rc := b.Opcode.Transport() == roce.RC
		require.True(t, b.AckReq || !rc || !b.Opcode.IsRequest() || !b.Opcode.Ends(), "no AckReq at the end of a message")
		require.False(t, b.AckReq && !rc, "AckReq, and nobody answers")
		require.True(t, f.V6 || f.IP4.DF)
		require.Zero(t, f.UDP.Checksum)
		require.GreaterOrEqual(t, f.UDP.SrcPort, uint16(0xc000))
		require.GreaterOrEqual(t, f.Len, roce.MinFrame)
		require.Equal(t, max(0, roce.MinFrame-(f.Len-len(f.Trailer))), len(f.Trailer))
		require.False(t, f.Tagged && f.VLAN.DEI)
	}
}
