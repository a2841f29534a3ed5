package abi

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/bits"
)

// FuzzDecode gives any bytes to every decoder. Too few are an error and change
// nothing; else decode, encode, decode is the first result, and the encoding
// differs from the input in reserved bits only.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add(make([]byte, MailboxSize))
	ones := make([]byte, MailboxSize)
	for i := range ones {
		ones[i] = 0xff
	}
	f.Add(ones)
	f.Add(ones[:63])
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, MSIXEntryLayout, b)
		roundTrip(t, DoorbellLayout, b)
		roundTrip(t, WQEControlLayout, b)
		roundTrip(t, RemoteSegmentLayout, b)
		roundTrip(t, SGELayout, b)
		roundTrip(t, AtomicSegmentLayout, b)
		roundTrip(t, AHSegmentLayout, b)
		roundTrip(t, BindSegmentLayout, b)
		roundTrip(t, FastRegSegmentLayout, b)
		roundTrip(t, WQELayout, b)
		roundTrip(t, WQEInlineLayout, b)
		roundTrip(t, WQEAtomicLayout, b)
		roundTrip(t, WQESGEsLayout, b)
		roundTrip(t, WQEUDLayout, b)
		roundTrip(t, WQEBindLayout, b)
		roundTrip(t, WQEFastRegLayout, b)
		roundTrip(t, RWQEControlLayout, b)
		roundTrip(t, CQELayout, b)
		roundTrip(t, EventLayout, b)
		roundTrip(t, AdminCommandLayout, b)
		roundTrip(t, AdminCompletionLayout, b)
		roundTrip(t, DeviceMailboxLayout, b)
		roundTrip(t, EQMailboxLayout, b)
		roundTrip(t, CQMailboxLayout, b)
		roundTrip(t, MRMailboxLayout, b)
		roundTrip(t, AVLayout, b)
		roundTrip(t, QPMailboxLayout, b)
		roundTrip(t, AHMailboxLayout, b)
		roundTrip(t, SRQMailboxLayout, b)
	})
}

func roundTrip[T comparable](t *testing.T, l *bits.Layout[T], b []byte) {
	var v, zero T
	if len(b) < l.Size {
		require.ErrorIs(t, l.Decode(b, &v), bits.ErrShort)
		require.Equal(t, zero, v)
		return
	}
	require.NoError(t, l.Decode(b, &v))
	require.NoError(t, l.Check(&v))
	out := make([]byte, l.Size)
	l.Encode(&v, out)
	var again T
	require.NoError(t, l.Decode(out, &again))
	require.True(t, v == again, "%s: %+v is not %+v", l.Name, again, v)
	defined := make([]byte, l.Size)
	for _, f := range l.Fields() {
		for bit := f.BitOffset; !f.Reserved && bit < f.BitOffset+f.Width; bit++ {
			defined[bit/8] |= 1 << (bit % 8)
		}
	}
	for i := range out {
		if out[i] != b[i]&defined[i] {
			t.Fatalf("%s byte %d: %#x, not %#x", l.Name, i, out[i], b[i]&defined[i])
		}
	}
}

// FuzzRegisters: reading and writing any register at any place never fails,
// and reserved bits stay 0.
func FuzzRegisters(f *testing.F) {
	f.Add(uint32(0), uint64(0))
	f.Add(uint32(BARSize-1), ^uint64(0))
	f.Add(uint32(RegCtrl), uint64(3))
	f.Fuzz(func(t *testing.T, off uint32, w uint64) {
		r, page, rel := Locate(off)
		if r == RegionDoorbell || r == RegionPush {
			require.Equal(t, off, DoorbellAddr(page)+map[Region]uint32{RegionPush: PushOffset}[r]+rel)
		}
		if reg := RegisterAt(off); reg != nil {
			require.Equal(t, RegionGlobal, r)
		}
		d := UnpackDoorbell(w)
		require.Equal(t, d, UnpackDoorbell(d.Pack()))
		s := RegFields(StatusLayout, uint32(w))
		require.Equal(t, uint32(w)&0x17, RegWord(StatusLayout, s))
		_, _, _ = Transition(QPType(w), QPState(w>>8), QPState(w>>16))
		for _, e := range Enums() {
			require.NotEmpty(t, e.text(uint32(w)))
		}
	})
}
