package ackgen_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	ackgen "rnic/rtl/ack_gen"
	"rnic/rtl/port"
)

// TestElements: a verdict makes the elements that it asks for, in order; the frame and
// the counter go with the last, and ordinary packets take a cycle each.
func TestElements(t *testing.T) {
	verdicts := []port.RxVerdict{
		{Action: port.RxPlace, Target: port.TargetRecv},
		{Action: port.RxPlace, Target: port.TargetRecv, GRH: true, Offset: 40, EndsWQE: true, TakesWQE: true},
		{Action: port.RxPlace, Target: port.TargetRecv, GRH: true, V6: true, Offset: 40},
		{Action: port.RxDrop, Drop: abi.OutOfSequence, HasBroken: true, Broken: 7, BrokenStatus: abi.StatusLocQPOp},
		{Action: port.RxPlace, GRH: true, HasBroken: true, Broken: 9},
		{Action: port.RxDrop, Drop: abi.RxDropBadQKey, GRH: true},
		{Action: port.RxPlace, Target: port.TargetRecv},
		{Action: port.RxPlace, Target: port.TargetRecv},
	}
	type element struct {
		pkt         int
		frame       bool
		broken, grh bool
		len, need   uint16
		addr        uint32
		offset      uint32
	}
	want := []element{
		{pkt: 0, frame: true, len: 5, addr: 100},
		{pkt: 1, grh: true, len: 20, need: 45, addr: 30, offset: 20},
		{pkt: 1, frame: true, len: 5, addr: 100, offset: 40},
		{pkt: 2, grh: true, len: 40, need: 45, addr: 30},
		{pkt: 2, frame: true, len: 5, addr: 100, offset: 40},
		{pkt: 3, broken: true},
		{pkt: 3, frame: true, len: 5, addr: 100},
		{pkt: 4, broken: true},
		{pkt: 4, grh: true, len: 20, need: 45, addr: 30, offset: 20},
		{pkt: 4, frame: true, len: 5, addr: 100},
		{pkt: 5, frame: true, len: 5, addr: 100},
		{pkt: 6, frame: true, len: 5, addr: 100},
		{pkt: 7, frame: true, len: 5, addr: 100},
	}
	hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []port.Place) {
		b := newBench(t, ackgen.Params{LogQP: 4}, o)
		b.Qpc.Answer = func(o port.RxOp) port.RxVerdict { return verdicts[o.Pkt.PSN] }
		for i := range verdicts {
			b.Pkt.Push(port.RxPkt{
				QPN: 3, PSN: roce.PSN(i), Opcode: roce.UDSendOnly, Len: 5, BufAddr: 100, FrameBeats: 2, IPAddr: 30,
			})
		}
		require.NoError(t, b.k.Run(200))
		var got []element
		for i, p := range b.Place.Got {
			v := verdicts[p.PSN]
			require.EqualValues(t, 3, p.V.QPN)
			require.Equal(t, roce.UDSendOnly, p.Opcode)
			require.Equal(t, p.HasFrame, p.Beats == 2)
			require.Equal(t, v.HasBroken, p.V.HasBroken)
			require.Equal(t, v.EndsWQE, p.V.EndsWQE)
			require.Equal(t, v.Broken, p.V.Broken)
			got = append(got, element{int(p.PSN), p.HasFrame, p.Broken, p.GRH, p.Len, p.Need, p.BufAddr, p.V.Offset})
			if i > 0 {
				require.Equal(t, b.Place.At[i-1]+1, b.Place.At[i], "one element a cycle")
			}
		}
		require.Equal(t, want, got)
		require.Equal(t, port.RespStats{OutOfSequence: 1, DropOther: 1, DropBadQKey: 1}, b.AckGen.Judge.Stats.Get())
		return b.k, b.Place.Got
	})
}

// TestMarkers: the end of a life may have a receive WQE to end, the end of a flush an
// event to tell of.
func TestMarkers(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	flushed := 0
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		v := port.RxVerdict{Action: port.RxNothing}
		switch o.Kind {
		case port.RxPurge:
			v.HasBroken, v.Broken, v.BrokenStatus, v.BrokenVendor = true, 6, abi.StatusWRFlush, abi.VendorFlush
		case port.RxFlushRQ:
			if flushed++; flushed == 1 {
				v.Action = port.RxFlushed
			} else {
				v.LastWQE = o.QPN == 4
			}
		}
		return v
	}
	b.Purge.Push(port.Purge{QPN: 3, RX: true})
	b.Placed.Push(port.Placed{Purge: true, QPN: 3})
	b.Placed.NotBefore = func(int) uint64 { return 60 }
	b.QPErr.Push(port.QPError{QPN: 4}, port.QPError{QPN: 5})
	b.QPErr.NotBefore = func(int) uint64 { return 100 }
	require.NoError(t, b.k.Run(200))
	require.Equal(t, 3, flushed)
	require.Len(t, b.Place.Got, 4)
	broken, purge, flush, last := b.Place.Got[0], b.Place.Got[1], b.Place.Got[2], b.Place.Got[3]
	require.True(t, broken.Broken && !broken.Purge && !broken.HasFrame)
	require.EqualValues(t, 6, broken.V.Broken)
	require.True(t, purge.Purge && !purge.Broken)
	require.Equal(t, port.RxFlushed, flush.V.Action)
	require.True(t, last.V.LastWQE && !last.HasFrame)
	require.Equal(t, port.RxNothing, last.V.Action)
	require.EqualValues(t, 4, last.V.QPN)
}

// TestRawFrames: a frame is received as a datagram is; the tag that was taken out of it
// stands in place of an immediate.
func TestRawFrames(t *testing.T) {
	b := newBench(t, ackgen.Params{LogQP: 4}, hdl.Options{})
	b.Pkt.Push(
		port.RxPkt{QPN: 3, Raw: true, VLAN: true, TCI: 0x2005, Imm: 9, Len: 60},
		port.RxPkt{QPN: 3, Raw: true, TCI: 0x2005, Len: 60},
		port.RxPkt{QPN: 3, Opcode: roce.UDSendOnlyImm, VLAN: true, TCI: 0x2005, Imm: 9},
	)
	require.NoError(t, b.k.Run(100))
	require.Len(t, b.Place.Got, 3)
	for i, w := range []port.Place{
		{VLAN: true, Imm: 0x2005, Opcode: roce.UDSendOnly}, {Opcode: roce.UDSendOnly},
		{Imm: 9, HasImm: true, Opcode: roce.UDSendOnlyImm},
	} {
		p := b.Place.Got[i]
		require.Equal(t, w, port.Place{VLAN: p.VLAN, Imm: p.Imm, HasImm: p.HasImm, Opcode: p.Opcode})
	}
}
