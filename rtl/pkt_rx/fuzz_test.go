package pktrx_test

import (
	"testing"

	"pgregory.net/rapid"

	"rnic/roce"
	pktrx "rnic/rtl/pkt_rx"
	"rnic/rtl/port"
)

// Any bytes: no fault, no hang, and what comes out is what ParseFrame takes.
func FuzzFrame(f *testing.F) {
	for _, v6 := range []bool{false, true} {
		for _, op := range []roce.Opcode{roce.RCSendOnly, roce.RCAck, roce.RCWriteOnlyImm, roce.RCFetchAdd, roce.RCAtomicAck, roce.UDSendOnlyImm, roce.CNP, 0xFF} {
			f.Add(frame(op, v6, 21), uint16(0))
		}
	}
	f.Add([]byte{1}, uint16(3))
	f.Add(frame(roce.RCSendOnly, false, 300)[:100], uint16(77))
	f.Fuzz(func(t *testing.T, b []byte, at uint16) {
		if len(b) == 0 || len(b) > 9000 {
			return
		}
		mine := append([]byte{}, b...)
		copy(mine, own[:])
		broken := frame(roce.RCSendOnly, at&1 != 0, 80)
		copy(broken[6+int(at)%(len(broken)-6):], b)
		frames := [][]byte{b, mine, frame(roce.RCSendOnly, false, 10), broken, frame(roce.RCAck, true, 0)}
		for _, s := range []setup{{throttle: uint64(at)}, {raw: 0x123}} {
			compare(t, run(t, s, frames), s, frames)
		}
	})
}

// Frames with a few wrong bytes, in a stream of good ones.
func TestDamagedFrames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var frames [][]byte
		for range rapid.IntRange(1, 12).Draw(t, "frames") {
			f := frame(roce.Opcode(rapid.Uint8().Draw(t, "opcode")), rapid.Bool().Draw(t, "v6"), rapid.IntRange(0, 200).Draw(t, "payload"))
			for range rapid.IntRange(0, 3).Draw(t, "damages") {
				at := rapid.IntRange(12, min(70, len(f)-1)).Draw(t, "at")
				f[at] = rapid.Uint8().Draw(t, "byte")
			}
			if rapid.Bool().Draw(t, "seal") {
				seal(f)
			}
			if rapid.IntRange(0, 4).Draw(t, "tag") == 0 {
				f = withTag(f, rapid.Uint16().Draw(t, "tci"))
			}
			if rapid.IntRange(0, 9).Draw(t, "group") == 0 {
				f[0] |= 1
			}
			frames = append(frames, f[:rapid.SampledFrom([]int{len(f), len(f), len(f), len(f) / 2, 1 + len(f)/9}).Draw(t, "cut")])
		}
		s := setup{
			mac:      rapid.Bool().Draw(t, "mac"),
			raw:      port.QPN(rapid.Uint32Range(0, 1).Draw(t, "raw") * 0x123456),
			params:   pktrx.Params{LogBeats: rapid.Uint8Range(7, 11).Draw(t, "log_beats")},
			throttle: rapid.Uint64().Draw(t, "throttle"),
		}
		compare(t, run(t, s, frames), s, frames)
	})
}
