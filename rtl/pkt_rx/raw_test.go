package pktrx_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	pktrx "rnic/rtl/pkt_rx"
	"rnic/rtl/port"
)

const rawQPN port.QPN = 0xABCDE

// withTag is a frame with an 802.1Q tag.
func withTag(f []byte, tci uint16) []byte {
	w := binary.BigEndian.AppendUint16(append(append([]byte{}, f[:12]...), 0x81, 0), tci)
	return append(w, f[12:]...)
}

// foreign is a frame of a type that is not IP.
func foreign(n int) []byte {
	f := make([]byte, n)
	for i := range f {
		f[i] = byte(i*11 + n)
	}
	copy(f, own[:])
	copy(f[12:], "\x88\xb5")
	return f
}

// Frames that are not RoCE, of each length, come whole, with their tag beside them.
func TestRawLengths(t *testing.T) {
	var frames [][]byte
	for n := 14; n <= 300; n++ {
		frames = append(frames, foreign(n), frame(roce.RCSendOnly, n&1 != 0, n), withTag(foreign(n), uint16(n*515)))
	}
	for n := 4080; n <= 4110; n++ {
		frames = append(frames, foreign(n))
	}
	for _, s := range []setup{{mac: true, raw: rawQPN}, {raw: rawQPN}, {raw: rawQPN, throttle: 1, params: pktrx.Params{LogBeats: 9}, depth: 1024}} {
		got := run(t, s, frames)
		if s.throttle == 0 {
			compare(t, got, s, frames)
			require.Equal(t, uint64(2*287+17), got.Stats.RawFrames)
			require.Equal(t, uint64(14), got.Stats.DropNotRoCE, "too long")
		}
	}
}

// What is raw and what is not, with a raw QP and without.
func TestRawOrNot(t *testing.T) {
	change := func(v6 bool, f func(f []byte)) []byte {
		x := frame(roce.RCSendOnly, v6, 100)
		f(x)
		return x
	}
	options := func(kind byte) []byte { // an IPv4 header of 24 bytes before UDP
		x := frame(roce.RCSendOnly, false, 100)
		x = append(append(append([]byte{}, x[:34]...), kind, 4, 0, 0), x[34:]...)
		x[14] = 0x46
		return x
	}
	for _, c := range []struct {
		name  string
		raw   bool
		frame []byte
	}{
		{"broadcast", true, change(false, func(f []byte) { copy(f, "\xff\xff\xff\xff\xff\xff") })},
		{"multicast", true, change(true, func(f []byte) { f[0] = 0x33 })},
		{"another address", false, change(false, func(f []byte) { f[5]++ })},
		{"ARP", true, change(false, func(f []byte) { f[13] = 6 })},
		{"ICMP", true, change(false, func(f []byte) { f[23] = 1; seal(f) })},
		{"TCP over IPv6", true, change(true, func(f []byte) { f[20] = 6 })},
		{"another port", true, change(false, func(f []byte) { f[37]++ })},
		{"another port over IPv6", true, change(true, func(f []byte) { f[57]++ })},
		{"another port, wrong header checksum", true, change(false, func(f []byte) { f[37]++; f[24]++ })},
		{"options before another port", true, func() []byte { f := options(1); f[41]++; return f }()},
		{"options before the port", false, options(1)},
		{"options claimed", false, change(false, func(f []byte) { f[14] = 0x46 })},
		{"first fragment", false, change(false, func(f []byte) { f[20] = 0x20; seal(f) })},
		{"later fragment", true, change(false, func(f []byte) { f[21] = 1; seal(f) })},
		{"later fragment, far", true, change(false, func(f []byte) { f[20] = 0x30; f[21] = 0; seal(f) })},
		{"header checksum", false, change(false, func(f []byte) { f[24]++ })},
		{"version", false, change(true, func(f []byte) { f[14] = 0x70 })},
		{"length", false, change(false, func(f []byte) { f[16] = 9; seal(f) })},
		{"UDP length", false, change(false, func(f []byte) { f[39]--; seal(f) })},
		{"ICRC", false, change(true, func(f []byte) { f[80]++ })},
		{"CNP", false, frame(roce.CNP, false, 16)},
	} {
		t.Run(c.name, func(t *testing.T) {
			frames := [][]byte{c.frame, frame(roce.RCSendOnly, false, 9), withTag(c.frame, 3)}
			for _, raw := range []port.QPN{0, rawQPN} {
				s := setup{mac: true, raw: raw}
				got := run(t, s, frames)
				compare(t, got, s, frames)
				want := uint64(0)
				if c.raw && raw != 0 {
					want = 2
				}
				require.Equal(t, want, got.Stats.RawFrames)
			}
		})
	}
}

// A short frame whose lanes still hold the port of an older one is not RoCE.
func TestRawLooksAtNoStaleLanes(t *testing.T) {
	in := beats(frame(roce.RCSendOnly, true, 0))
	short := beats(frame(roce.RCSendOnly, true, 0)[:56])[0]
	short.Data = in[0].Data
	got := runBeats(t, setup{raw: rawQPN}, []port.EthBeat{in[0], in[1], short})
	require.Equal(t, uint64(1), got.Stats.RawFrames)
	require.Equal(t, uint16(56), got.Got[1].Pkt.Len)
}

// A wrong FCS or no room is no raw frame.
func TestRawIsDropped(t *testing.T) {
	bad := wire(foreign(200))
	bad[50]++
	got := runBeats(t, setup{mac: true, raw: rawQPN}, beats(bad))
	require.Equal(t, port.RxStats{DropFCS: 1}, got.Stats)
	var frames [][]byte
	for range 10 {
		frames = append(frames, foreign(4096))
	}
	got = run(t, setup{raw: rawQPN, params: pktrx.Params{LogBeats: 7}, from: 1000}, frames)
	require.Equal(t, port.RxStats{RawFrames: 2, DropOverflow: 8}, got.Stats)
	require.Empty(t, run(t, setup{raw: rawQPN, off: true}, frames).Got)
}

// A tag is told of RoCE packets, and counts in their bytes.
func TestTaggedPacket(t *testing.T) {
	var frames [][]byte
	bytes := uint64(0)
	for n := range 140 {
		p := sample(roce.UDSendOnlyImm, n&1 != 0, n)
		p.Tagged, p.VLAN = true, roce.VLAN{PCP: uint8(n), DEI: n&2 != 0, VID: uint16(n * 29)}
		frames = append(frames, p.Append(nil))
		bytes += uint64(p.Size())
	}
	s := setup{mac: true}
	got := run(t, s, frames)
	compare(t, got, s, frames)
	require.Equal(t, port.RxStats{RxPackets: 140, RxBytes: bytes}, got.Stats)
}
