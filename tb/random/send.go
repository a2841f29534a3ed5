package random

import (
	"fmt"
	"math/rand/v2"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/host"
)

// send posts what the QP sends, phase by phase.
func (e *end) send(t *hdl.Thread, bus *host.Bus) error {
	s := e.s
	r := s.rand(forSending, e.i)
	for phase := 1; phase <= len(s.s.Phases); phase++ {
		s.await(t, phase)
		qp := e.qp.On(s.dev.On(bus))
		for g := e.out.Groups; len(g) > 0; {
			n, count := e.burst(t, g, 1+r.IntN(s.s.Style.Burst))
			if e.stop {
				break
			}
			if err := e.post(t, qp, r, count); err != nil {
				return err
			}
			g = g[n:]
			if p := s.s.Style.Pause; p > 0 && r.IntN(2) == 0 {
				t.Sleep(r.Uint64N(p))
			}
		}
		e.leave()
	}
	return nil
}

// burst takes room for up to most of the groups, all at once, and tells how many
// groups and work requests that is. A group is never begun without the room for its
// end, on which the return of its room depends.
func (e *end) burst(t *hdl.Thread, g []Group, most int) (n, count int) {
	s, beats, back := e.s, 0, 0
	for n < min(most, len(g)) && (n == 0 || count+g[n].N <= e.cfg.MaxSend && beats+g[n].Beats <= s.s.Budget && back+g[n].Back <= s.s.Budget) {
		count += g[n].N
		beats += g[n].Beats
		back += g[n].Back
		n++
	}
	for !e.stop && (e.open+count > e.cfg.MaxSend || s.budget < beats || s.back < back) {
		if s.budget < beats || s.back < back {
			t.Wait(&s.room, 0)
		} else {
			t.Wait(&e.wake, 0)
		}
	}
	if e.stop {
		return n, 0
	}
	e.open += count
	s.budget -= beats
	s.back -= back
	e.groups = append(e.groups, g[:n]...)
	return n, count
}

// post posts the next work requests, in batches, as receives are there for them.
func (e *end) post(t *hdl.Thread, qp *driver.QP, r *rand.Rand, count int) error {
	s := e.s
	var wrs []driver.SendWR
	for count > 0 && !e.stop {
		wrs = wrs[:0]
		for k := min(count, 1+r.IntN(s.s.Style.Batch)); len(wrs) < k; {
			m := &e.out.Messages[e.next]
			if m.receives() && (s.s.Loss == nil || !s.s.Loss.Unasked) {
				if e.credits[e.s.phase-1] == 0 {
					break
				}
				e.credits[e.s.phase-1]--
			}
			if m.Op != abi.OpNop {
				s.sent++
			}
			wrs = append(wrs, e.workRequest(m))
			e.tellSend(m, &wrs[len(wrs)-1])
			e.expect(false, completion{ID: m.ID, Opcode: m.Op.WCOpcode(), ByteLen: uint32(len(m.Data))}, m.Completes, m.Fault.sent())
			e.next++
		}
		if len(wrs) == 0 {
			t.Wait(&e.wake, 0)
			continue
		}
		if n, err := qp.PostSend(wrs...); err != nil || n != len(wrs) {
			return fmt.Errorf("pair %d: %d of %d sends posted: %w", e.i, n, len(wrs), err)
		}
		count -= len(wrs)
	}
	return nil
}

func (e *end) workRequest(m *Message) driver.SendWR {
	w := driver.SendWR{ID: m.ID, Op: m.Op, Imm: m.Imm, Signaled: m.Signaled, Solicited: m.Solicited, Fence: m.Fence}
	e.target(m, &w)
	if m.Inline {
		w.Inline = m.Data
	} else {
		w.SGEs = e.s.sges(m.Src)
	}
	return w
}
