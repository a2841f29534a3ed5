package roce

import (
	"testing"

	"rnic/bits"

	"github.com/stretchr/testify/require"
)

// seeds adds some frames of each capture, and cut ones.
func seeds(f *testing.F) {
	for _, path := range captures(f) {
		for i, frame := range capture(f, path) {
			if isRoCE(frame) && (i < 12 || i%40 == 0) {
				f.Add(frame)
			}
		}
	}
	f.Add([]byte{})
}

func FuzzParseFrame(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		p, err := ParseFrame(frame)
		if err != nil {
			require.IsType(t, DropNone, err)
			require.NotEqual(t, DropNone, err)
			return
		}
		again := p.Append(nil)
		require.Len(t, again, len(frame))
		q, err := ParseFrame(again)
		require.NoError(t, err)
		p.ICRC, q.ICRC = 0, 0 // reserved bits that came as 1 leave as 0
		p.IP4.Checksum, q.IP4.Checksum = 0, 0
		p.UDP.Checksum, q.UDP.Checksum = min(p.UDP.Checksum, 1), min(q.UDP.Checksum, 1)
		require.Equal(t, p, q)
		require.Equal(t, again, q.Append(nil))
	})
}

// FuzzPatchedFrame reaches behind the CRC: it puts ICRC and checksum right.
func FuzzPatchedFrame(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, frame []byte) {
		p, err := ParseFrame(frame)
		if err != DropICRC && err != nil {
			return
		}
		p.BTH.TVer = 0
		q, err := ParseFrame(p.Append(nil))
		require.NoError(t, err)
		require.Equal(t, p.BTH, q.BTH)
		require.Equal(t, p.Payload, q.Payload)
		require.Equal(t, p.RETH, q.RETH)
		require.Equal(t, p.AtomicETH, q.AtomicETH)
		require.Equal(t, p.AETH, q.AETH)
		require.Equal(t, p.DETH, q.DETH)
	})
}

// stable checks that decoding gives values in range, and that decoding what was
// encoded gives the same again.
func stable[T any](t *testing.T, l *bits.Layout[T], b []byte) {
	var v, w T
	if len(b) < l.Size {
		require.ErrorIs(t, l.Decode(b, &v), bits.ErrShort)
		return
	}
	require.NoError(t, l.Decode(b, &v))
	require.NoError(t, l.Check(&v))
	out := make([]byte, l.Size)
	l.Encode(&v, out)
	require.NoError(t, l.Decode(out, &w))
	require.Equal(t, v, w)
}

func FuzzHeaders(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		stable(t, EthernetLayout, b)
		stable(t, VLANLayout, b)
		stable(t, IPv4Layout, b)
		stable(t, IPv6Layout, b)
		stable(t, UDPLayout, b)
		stable(t, BTHLayout, b)
		stable(t, DETHLayout, b)
		stable(t, RETHLayout, b)
		stable(t, AtomicETHLayout, b)
		stable(t, AETHLayout, b)
		stable(t, AtomicAckETHLayout, b)
		stable(t, ImmDtLayout, b)
		stable(t, IETHLayout, b)
		MaskICRC(b)
	})
}
