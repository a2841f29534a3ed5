package csr_test

import (
	"encoding/binary"
	"math/bits"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/csr"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// stats drives the counters of the other blocks.
type stats struct {
	Rx    hdl.Sig[port.RxStats]
	Tx    hdl.Sig[port.TxStats]
	Resp  hdl.Sig[port.RespStats]
	Sched hdl.Sig[port.SchedStats]
	QP    hdl.Sig[port.QPStats]
	CQ    hdl.Sig[port.CQStats]
	Dma   hdl.Sig[port.DmaStats]
	Admin hdl.Sig[port.AdminStats]
	Loop  hdl.Sig[uint64]
	hdl.Regs[struct{ Done bool }]
	all bool // every counter has a bit of its own
}

func (s *stats) Eval() {
	if s.Q.Done {
		return
	}
	s.D.Done = true
	s.Rx.Set(port.RxStats{RxPackets: 0x1_0000_0007})
	s.Admin.Set(port.AdminStats{Enabled: true})
	if s.all {
		bit := uint64(1)
		fill(&s.Rx, &bit)
		fill(&s.Tx, &bit)
		fill(&s.Resp, &bit)
		fill(&s.Sched, &bit)
		fill(&s.QP, &bit)
		fill(&s.CQ, &bit)
		fill(&s.Dma, &bit)
		fill(&s.Admin, &bit)
		s.Loop.Set(bit)
	}
}

// fill gives each counter of a level the next bit.
func fill[T comparable](s *hdl.Sig[T], bit *uint64) {
	var v T
	for i := range reflect.TypeFor[T]().NumField() {
		if f := reflect.ValueOf(&v).Elem().Field(i); f.Kind() == reflect.Uint64 {
			f.SetUint(*bit)
			*bit <<= 1
		}
	}
	s.Set(v)
}

type bench struct {
	Csr      *csr.CSR
	Stats    stats
	Host     agent.Source[pcie.Beat]
	Cpl      agent.Sink[pcie.Beat]
	QPBell   agent.Sink[port.QPDoorbell]
	CQBell   agent.Sink[port.CQDoorbell]
	Push     agent.Sink[port.PushedWQE]
	Msix     agent.Source[port.MsixReq]
	MsixRes  agent.Sink[port.MsixRes]
	MsixFire agent.Sink[port.MsixFire]
	k        *hdl.Kernel
}

func newBench(t require.TestingT, o hdl.Options, throttle uint64) *bench {
	b := &bench{Csr: csr.New()}
	for _, th := range []*agent.Throttle{&b.Cpl.Throttle, &b.QPBell.Throttle, &b.CQBell.Throttle, &b.Push.Throttle, &b.MsixRes.Throttle} {
		th.Seed = throttle
	}
	c := b.Csr
	hdl.Connect(&b.Host.Out, &c.MmioRx, 2)
	hdl.Connect(&c.MmioCpl, &b.Cpl.In, 2)
	hdl.Connect(&c.QPBell, &b.QPBell.In, 2)
	hdl.Connect(&c.CQBell, &b.CQBell.In, 2)
	hdl.Connect(&c.Push, &b.Push.In, 2)
	hdl.Connect(&b.Msix.Out, &c.Msix, 2)
	hdl.Connect(&c.MsixRes, &b.MsixRes.In, 2)
	hdl.Connect(&c.MsixFire, &b.MsixFire.In, 2)
	s, tap := &b.Stats, &c.Taps
	hdl.Wire(&s.Rx, &tap.Rx)
	hdl.Wire(&s.Tx, &tap.Tx)
	hdl.Wire(&s.Resp, &tap.Resp)
	hdl.Wire(&s.Sched, &tap.Sched)
	hdl.Wire(&s.QP, &tap.QP)
	hdl.Wire(&s.CQ, &tap.CQ)
	hdl.Wire(&s.Dma, &tap.Dma)
	hdl.Wire(&s.Admin, &tap.Admin)
	hdl.Wire(&s.Loop, &tap.Loop)
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	b.k = k
	return b
}

func mwr(off uint64, data ...byte) (beats []pcie.Beat) {
	h := pcie.TLP{Kind: pcie.MWr, Addr: off &^ 3}
	h.Len, h.First, h.Last = pcie.Span(off, len(data))
	for i := 0; i < len(data); i += 64 {
		n := min(64, len(data)-i)
		b := pcie.Beat{Hdr: h, Len: uint8(n), First: i == 0, Last: i+n == len(data)}
		copy(b.Data[:], data[i:])
		beats = append(beats, b)
	}
	return beats
}

func mrd(off uint64, n int, tag pcie.Tag) pcie.Beat {
	h := pcie.TLP{Kind: pcie.MRd, Addr: off &^ 3, Tag: tag, ID: 0x100}
	h.Len, h.First, h.Last = pcie.Span(off, n)
	return pcie.Beat{Hdr: h, First: true, Last: true}
}

func le32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }
func le64(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// settle runs until all that the host sent has had its effect.
func (b *bench) settle(t require.TestingT) {
	for end := b.k.Cycle() + 100000; b.Host.Pending()+b.Msix.Pending() > 0; {
		require.Less(t, b.k.Cycle(), end, "the block stopped taking requests")
		require.NoError(t, b.k.Run(b.k.Cycle()+1))
	}
	for range 200 {
		b.k.Step()
	}
}

func (b *bench) read32(t require.TestingT, off uint32) uint32 {
	n := len(b.Cpl.Got)
	b.Host.Push(mrd(uint64(off), 4, 9))
	b.settle(t)
	require.Len(t, b.Cpl.Got, n+1)
	c := b.Cpl.Got[n]
	require.Equal(t, pcie.CplD, c.Hdr.Kind)
	require.Equal(t, pcie.Tag(9), c.Hdr.Tag)
	require.Equal(t, pcie.ID(0x100), c.Hdr.ID)
	require.EqualValues(t, 4, c.Len)
	return binary.LittleEndian.Uint32(c.Data[:])
}

func (b *bench) counter(t require.TestingT, n abi.Counter) uint64 {
	lo := b.read32(t, abi.CounterAddr(n))
	return uint64(b.read32(t, abi.CounterAddr(n)+4))<<32 | uint64(lo)
}

func TestResetValuesAndAccess(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true, Digest: true}, 0)
	for _, r := range abi.Registers() {
		switch r.Name {
		case "STATUS", "CYCLES_LO", "CYCLES_HI":
			continue
		}
		require.Equal(t, r.Reset, b.read32(t, r.Offset), r.Name)
	}
	st := abi.RegFields(abi.StatusLayout, b.read32(t, abi.RegStatus))
	require.Equal(t, abi.Status{Ready: true, LinkUp: true, AdminEnabled: true}, st)
	for _, r := range abi.Registers() {
		b.Host.Push(mwr(uint64(r.Offset), le32(0x5a5a5a5a)...)...)
		b.settle(t)
		got := b.read32(t, r.Offset)
		switch {
		case r.Access == abi.RO && r.Name != "STATUS" && r.Name != "CYCLES_LO" && r.Name != "CYCLES_HI":
			require.Equal(t, r.Reset, got, r.Name)
		case r.Access == abi.RW && len(r.Fields) == 1 && r.Fields[0].Width == 32:
			require.EqualValues(t, 0x5a5a5a5a, got, r.Name)
		case r.Access == abi.WO:
			require.Zero(t, got, r.Name)
		}
	}
	require.EqualValues(t, 0x1_0000_0007, b.counter(t, abi.RxPackets))
}

// Every counter is that of one block, and no block has one that can't be read.
func TestEveryCounter(t *testing.T) {
	b := newBench(t, hdl.Options{}, 0)
	b.Stats.all = true
	own := map[abi.Counter]bool{abi.Doorbells: true, abi.MMIOWriteIgnored: true, abi.MMIOReadUnmapped: true}
	seen := uint64(0)
	for _, c := range abi.Counters() {
		v := b.counter(t, c)
		require.Equal(t, own[c], v == 0, c)
		require.Zero(t, seen&v, "%v is that of another one too", c)
		seen |= v
	}
	unread := 0
	for n := bits.Len64(seen); n > 0; n-- {
		unread += int(^seen >> (n - 1) & 1)
	}
	require.Equal(t, 1, unread, "what cq_writer has dropped")
}

func TestWritesThatMeanNothingAreCounted(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true, Digest: true}, 0)
	poisoned := mwr(abi.RegPortIPv4, 1, 2, 3, 4)
	poisoned[0].Hdr.Poison = true
	writes := [][]pcie.Beat{
		mwr(abi.RegID, 1, 2, 3, 4),                                     // read-only
		mwr(0x500, 1, 2, 3, 4),                                         // no register
		mwr(abi.CountersBase, make([]byte, 8)...),                      // read-only
		mwr(abi.RegPortIPv4, 1),                                        // one byte
		mwr(uint64(abi.DoorbellAddr(3)), 1, 2, 3, 4),                   // half a doorbell
		mwr(uint64(abi.DoorbellAddr(3)), le64(15<<24)...),              // unknown kind
		mwr(uint64(abi.DoorbellAddr(3))+8, make([]byte, 8)...),         // beside the doorbell
		mwr(uint64(abi.PushAddr(3))+4, make([]byte, 8)...),             // not on 8 bytes
		mwr(uint64(abi.PushAddr(3)), make([]byte, 128)...),             // two beats
		mwr(uint64(abi.DoorbellAddr(255))+0x900, make([]byte, 256)...), // four beats
		poisoned,
	}
	for _, w := range writes {
		b.Host.Push(w...)
	}
	require.EqualValues(t, len(writes), b.counter(t, abi.MMIOWriteIgnored))
	require.Empty(t, b.QPBell.Got)
	require.Empty(t, b.Push.Got)
	require.Zero(t, b.Csr.PortReg.Get().IPv4)
}

func TestReadsOfOtherSizes(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true, Digest: true}, 0)
	b.Host.Push(mrd(abi.RegID, 8, 1), mrd(abi.RegID, 1, 2), mrd(abi.RegID, 64, 3), mrd(0x700, 4, 4))
	flush := mrd(abi.RegID, 4, 5)
	flush.Hdr.First = 0
	b.Host.Push(flush)
	b.settle(t)
	require.Len(t, b.Cpl.Got, 5)
	require.EqualValues(t, uint64(abi.RegWord(abi.VersionLayout, abi.Version{Major: abi.VersionMajor, Minor: abi.VersionMinor}))<<32|abi.ID,
		binary.LittleEndian.Uint64(b.Cpl.Got[0].Data[:]))
	for _, i := range []int{1, 2} {
		require.Equal(t, pcie.Cpl, b.Cpl.Got[i].Hdr.Kind)
		require.Equal(t, pcie.UnsupportedRequest, b.Cpl.Got[i].Hdr.Status)
	}
	require.Zero(t, binary.LittleEndian.Uint32(b.Cpl.Got[3].Data[:]))
	require.Equal(t, pcie.CplD, b.Cpl.Got[4].Hdr.Kind)
	require.EqualValues(t, 3, b.counter(t, abi.MMIOReadUnmapped))
}

func TestDoorbellsUnderBackpressure(t *testing.T) {
	var first uint64
	for i, o := range []hdl.Options{{Digest: true}, {Digest: true, Strict: true, Order: 1}} {
		b := newBench(t, o, 5)
		for n := range uint32(198) {
			bell := abi.Doorbell{Number: n, Kind: abi.DoorbellKind(n % 6), Index: uint16(n), SolicitedOnly: n%4 == 1}
			b.Host.Push(mwr(uint64(abi.DoorbellAddr(uint8(n))), le64(bell.Pack())...)...)
		}
		b.settle(t)
		require.Len(t, b.QPBell.Got, 99)
		require.Len(t, b.CQBell.Got, 99)
		require.Equal(t, []port.QPDoorbell{
			{QPN: 6, Index: 6, Page: 6}, {QPN: 7, RQ: true, Index: 7, Page: 7}, {QPN: 11, SRQ: true, Index: 11, Page: 11},
		}, b.QPBell.Got[3:6])
		require.Equal(t, port.CQDoorbell{CQN: 9, CI: 9, Arm: true, Solicited: true, Page: 9}, b.CQBell.Got[4])
		require.Equal(t, port.CQDoorbell{EQ: true, CQN: 10, CI: 10, Arm: true, Page: 10}, b.CQBell.Got[5])
		require.Equal(t, port.CQDoorbell{CQN: 8, CI: 8, Page: 8}, b.CQBell.Got[3])
		require.EqualValues(t, 198, b.counter(t, abi.Doorbells))
		if i == 0 {
			first = b.k.Digest()
		}
		require.Equal(t, first, b.k.Digest())
	}
}

func TestPush(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true, Digest: true}, 3)
	unit := func(qpn uint32, idx uint16, units uint8) []byte {
		w := make([]byte, 64)
		abi.WQEControlLayout.Encode(&abi.WQEControl{QPN: qpn, Index: idx, Units: units}, w)
		return w
	}
	lanes := func(page uint8, w []byte, order ...int) {
		for _, l := range order {
			b.Host.Push(mwr(uint64(abi.PushAddr(page))+uint64(8*l), w[8*l:8*l+8]...)...)
		}
	}
	b.Host.Push(mwr(uint64(abi.PushAddr(2)), unit(7, 65535, 1)...)...)
	a, c := unit(8, 1, 1), unit(9, 2, 1)
	lanes(4, a, 0, 1, 2, 3) // two pages interleaved
	lanes(5, c, 0, 1, 2, 3, 4, 5, 6, 7)
	lanes(4, a, 4, 5, 6, 7)
	lanes(6, unit(10, 3, 1), 0, 1, 3)                               // a gap: forgotten
	lanes(6, unit(11, 3, 1), 0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7)       // begun anew
	b.Host.Push(mwr(uint64(abi.PushAddr(2)), unit(12, 5, 3)...)...) // several units: doorbell only
	b.Host.Push(mwr(uint64(abi.PushAddr(2)), unit(13, 5, 9)...)...) // no WQE
	b.settle(t)
	require.Equal(t, []port.QPDoorbell{
		{QPN: 7, Push: true, Index: 0, Page: 2},
		{QPN: 9, Push: true, Index: 3, Page: 5},
		{QPN: 8, Push: true, Index: 2, Page: 4},
		{QPN: 11, Push: true, Index: 4, Page: 6},
		{QPN: 12, Index: 8, Page: 2},
	}, b.QPBell.Got)
	require.Len(t, b.Push.Got, 4)
	require.Equal(t, a, b.Push.Got[2].Data[:])
	require.Equal(t, port.QPN(8), b.Push.Got[2].QPN)
	require.EqualValues(t, 1, b.Push.Got[2].Idx)
	require.EqualValues(t, 3, b.counter(t, abi.PushedWQEsIgnored))
}

func TestMsixMaskAndPending(t *testing.T) {
	b := newBench(t, hdl.Options{Strict: true, Digest: true}, 0)
	at := uint64(abi.MSIXTableBase + 16*3)
	b.Host.Push(mwr(at, le64(0xfee0_1000)...)...)
	b.Host.Push(mwr(at+8, le32(77)...)...)
	b.settle(t)
	b.Msix.Push(port.MsixReq{Vector: 3}, port.MsixReq{Vector: 200}) // masked after reset; no such vector
	b.settle(t)
	require.Equal(t, []port.MsixRes{{Addr: 0xfee0_1000, Data: 77}, {}}, b.MsixRes.Got)
	require.EqualValues(t, 1<<3, b.read32(t, abi.MSIXPBABase))
	b.Host.Push(mwr(at+12, le32(0)...)...)
	b.settle(t)
	require.Equal(t, []port.MsixFire{{Vector: 3}}, b.MsixFire.Got)
	require.Zero(t, b.read32(t, abi.MSIXPBABase))
	b.Msix.Push(port.MsixReq{Vector: 3})
	b.settle(t)
	require.Equal(t, port.MsixRes{Send: true, Addr: 0xfee0_1000, Data: 77}, b.MsixRes.Got[2])
}

// Whatever the host does to the BAR, every read is answered and nothing stops.
func TestAnyAccess(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := newBench(t, hdl.Options{Strict: true, Digest: true}, 0)
		reads := 0
		for range rapid.IntRange(1, 30).Draw(t, "n") {
			off := rapid.Uint64Range(0, abi.BARSize-1).Draw(t, "off")
			if rapid.Bool().Draw(t, "low") {
				off %= 0x4000
			}
			n := rapid.IntRange(1, 64).Draw(t, "len")
			n = min(n, 4096-int(off%4096))
			if rapid.Bool().Draw(t, "read") {
				b.Host.Push(mrd(off, n, 0))
				reads++
			} else {
				b.Host.Push(mwr(off, rapid.SliceOfN(rapid.Byte(), n, n).Draw(t, "data")...)...)
			}
		}
		b.settle(t)
		require.Zero(t, b.Host.Pending())
		require.Len(t, b.Cpl.Got, reads)
	})
}
