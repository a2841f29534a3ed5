package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/rtl/port"
)

// sharedQueue is a mailbox for creation: 16 slots, 15 entries.
func sharedQueue() abi.SRQMailbox {
	return abi.SRQMailbox{Base: 0x40000, LogSize: 4, LogStride: 6, MaxSGE: 3, PD: 9, UARPage: 6, Limit: 5, Producer: 77, Consumer: 66}
}

func newSRQ(t testing.TB) *SRQ {
	s, m := &SRQ{}, sharedQueue()
	require.Equal(t, result{}, s.create(&m))
	return s
}

func TestCreateSRQ(t *testing.T) {
	for _, c := range []struct {
		name string
		edit func(m *abi.SRQMailbox)
		want result
	}{
		{"good", func(*abi.SRQMailbox) {}, result{}},
		{"two slots", func(m *abi.SRQMailbox) { m.LogSize, m.Limit = 1, 1 }, result{}},
		{"largest", func(m *abi.SRQMailbox) { m.LogSize, m.Limit = 15, 32767 }, result{}},
		{"all entries are the limit", func(m *abi.SRQMailbox) { m.Limit = 15 }, result{}},
		{"up to the end of the address space", func(m *abi.SRQMailbox) { m.Base = ^uint64(1<<10 - 1) }, result{}},
		{"last page", func(m *abi.SRQMailbox) { m.UARPage = 255 }, result{}},
		{"no element", func(m *abi.SRQMailbox) { m.MaxSGE, m.LogStride = 0, 5 }, result{}},
		{"page", func(m *abi.SRQMailbox) { m.UARPage = 256 }, badParam(abi.SynUARPage)},
		{"elements", func(m *abi.SRQMailbox) { m.MaxSGE, m.LogStride = abi.MaxSGE+1, 10 }, badParam(abi.SynMaxSGE)},
		{"elements over the stride", func(m *abi.SRQMailbox) { m.MaxSGE = 4 }, badParam(abi.SynRQ)},
		{"short stride", func(m *abi.SRQMailbox) { m.MaxSGE, m.LogStride = 0, 4 }, badParam(abi.SynRQ)},
		{"long stride", func(m *abi.SRQMailbox) { m.LogStride = 13 }, badParam(abi.SynRQ)},
		{"one slot", func(m *abi.SRQMailbox) { m.LogSize, m.Limit = 0, 0 }, badParam(abi.SynLogSize)},
		{"too large", func(m *abi.SRQMailbox) { m.LogSize = 16 }, badParam(abi.SynLogSize)},
		{"base", func(m *abi.SRQMailbox) { m.Base += 32 }, badParam(abi.SynBase)},
		{"wraps", func(m *abi.SRQMailbox) { m.Base = ^uint64(1<<10-1) + 64 }, badParam(abi.SynBase)},
		{"limit", func(m *abi.SRQMailbox) { m.Limit = 16 }, badParam(abi.SynLimit)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, m := &SRQ{}, sharedQueue()
			c.edit(&m)
			require.Equal(t, c.want, s.create(&m))
			if !c.want.ok() {
				require.Zero(t, *s)
				return
			}
			var got abi.SRQMailbox
			require.True(t, s.query(&got).ok())
			m.Producer, m.Consumer = 0, 0
			require.Equal(t, m, got)
			require.Equal(t, result{abi.AdminExists, abi.SynObject}, s.create(&m))
		})
	}
}

func TestModifySRQ(t *testing.T) {
	// 7 entries are left of 15.
	for _, c := range []struct {
		name   string
		m      abi.SRQMailbox
		want   result
		limit  bool
		change func(s *SRQ)
	}{
		{"nothing", abi.SRQMailbox{Limit: 9, Base: 0x80000, LogSize: 5}, result{}, false, func(*SRQ) {}},
		{"arm", abi.SRQMailbox{Mask: abi.SRQLimit, Limit: 7}, result{}, false, func(s *SRQ) { s.Limit = 7 }},
		{"arm too late", abi.SRQMailbox{Mask: abi.SRQLimit, Limit: 8}, result{}, true, func(s *SRQ) { s.Limit = 0 }},
		{"disarm", abi.SRQMailbox{Mask: abi.SRQLimit}, result{}, false, func(s *SRQ) { s.Limit = 0 }},
		{"limit above the entries", abi.SRQMailbox{Mask: abi.SRQLimit, Limit: 16}, badParam(abi.SynLimit), false, nil},
		{"resize", abi.SRQMailbox{Mask: abi.SRQRing, Base: 0x80000, LogSize: 6, LogStride: 9, MaxSGE: 1, PD: 2, UARPage: 1}, result{}, false,
			func(s *SRQ) { s.Base, s.Log = 0x80000, 6 }},
		{"move", abi.SRQMailbox{Mask: abi.SRQRing, Base: 0x80000, LogSize: 4}, result{}, false, func(s *SRQ) { s.Base = 0x80000 }},
		{"shrink", abi.SRQMailbox{Mask: abi.SRQRing, Base: 0x80000, LogSize: 3}, badParam(abi.SynLogSize), false, nil},
		{"resize too far", abi.SRQMailbox{Mask: abi.SRQRing, Base: 0x80000, LogSize: 16}, badParam(abi.SynLogSize), false, nil},
		{"bad base", abi.SRQMailbox{Mask: abi.SRQRing, Base: 0x80008, LogSize: 5}, badParam(abi.SynBase), false, nil},
		{"both", abi.SRQMailbox{Mask: abi.SRQRing | abi.SRQLimit, Base: 0x80000, LogSize: 5, Limit: 31}, result{}, true,
			func(s *SRQ) { s.Base, s.Log, s.Limit = 0x80000, 5, 0 }},
		{"both, bad limit", abi.SRQMailbox{Mask: abi.SRQRing | abi.SRQLimit, Base: 0x80000, LogSize: 5, Limit: 32}, badParam(abi.SynLimit), false, nil},
		{"unknown attribute", abi.SRQMailbox{Mask: 4 | abi.SRQLimit, Limit: 1}, badParam(abi.SynSRQ), false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSRQ(t)
			s.PI, s.CI = 3, 65532
			want := *s
			if c.change != nil {
				c.change(&want)
			}
			r, limit := s.modify(&c.m)
			require.Equal(t, c.want, r)
			require.Equal(t, c.limit, limit)
			require.Equal(t, want, *s)
		})
	}
}

func TestSRQDoorbell(t *testing.T) {
	// 4 entries are left of 15; numbers wrap.
	for _, c := range []struct {
		name    string
		index   uint16
		page    uint8
		ok, bad bool
	}{
		{"next", 3, 6, true, false},
		{"the same again", 2, 6, true, false},
		{"full", 13, 6, true, false},
		{"over the ring", 14, 6, false, false},
		{"back", 1, 6, false, false},
		{"behind what is taken", 65533, 6, false, false},
		{"wrong page", 3, 5, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSRQ(t)
			s.PI, s.CI = 2, 65534
			want := *s
			ok, bad := s.ring(c.index, c.page)
			require.Equal(t, []bool{c.ok, c.bad}, []bool{ok, bad})
			if c.ok {
				want.PI = c.index
			}
			require.Equal(t, want, *s)
		})
	}
}

// TestSRQLimit: one event when fewer are left than the limit, until it is armed again.
func TestSRQLimit(t *testing.T) {
	s := newSRQ(t) // limit 5
	_, limit := s.modify(&abi.SRQMailbox{Mask: abi.SRQRing, LogSize: 4})
	require.False(t, limit, "it was armed before anything could be posted")
	ok, _ := s.ring(7, 6)
	require.True(t, ok)
	for i, want := range []bool{false, false, true, false, false} {
		n, first, limit := s.take()
		require.Equal(t, uint16(i), n)
		require.Equal(t, i == 0, first)
		require.Equal(t, want, limit, i)
	}
	_, limit = s.modify(&abi.SRQMailbox{Mask: abi.SRQLimit, Limit: 2})
	require.False(t, limit)
	_, _, limit = s.take()
	require.True(t, limit)
	require.Equal(t, uint16(1), s.left())
	require.Zero(t, s.Limit)
}

// TestNoSRQ: a number that names none is refused, and ends nothing.
func TestNoSRQ(t *testing.T) {
	bad, m := result{abi.AdminBadObject, abi.SynObject}, sharedQueue()
	s := &SRQ{}
	require.Equal(t, bad, s.destroy())
	require.Equal(t, bad, s.query(&abi.SRQMailbox{}))
	r, limit := s.modify(&m)
	require.Equal(t, bad, r)
	require.False(t, limit)
	ok, page := s.ring(0, 0)
	require.False(t, ok || page)
	require.False(t, s.fail())
	require.Zero(t, *s)

	s = newSRQ(t)
	s.ring(3, 6)
	s.take()
	require.True(t, s.fail())
	require.False(t, s.fail(), "once")
	require.True(t, s.destroy().ok())
	require.Zero(t, *s)
	require.True(t, s.create(&m).ok())
	s.ring(1, 6)
	_, first, _ := s.take()
	require.True(t, first, "of the new life")
}

func TestDescribeSRQ(t *testing.T) {
	s := newSRQ(t)
	s.PI, s.CI = 2, 65530
	n, _, _ := s.take()
	v := port.RxVerdict{QPN: 3, SRQN: 4, First: true}
	s.describe(n, &v)
	require.Equal(t, port.RxVerdict{
		QPN: 3, SRQN: 4, First: true, SRQ: true, RQPD: 9, RQIdx: 65530, RQAddr: 0x40000, RQStride: 64, RQLog: 4, RQNext: 7,
	}, v)
}

// TestSRQNumbers: whatever is rung and taken, numbers come in order, each once, none
// that was not posted, and never more than the ring holds; an event comes for each arm
// at the first take that leaves fewer.
func TestSRQNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, m := &SRQ{}, sharedQueue()
		m.LogSize, m.Limit = rapid.Uint8Range(1, 15).Draw(t, "log"), 0
		if !s.create(&m).ok() {
			t.Fatal("not created")
		}
		posted, taken, armed := 0, 0, 0
		room := 1<<m.LogSize - 1
		for i := range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 2).Draw(t, "step") {
			case 0:
				n := rapid.IntRange(-5, room+2).Draw(t, "by")
				ok, _ := s.ring(uint16(posted+n), 6)
				if legal := n >= 0 && posted+n-taken <= room; ok != legal {
					t.Fatalf("step %d: %d more with %d left of %d: %v", i, n, posted-taken, room, ok)
				} else if legal {
					posted += n
				}
			case 1:
				for range min(rapid.IntRange(0, 70000).Draw(t, "take"), posted-taken) {
					n, first, limit := s.take()
					if n != uint16(taken) || first != (taken == 0) {
						t.Fatalf("entry %d has number %d, first %v", taken, n, first)
					}
					taken++
					if want := posted-taken < armed; limit != want {
						t.Fatalf("event %v with %d left and limit %d", limit, posted-taken, armed)
					} else if limit {
						armed = 0
					}
				}
			case 2:
				armed = rapid.IntRange(0, room).Draw(t, "limit")
				_, limit := s.modify(&abi.SRQMailbox{Mask: abi.SRQLimit, Limit: uint16(armed)})
				if want := posted-taken < armed; limit != want {
					t.Fatalf("event %v with %d left and limit %d", limit, posted-taken, armed)
				} else if limit {
					armed = 0
				}
			}
			if int(s.left()) != posted-taken {
				t.Fatalf("%d left, not %d", s.left(), posted-taken)
			}
		}
	})
}
