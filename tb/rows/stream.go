package rows

import (
	"unsafe"

	"rnic/hdl"
)

// stream follows the heads of a stream.
type stream struct {
	k     *hdl.Kernel
	take  int // owner of what happens in a cycle
	off   uintptr
	empty bool
	took  int64   // ps: the cycle in which the last beat was taken
	told  []Event // of the beat at the head
}

// follow has f called with each beat when it comes to the head of a stream, and with
// nil when none does. The port is named by its path below the kernel.
func follow[T any](s *side, path string, in *hdl.In[T], f func(now int64, head *T)) error {
	return s.heads(path+".take", func(now int64, some bool) {
		if !some {
			f(now, nil)
			return
		}
		f(now, in.Head())
	})
}

// heads is follow for a signal of the stream that tells of takes.
func (s *side) heads(take string, f func(now int64, some bool)) error {
	sig, err := s.signal(take)
	if err != nil {
		return err
	}
	st := &stream{k: s.h.K, take: sig.Owner, off: sig.Offset, empty: true}
	// A stream has three owners: handshake, payload, what happens in a cycle.
	s.when(st.take-1, func(now int64) {
		some := st.k.Base(st.take-1) != nil
		if !st.empty && (!some || st.taken()) {
			st.took = now - s.period
			s.happen(st)
		}
		s.at = st
		if some && (st.empty || st.taken()) || !some && !st.empty {
			f(now, some)
		}
		s.at = nil
		st.empty = !some
	})
	return nil
}

// happen tells of the events of a beat that was taken.
func (s *side) happen(st *stream) {
	for _, e := range st.told {
		e.Ps = st.took
		s.o.Event(e)
	}
	st.told = st.told[:0]
}

func (st *stream) taken() bool { return *(*bool)(unsafe.Add(st.k.Base(st.take), st.off)) }

// writes has f called with the address of each write of a RAM, after it.
func (s *side) writes(ram string, f func(now int64, addr int)) error {
	for _, port := range []string{"port_0", "port_1"} {
		addr, err := s.signal(ram + "." + port + ".addr")
		if err != nil {
			return err
		}
		write, err := s.signal(ram + "." + port + ".write")
		if err != nil {
			return err
		}
		s.when(addr.Owner, func(now int64) {
			base := s.h.K.Base(addr.Owner)
			if *(*bool)(unsafe.Add(base, write.Offset)) {
				f(now, int(*(*uint64)(unsafe.Add(base, addr.Offset))))
			}
		})
	}
	return nil
}
