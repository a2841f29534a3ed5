package transfer

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/tb/host"
)

// coordinateTwoWay is the coordinator of either host when both send: the same on
// both sides, so that both begin at the same time. The messages of host b lie in
// the second half of the buffers.
func (r *run) coordinateTwoWay(s, peer *side) func(*hdl.Thread, *host.Bus) error {
	return func(t *hdl.Thread, bus *host.Bus) error {
		if err := s.setup(bus); err != nil {
			return err
		}
		if err := s.connect(t); err != nil {
			return err
		}
		t.Sleep(settle)
		r.settled(s)
		from := s // whose messages are in this host's memory
		if r.j.Op == abi.OpRead {
			from = peer
		}
		if err := r.load(s, from.off, 1); err != nil {
			return err
		}
		s.meet(t)
		s.round = 1
		s.begin.Notify()
		if err := s.gather(t, &s.done, 1); err != nil {
			return err
		}
		s.ended = t.Now()
		s.meet(t)
		for i := 0; r.j.Op == abi.OpWrite && i < r.messages; i++ {
			if err := r.compare(s, peer.off, i); err != nil {
				return err
			}
		}
		r.calm(t, s)
		return s.counters()
	}
}

// meet waits until the other host is here too.
func (s *side) meet(t *hdl.Thread) {
	s.h.OOB.Send([]byte("here"))
	s.h.OOB.Recv(t)
}
