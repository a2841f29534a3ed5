package tb

import (
	"errors"
	"fmt"
	"slices"

	"rnic/hdl"
)

// Rest is a host in which nothing is under way: its streams are empty, but those
// that serve a block as a list of what is free.
type Rest struct {
	h        *Host
	occupied []hdl.Occupancy
}

// NewRest notes how many beats wait where, at a moment of rest.
func NewRest(h *Host) *Rest { return &Rest{h, h.K.Occupied()} }

// Check demands that the host is at rest again: every buffer empty, every credit
// and tag at home, every guard byte untouched. A run that was stopped before a moment of
// rest has none to compare with.
func (r *Rest) Check() error {
	if r == nil {
		return errors.New("the run was stopped before the host was at rest")
	}
	var err error
	if now := r.h.K.Occupied(); !slices.Equal(now, r.occupied) {
		err = fmt.Errorf("%s: streams %v hold beats at the end, at rest %v", r.h.K.Name(), now, r.occupied)
	}
	if c := r.h.Cable(); c.Waiting > 0 {
		err = errors.Join(err, fmt.Errorf("%s: %d frames are still on their way to it", r.h.K.Name(), c.Waiting))
	}
	return errors.Join(err, r.h.Machine.RC.Outstanding(), r.h.Machine.Mem.CheckGuards())
}
