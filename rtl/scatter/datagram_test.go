package scatter_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/scatter"
)

const ringBase = 0x4000

// datagram is one for receive WQE i of a ring of 16 with 128 bytes each.
func datagram(n port.QPN, i uint16, length int, v6 bool) step {
	return step{roce.UDSendOnlyImm, length, port.RxVerdict{
		Quiet: true, GRH: true, V6: v6, QPN: n, Action: port.RxPlace, Target: port.TargetRecv, TakesWQE: true, EndsWQE: true,
		Offset: 40, RQIdx: i, RQAddr: ringBase + port.BusAddr(i)*128, RQStride: 128, RQLog: 4, RQNext: 15 - i,
		SrcQPN: port.QPN(i) + 0x100,
	}}
}

// postList puts a receive WQE with elements of these sizes, a page apart, into memory.
func postList(b *bench, i uint16, key port.Key, sizes ...int) {
	data := make([]byte, 128)
	abi.RWQEControlLayout.Encode(&abi.RWQEControl{Index: i, NumSGE: uint8(len(sizes))}, data)
	for j, n := range sizes {
		sge := abi.SGE{Addr: elementVA(i, j), Length: uint32(n), LKey: abi.Key(key)}
		abi.SGELayout.Encode(&sge, data[16+16*j:])
		for at := range port.VA(n) {
			b.dma.posted.set(bus(port.VA(elementVA(i, j))+at), untouched)
		}
	}
	b.host.write(ringBase+port.BusAddr(i)*128, data)
}

func elementVA(i uint16, j int) uint64 { return 0x100000*uint64(i+1) + 0x10000*uint64(j) }

// playDatagrams gives frames headers and payloads that can be told apart.
func playDatagrams(t *testing.T, steps []step) *bench {
	b := play(t, scatter.Params{}, nil)
	n := 0
	b.Qpc.Answer = func(o port.RxOp) (v port.RxVerdict) {
		if v.Action = port.RxFailed; o.Kind == port.RxPacket {
			v = steps[n].v
			n++
		}
		v.QPN, v.PD, v.RQPD = o.QPN, 1, testPD
		return v
	}
	for i, s := range steps {
		p := port.RxPkt{QPN: s.v.QPN, Opcode: s.op, PSN: roce.PSN(i), Len: uint16(s.len), Imm: 7, Solicited: i == 1}
		addr, beats, ok := b.buf.put(70, pattern(uint8(i), s.len))
		require.True(t, ok)
		p.BufAddr, p.FrameBeats, p.IPAddr = addr, beats, addr-60
		for j := range uint32(40) {
			b.buf.data[int(p.IPAddr+j)%len(b.buf.data)] = uint8(200+i) + uint8(j)
		}
		b.Pkt.Push(p)
	}
	return b
}

func pattern(seed uint8, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = seed*31 + uint8(i) + 1
	}
	return b
}

// untouched is what memory holds before it is written.
const untouched = 0xa5

// received is the memory of a receive WQE.
func received(b *bench, i uint16, sizes ...int) (bytes []byte) {
	for j, n := range sizes {
		for at := range port.VA(n) {
			bytes = append(bytes, b.dma.posted.get(bus(port.VA(elementVA(i, j))+at)))
		}
	}
	return bytes
}

// TestDatagram: 40 bytes come before the data, of which an IPv4 header fills the last
// 20; they are in the length, and the flag is set.
func TestDatagram(t *testing.T) {
	sizes := []int{0, 1, 64, 1500, 4096}
	lists := [][]int{{40}, {30, 25}, {5, 0, 20, 30, 100}, {1540}, {39, 1, 4096}}
	for _, v6 := range []bool{false, true} {
		var steps []step
		for i, n := range sizes {
			steps = append(steps, datagram(3, uint16(i), n, v6))
		}
		b := playDatagrams(t, steps)
		for i, l := range lists {
			postList(b, uint16(i), lkey, l...)
		}
		b.settle()
		require.Len(t, b.CQE.Got, len(sizes))
		for i, n := range sizes {
			require.Equal(t, port.CQEReq{
				QPN: 3, UnitIdx: uint16(i), Opcode: abi.WCRecv, Flags: uint8(abi.CQEGRH | abi.CQEWithImm), Imm: 7,
				SrcQPN: port.QPN(i) + 0x100, ByteLen: uint32(n + 40), Solicited: i == 1,
			}, b.CQE.Got[i])
			bytes := received(b, uint16(i), lists[i]...)
			header := 20
			if v6 {
				header = 0
			}
			for j := range bytes {
				if j < header || j >= 40+n {
					require.EqualValues(t, untouched, bytes[j], "byte %d of %d", j, n)
				}
			}
			for j := header; j < 40; j++ {
				require.Equal(t, uint8(200+i)+uint8(j-header), bytes[j])
			}
			require.Equal(t, pattern(uint8(i), n), bytes[40:40+n])
		}
		require.Empty(t, b.Resp.Got)
		for _, q := range b.Mpt.Seen {
			require.EqualValues(t, 3, q.QPN)
			require.EqualValues(t, testPD, q.PD)
		}
	}
}

// TestDatagramTooLong: one that does not fit is found by its header, leaves memory as it
// is and its WQE posted. What comes of its QP before qpc knows is lost as quietly.
func TestDatagramTooLong(t *testing.T) {
	steps := []step{datagram(3, 0, 60, true), datagram(3, 1, 64, false), datagram(4, 1, 64, false), datagram(3, 2, 10, true), datagram(3, 0, 59, true)}
	b := playDatagrams(t, steps)
	b.Pkt.NotBefore = func(n int) uint64 { return uint64(n/4) * 1000 }
	for i, n := range []int{99, 104, 200} {
		postList(b, uint16(i), lkey, n)
	}
	b.settle()
	require.Len(t, b.CQE.Got, 2)
	require.EqualValues(t, 4, b.CQE.Got[0].QPN)
	require.EqualValues(t, 99, b.CQE.Got[1].ByteLen)
	var faults []port.RxOp
	for _, o := range b.Qpc.Seen {
		if o.Kind == port.RxFault {
			faults = append(faults, o)
		}
	}
	require.Equal(t, []port.RxOp{{
		Kind: port.RxFault, QPN: 3, PSN: 0, MSN: 0xffffff, Status: abi.StatusLocLen, Vendor: abi.VendorRecvTooLong,
	}}, faults)
	require.Len(t, b.Write.Got, 4)
	require.Zero(t, b.Scat.Collect.Q.Poisoned)
}

// TestDatagramLocalFault: a receive WQE whose own memory is wrong completes in error once,
// be it met by the header or by the data.
func TestDatagramLocalFault(t *testing.T) {
	for _, header := range []bool{true, false} {
		b := playDatagrams(t, []step{datagram(3, 0, 60, true), datagram(3, 1, 60, true)})
		postList(b, 0, lkey|port.Key(port.MptBadKey), 100)
		if !header {
			postList(b, 0, lkey, 40, 60)
			at := port.BusAddr(ringBase + 32)
			e := b.host.mem[at]
			abi.SGELayout.Encode(&abi.SGE{Addr: elementVA(0, 1), Length: 60, LKey: abi.Key(lkey) | abi.Key(port.MptBadKey)}, e[:])
			b.host.mem[at] = e
		}
		postList(b, 1, lkey, 100)
		b.settle()
		require.Len(t, b.CQE.Got, 2)
		require.Equal(t, abi.StatusLocProt, b.CQE.Got[0].Status)
		require.Equal(t, abi.StatusWRFlush, b.CQE.Got[1].Status)
		require.EqualValues(t, 1, b.CQE.Got[1].UnitIdx)
	}
}

// TestRawFrame: no room before it; the tag is told.
func TestRawFrame(t *testing.T) {
	s := datagram(3, 0, 60, false)
	s.v.GRH, s.v.Offset = false, 0
	b := newBench(t, setup{}, hdl.Options{})
	b.buf.onFree = func() {}
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		v := s.v
		v.RQPD, v.RQIdx = testPD, uint16(o.Pkt.PSN)
		v.RQAddr += 128 * port.BusAddr(v.RQIdx)
		return v
	}
	for i := range uint16(2) {
		postList(b, i, lkey, 60)
		addr, beats, _ := b.buf.put(0, pattern(uint8(i), 60))
		b.Pkt.Push(port.RxPkt{Raw: true, QPN: 3, PSN: roce.PSN(i), VLAN: i == 0, TCI: 0x8007, Len: 60, BufAddr: addr, FrameBeats: beats})
	}
	require.NoError(t, b.k.Run(1000))
	require.Len(t, b.CQE.Got, 2)
	tagged, plain := b.CQE.Got[0], b.CQE.Got[1]
	require.EqualValues(t, abi.CQEVLAN, tagged.Flags)
	require.EqualValues(t, 0x8007, tagged.Imm)
	require.Zero(t, plain.Flags)
	require.Zero(t, plain.Imm)
	require.EqualValues(t, 60, tagged.ByteLen)
	require.Equal(t, pattern(1, 60), received(b, 1, 60))
}

// TestLastWQE: the event is asked for behind the completions before it.
func TestLastWQE(t *testing.T) {
	b := playDatagrams(t, []step{datagram(3, 0, 60, true)})
	verdict := b.Qpc.Answer
	b.Qpc.Answer = func(o port.RxOp) port.RxVerdict {
		if o.Kind == port.RxFlushRQ {
			return port.RxVerdict{Action: port.RxNothing, LastWQE: true}
		}
		b.QPErr.Push(port.QPError{QPN: o.QPN})
		return verdict(o)
	}
	postList(b, 0, lkey, 100)
	b.settle()
	require.Len(t, b.CQE.Got, 2)
	require.Equal(t, port.CQEReq{LastWQE: true, QPN: 3}, b.CQE.Got[1])
}
