package cqwriter_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/rtl/port"
)

// TestArmAtEveryCycle arms at each cycle within 64 of a CQE's request, for any and for
// solicited, in trains of CQEs at several rates and behind traffic of other queues.
// The arm's index is what a driver can have seen by then, or older. There is one
// event if the CQE is beyond it, and none if not.
func TestArmAtEveryCycle(t *testing.T) {
	for _, strict := range []bool{false, true} {
		for _, gap := range []int{1, 2, 3, 7, 40} {
			for _, solicited := range []bool{false, true} {
				t.Run(fmt.Sprintf("gap %d solicited %t strict %t", gap, solicited, strict), func(t *testing.T) {
					s := &armSweep{b: newBench(t, small, hdl.Options{Strict: strict}, 0), gap: gap, solicited: solicited}
					s.b.onLand = s.land
					s.b.admin(t, createEQ(0, 10, 0), createCQ(0, 6, 0), createCQ(1, 15, 0))
					for offset := -64; offset <= 64; offset++ {
						for stale := range uint16(3) {
							s.once(t, offset, stale)
						}
					}
				})
			}
		}
	}
}

// armSweep is a train of CQEs, and an arm in it.
type armSweep struct {
	b         *bench
	gap       int
	solicited bool
	at        uint16 // index of the first CQE of the train
	landed    uint16 // CQEs of queue 0 in memory
	events    uint16
	noise     uint16 // CQEs of queue 1
}

const (
	train  = 8
	target = 4 // the CQE that offsets count from; the only one that is solicited
)

func (s *armSweep) land(l *landed) {
	switch {
	case l.isEvent():
		s.events++
	case l.isCQE() && l.queue() == 0:
		s.landed++
	}
}

func (s *armSweep) once(t *testing.T, offset int, stale uint16) {
	b, before := s.b, s.events
	start := 70 + target*s.gap
	var armed uint16
	for cycle := range start + 64 + train*s.gap {
		if n := cycle - start + target*s.gap; n >= 0 && n%s.gap == 0 && n/s.gap < train {
			b.Send.Push(port.CQEReq{Solicited: n/s.gap == target})
		}
		if cycle%3 == 0 {
			b.Recv.Push(port.CQEReq{CQN: 1})
			s.noise++
		}
		if cycle == start+offset {
			armed = s.landed - min(stale, s.landed-s.at)
			b.Bell.Push(arm(0, armed, s.solicited))
		}
		b.run(t, 1)
	}
	b.run(t, 100)
	want := uint16(0)
	if !s.solicited && armed < s.at+train || s.solicited && armed <= s.at+target {
		want = 1
	}
	require.Equal(t, want, s.events-before, "offset %d, %d of %d consumed", offset, armed-s.at, train)
	require.Equal(t, s.at+train, s.landed)
	// An arm that still waits gets its CQE.
	b.Bell.Push(ring(0, s.at+train), ring(1, s.noise))
	b.Send.Push(port.CQEReq{Solicited: true})
	b.run(t, 50)
	require.EqualValues(t, 1, s.events-before)
	s.at += train + 1
	b.Bell.Push(ring(0, s.at), rearm(0, s.events))
	b.run(t, 30)
	require.Zero(t, b.W.Stats.Get().BadNumber)
}
