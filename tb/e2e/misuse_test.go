package e2e_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/pcie"
	"rnic/tb"
	"rnic/tb/e2e"
	"rnic/tb/host"
)

// spoil has the host overwrite bytes of its own ring right after posting: the
// doorbell is still on its way, so the device sees what no driver writes.
func spoil(t *testing.T, e *e2e.End, post func() error, addr uint64, b []byte) {
	t.Helper()
	var err error
	e.Do(func() {
		if err = post(); err == nil {
			err = e.Bus.WriteMem(addr, b)
		}
	})
	require.NoError(t, err)
}

// le is a little-endian number of n bytes.
func le(n int, v uint64) []byte {
	return binary.LittleEndian.AppendUint64(nil, v)[:n]
}

// TestMalformedSend (B066, B136): WQEs written by hand. Each ends in error, alone,
// with those behind it flushed; the peer notices nothing.
func TestMalformedSend(t *testing.T) {
	type field struct {
		at int
		b  []byte
	}
	const op, flags, units, sges, inlineLen, index = 0, 1, 2, 3, 4, 6
	for _, c := range []struct {
		name   string
		fields []field
		status abi.WCStatus
		vendor abi.VendorErr
	}{
		{"COMPARE_SWAP of 100 bytes", []field{{op, le(1, 6)}}, abi.StatusLocLen, abi.VendorWQELength},
		{"FETCH_ADD of 100 bytes", []field{{op, le(1, 7)}}, abi.StatusLocLen, abi.VendorWQELength},
		{"LOCAL_INV", []field{{op, le(1, 8)}}, abi.StatusMWBind, abi.VendorInvalidate},
		{"FAST_REG", []field{{op, le(1, 10)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"no operation", []field{{op, le(1, 12)}}, abi.StatusLocQPOp, abi.VendorWQEOp},
		{"no operation at all", []field{{op, le(1, 255)}}, abi.StatusLocQPOp, abi.VendorWQEOp},
		{"0 units", []field{{units, le(1, 0)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"9 units", []field{{units, le(1, 9)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"255 units", []field{{units, le(1, 255)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"more units than elements", []field{{units, le(1, 2)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"more units than posted", []field{{units, le(1, 8)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"more elements than units", []field{{sges, le(1, 3)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"BIND_MW", []field{{op, le(1, 9)}}, abi.StatusMWBind, abi.VendorBind},
		{"5 elements in one unit", []field{{sges, le(1, 5)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"17 elements", []field{{units, le(1, 2)}, {sges, le(1, 17)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"255 elements", []field{{sges, le(1, 255)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"inline too long for its units", []field{{flags, le(1, 9)}, {inlineLen, le(2, 33)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"inline too long", []field{{flags, le(1, 9)}, {units, le(1, 2)}, {inlineLen, le(2, 65)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"inline of 65,535", []field{{flags, le(1, 9)}, {inlineLen, le(2, 65535)}}, abi.StatusLocQPOp, abi.VendorWQEFormat},
		{"another index", []field{{index, le(2, 64)}}, abi.StatusLocQPOp, abi.VendorWQEStale},
		{"nothing but zeros", []field{{0, make([]byte, 64)}}, abi.StatusLocQPOp, abi.VendorWQEStale},
		{"2^31 + 1 bytes", []field{{sges, le(1, 2)}, {40, le(4, 1<<31)}, {56, le(4, 1)}}, abi.StatusLocLen, abi.VendorWQELength},
		{"2^33 - 2 bytes", []field{{sges, le(1, 2)}, {40, le(4, 1<<32-1)}, {56, le(4, 1<<32-1)}}, abi.StatusLocLen, abi.VendorWQELength},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := e2e.New(t, e2e.Options{})
			p := s.Pair()
			p.B.Recv(p.B.Recvs(0, 100, 11, 12, 13)...)
			ring := p.A.Query().SQBase
			behind := p.A.SendWR(3, 0, 100)
			behind.Signaled = false
			spoil(t, p.A, func() error {
				_, err := p.A.QP.PostSend(p.A.SendWR(1, 0, 100), p.A.SendWR(2, 0, 100), behind, p.A.SendWR(4, 0, 100))
				for _, f := range c.fields[:len(c.fields)-1] {
					_ = p.A.Bus.WriteMem(ring+64+uint64(f.at), f.b)
				}
				return err
			}, ring+64+uint64(c.fields[len(c.fields)-1].at), c.fields[len(c.fields)-1].b)
			want := append(e2e.OK(1), e2e.Done{ID: 2, Status: c.status})
			flushed := e2e.Flushed(3, 4)
			if c.fields[0].at == units && c.fields[0].b[0] == 2 || len(c.fields) > 1 && c.fields[1].at == units {
				flushed = flushed[1:] // it says that it takes two units, and there are two
			}
			wcs := p.A.Sent(append(want, flushed...)...)
			require.Equal(t, c.vendor, wcs[1].VendorErr)
			p.B.Received(e2e.OK(11)...)
			require.Equal(t, 1, len(s.A.Requests(0)))
			p.A.DemandState(abi.QPErr)
			p.B.DemandState(abi.QPRTS)
			require.Empty(t, s.B.Faults())
			p.B.Fail()
			p.B.Received(e2e.Flushed(12, 13)...)
			again(t, s, p)
		})
	}
}

// TestMalformedReceive: receive WQEs written by hand end the message that takes
// them, and both QPs.
func TestMalformedReceive(t *testing.T) {
	for _, c := range []struct {
		name   string
		at     int
		b      []byte
		vendor abi.VendorErr
	}{
		{"more elements than its stride", 0, le(1, 8), abi.VendorWQEFormat},
		{"255 elements", 0, le(1, 255), abi.VendorWQEFormat},
		{"another index", 2, le(2, 64), abi.VendorWQEStale},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := e2e.New(t, e2e.Options{})
			p := s.Pair()
			m := p.B.Query()
			spoil(t, p.B, func() error {
				_, err := p.B.QP.PostRecv(p.B.Recvs(0, 100, 11, 12, 13)...)
				return err
			}, m.RQBase+1<<m.RQLogStride+uint64(c.at), c.b)
			p.A.Send(p.A.SendWR(1, 0, 100), p.A.SendWR(2, 0, 100), p.A.SendWR(3, 0, 100))
			p.A.Sent(append(append(e2e.OK(1), e2e.All(abi.StatusRemOp, 2)...), e2e.Flushed(3)...)...)
			wcs := p.B.Received(append(append(e2e.OK(11), e2e.All(abi.StatusLocQPOp, 12)...), e2e.Flushed(13)...)...)
			require.Equal(t, c.vendor, wcs[1].VendorErr)
			p.A.DemandState(abi.QPErr)
			p.B.DemandState(abi.QPErr)
			again(t, s, p)
		})
	}
}

// readFaults has the n-th read of the NIC from a range of memory go wrong.
type readFaults struct {
	base, size uint64
	n          int
	fault      host.Fault
	fired      int
}

func (r *readFaults) judge(tlp *pcie.TLP) host.Verdict {
	if r.size == 0 || tlp.Addr < r.base || tlp.Addr >= r.base+r.size {
		return host.Verdict{}
	}
	r.n--
	if r.n != 0 {
		return host.Verdict{}
	}
	r.fired++
	return host.Verdict{Fault: r.fault}
}

// TestUnreadable (B239): host memory that cannot be read: payload, send WQE,
// receive WQE. What needed it fails, and its tag comes home.
func TestUnreadable(t *testing.T) {
	for _, f := range []host.Fault{host.FaultUR, host.FaultCA, host.FaultPoison, host.FaultNever} {
		for _, what := range []string{"payload", "WQE", "receive WQE"} {
			bad := &readFaults{fault: f, n: 1}
			c := tb.Config{Host: host.Params{Fault: bad.judge}}
			c.NIC.Dma.Timeout = 20_000
			s := e2e.New(t, e2e.Options{Bench: c, Driver: driver.Config{NoPush: true}})
			p := s.Pair()
			p.B.Recv(p.B.Recvs(0, 100, 11, 12, 13)...)
			s.Sleep(4000)
			status, peer := abi.StatusLocQPOp, abi.StatusSuccess
			switch what {
			case "payload":
				bad.base, bad.size = s.A.Buf.Pages()[1], 4096
			case "WQE":
				bad.base, bad.size = p.A.Query().SQBase+64, 64
			case "receive WQE":
				bad.base, bad.size = p.B.Query().RQBase, 4096
				status, peer = abi.StatusRemOp, abi.StatusLocQPOp
			}
			p.A.Send(p.A.SendWR(1, 0, 100))
			if peer == abi.StatusSuccess {
				p.A.Sent(e2e.OK(1)...)
				p.B.Received(e2e.OK(11)...)
				p.A.Send(p.A.SendWR(2, 4096, 100), p.A.SendWR(3, 0, 100))
				p.A.Sent(append(e2e.All(status, 2), e2e.Flushed(3)...)...)
				p.B.Fail()
				p.B.Received(e2e.Flushed(12, 13)...)
			} else {
				p.A.Sent(e2e.All(status, 1)...)
				p.B.Received(append(e2e.All(peer, 11), e2e.Flushed(12, 13)...)...)
			}
			require.Equal(t, 1, bad.fired, "%v %s", f, what)
			again(t, s, p)
			require.NotZero(t, s.A.Faults()[abi.DMAReadErrors]+s.B.Faults()[abi.DMAReadErrors])
			s.Close()
		}
	}
}

// write posts bytes to the BAR.
func write(t *testing.T, d *e2e.Side, off uint32, b []byte) {
	t.Helper()
	var err error
	d.Do(func() { err = d.Bus.Write(off, b) })
	require.NoError(t, err)
}

// bell rings a doorbell by hand.
func bell(t *testing.T, d *e2e.Side, page uint8, b abi.Doorbell) {
	t.Helper()
	write(t, d, abi.DoorbellAddr(page), binary.LittleEndian.AppendUint64(nil, b.Pack()))
}

// TestDoorbells (B194): doorbells on wrong pages, of unknown numbers and with
// indices that cannot be are counted and change nothing.
func TestDoorbells(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	exchange(t, p)
	m := p.A.Query()
	page := uint8(m.UARPage)
	q, cq := p.A.QP.Number(), p.A.SCQ.Number()
	size := uint16(1) << m.SQLogUnits
	for _, c := range []struct {
		name string
		page uint8
		b    abi.Doorbell
		want abi.Counter
	}{
		{"send, another page", page + 1, abi.Doorbell{Number: q, Index: m.SQProducer + 1}, abi.DoorbellBadPage},
		{"receive, another page", page + 255, abi.Doorbell{Number: q, Kind: abi.DoorbellRQ, Index: m.RQProducer + 1}, abi.DoorbellBadPage},
		{"CQ, another page", page + 1, abi.Doorbell{Number: cq, Kind: abi.DoorbellCQ, Index: 1}, abi.DoorbellBadPage},
		{"arm, another page", page + 1, abi.Doorbell{Number: cq, Kind: abi.DoorbellCQArm, Index: 1}, abi.DoorbellBadPage},
		{"EQ, another page", page + 1, abi.Doorbell{Number: 1, Kind: abi.DoorbellEQ}, abi.DoorbellBadPage},
		{"no QP", page, abi.Doorbell{Number: 0, Index: 1}, abi.DoorbellBadNumber},
		{"no QP either", page, abi.Doorbell{Number: 1023, Kind: abi.DoorbellRQ, Index: 1}, abi.DoorbellBadNumber},
		{"QP beyond the table", page, abi.Doorbell{Number: q + 1024, Index: 1}, abi.DoorbellBadNumber},
		{"largest QP", page, abi.Doorbell{Number: 0xffffff, Index: 1}, abi.DoorbellBadNumber},
		{"no CQ", page, abi.Doorbell{Number: 1023, Kind: abi.DoorbellCQ}, abi.DoorbellBadNumber},
		{"CQ beyond the table", page, abi.Doorbell{Number: cq + 1024, Kind: abi.DoorbellCQArm}, abi.DoorbellBadNumber},
		{"no EQ", page, abi.Doorbell{Number: 15, Kind: abi.DoorbellEQ}, abi.DoorbellBadNumber},
		{"EQ beyond the table", page, abi.Doorbell{Number: 0x100, Kind: abi.DoorbellEQ}, abi.DoorbellBadNumber},
		{"send, more than a ring", page, abi.Doorbell{Number: q, Index: m.SQProducer + size + 1}, abi.DoorbellBadNumber},
		{"send, back", page, abi.Doorbell{Number: q, Index: m.SQProducer - 1}, abi.DoorbellBadNumber},
		{"receive, more than a ring", page, abi.Doorbell{Number: q, Kind: abi.DoorbellRQ, Index: m.RQConsumer + 17}, abi.DoorbellBadNumber},
		{"receive, back", page, abi.Doorbell{Number: q, Kind: abi.DoorbellRQ, Index: m.RQProducer - 1}, abi.DoorbellBadNumber},
		{"CQ, more than was written", page, abi.Doorbell{Number: cq, Kind: abi.DoorbellCQ, Index: 2}, abi.DoorbellBadNumber},
		{"CQ, back", page, abi.Doorbell{Number: cq, Kind: abi.DoorbellCQ, Index: 0xffff}, abi.DoorbellBadNumber},
		{"arm, more than was written", page, abi.Doorbell{Number: cq, Kind: abi.DoorbellCQArm, Index: 700}, abi.DoorbellBadNumber},
		{"no SRQ", page, abi.Doorbell{Number: 0, Kind: abi.DoorbellSRQ, Index: 1}, abi.DoorbellBadNumber},
		{"SRQ beyond the table", page, abi.Doorbell{Number: 0xffff, Kind: abi.DoorbellSRQ, Index: 1}, abi.DoorbellBadNumber},
		{"kind 6", page, abi.Doorbell{Number: q, Kind: 6, Index: 1}, abi.MMIOWriteIgnored},
		{"kind 15", page, abi.Doorbell{Number: q, Kind: 15, Index: 1}, abi.MMIOWriteIgnored},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := s.A.Counters()
			bell(t, s.A, c.page, c.b)
			s.Sleep(500)
			after := s.A.Counters()
			for _, n := range []abi.Counter{abi.DoorbellBadPage, abi.DoorbellBadNumber, abi.MMIOWriteIgnored} {
				want := uint64(0)
				if n == c.want {
					want = 1
				}
				require.Equal(t, want, after[n]-before[n], "%v", n)
			}
			require.Equal(t, before[abi.EventsWritten], after[abi.EventsWritten])
			require.Equal(t, before[abi.WQEFetches], after[abi.WQEFetches])
			require.Equal(t, m, p.A.Query())
		})
	}
	exchange(t, p)
	p.A.DemandState(abi.QPRTS)
}

// TestDoorbellTooFar: a doorbell announces more than was written. The device finds
// a stale slot, the QP ends, and the driver says that this makes no sense; other
// QPs go on.
func TestDoorbellTooFar(t *testing.T) {
	s := e2e.New(t, e2e.Options{Dirty: true})
	p, other := s.Pair(), s.Pair()
	m := p.A.Query()
	bell(t, s.A, uint8(m.UARPage), abi.Doorbell{Number: p.A.QP.Number(), Index: 3})
	s.Sleep(4000)
	p.A.DemandState(abi.QPErr)
	var err error
	s.A.Do(func() {
		var wcs [4]driver.WC
		_, err = p.A.SCQ.Poll(wcs[:])
	})
	require.ErrorIs(t, err, driver.ErrDevice)
	exchange(t, other)
	again(t, s, p)
}

// TestPushes: what is written to the window of a doorbell page by hand. Units that
// are not whole, not of the QP whose page it is, or not its next, are forgotten.
func TestPushes(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	exchange(t, p)
	m := p.A.Query()
	page := uint8(m.UARPage)
	unit := func(c abi.WQEControl) []byte {
		b := make([]byte, 64)
		abi.WQEControlLayout.Encode(&c, b)
		return b
	}
	good := abi.WQEControl{Op: abi.OpNop, Units: 1, Index: m.SQProducer, QPN: p.A.QP.Number()}
	with := func(change func(*abi.WQEControl)) []byte {
		c := good
		change(&c)
		return unit(c)
	}
	for _, c := range []struct {
		name   string
		page   uint8
		writes [][]byte // 64 bytes, or 8 from the start of the window on
		from   uint32
		ignore int
		bad    abi.Counter
	}{
		{"another page", page + 1, [][]byte{unit(good)}, 0, 1, abi.DoorbellBadPage},
		{"no QP", page, [][]byte{with(func(c *abi.WQEControl) { c.QPN = 900 })}, 0, 1, abi.DoorbellBadNumber},
		{"QP beyond the table", page, [][]byte{with(func(c *abi.WQEControl) { c.QPN += 1024 })}, 0, 1, abi.DoorbellBadNumber},
		{"0 units", page, [][]byte{with(func(c *abi.WQEControl) { c.Units = 0 })}, 0, 1, 0},
		{"9 units", page, [][]byte{with(func(c *abi.WQEControl) { c.Units = 9 })}, 0, 1, 0},
		{"index far ahead", page, [][]byte{with(func(c *abi.WQEControl) { c.Index += 1000 })}, 0, 1, abi.DoorbellBadNumber},
		{"not from the start", page, [][]byte{unit(good)[8:16]}, 8, 1, 0},
		{"with a gap", page, [][]byte{unit(good)[:8], unit(good)[8:16], unit(good)[:8]}, 0, 0, 0},
		{"4 bytes", page, [][]byte{unit(good)[:4]}, 0, 0, abi.MMIOWriteIgnored},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := s.A.Counters()
			at := c.from
			for _, w := range c.writes {
				write(t, s.A, abi.PushAddr(c.page)+at, w)
				at += 8
			}
			s.Sleep(500)
			after := s.A.Counters()
			require.EqualValues(t, c.ignore, after[abi.PushedWQEsIgnored]-before[abi.PushedWQEsIgnored])
			require.Equal(t, before[abi.PushedWQEs], after[abi.PushedWQEs])
			if c.bad != 0 {
				require.EqualValues(t, 1, after[c.bad]-before[c.bad])
			}
			require.Equal(t, m, p.A.Query())
		})
	}
	exchange(t, p)
	require.NotZero(t, s.A.Counters()[abi.PushedWQEs])
}

// TestRegisters: what is not there reads as 0 and cannot be written; what is
// read-only stays. All of it is counted.
func TestRegisters(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	before := s.A.Counters()
	holes := []uint32{0x14, 0x5c, 0xfc, 0x160, 0xffc, abi.CountersBase + 8*abi.NumCounters, 0x2100, 0x3008, 0x4000, abi.UARBase - 4, abi.UARBase + 8, abi.BARSize - 4}
	for _, off := range holes {
		var v uint32
		var err error
		s.A.Do(func() { v, err = s.A.Bus.Read32(off) })
		require.NoError(t, err, "%#x", off)
		require.Zero(t, v, "%#x", off)
	}
	after := s.A.Counters()
	require.EqualValues(t, len(holes), after[abi.MMIOReadUnmapped]-before[abi.MMIOReadUnmapped])
	writes := append(holes, abi.RegID, abi.RegVersion, abi.RegStatus, abi.RegCyclesLo, abi.CountersBase, 0x3000, abi.UARBase, abi.UARBase+4)
	for _, off := range writes {
		write(t, s.A, off, []byte{1, 2, 3, 4})
	}
	write(t, s.A, abi.UARBase+8, make([]byte, 8))
	write(t, s.A, abi.UARBase+0x840, make([]byte, 64))
	write(t, s.A, abi.RegPortMACLo&^63, make([]byte, 64))
	s.Sleep(500)
	end := s.A.Counters()
	require.EqualValues(t, len(writes)+3, end[abi.MMIOWriteIgnored]-after[abi.MMIOWriteIgnored])
	var v uint32
	s.A.Do(func() { v, _ = s.A.Bus.Read32(abi.RegID) })
	require.EqualValues(t, abi.ID, v)
	exchange(t, s.Pair())
}
