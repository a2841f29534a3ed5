package loss

import (
	"errors"
	"fmt"
)

// walk adds up stages.
type walk struct {
	dst       *[]Stage
	at, begin uint64
	err       error
}

func (w *walk) until(name, block string, cycle uint64) {
	if cycle < w.at {
		w.err = errors.Join(w.err, fmt.Errorf("%q ends %d cycles before it begins", name, w.at-cycle))
		return
	}
	*w.dst = append(*w.dst, Stage{name, block, cycle - w.at, cycle - w.begin})
	w.at = cycle
}

func (w *walk) steps(t *trace, steps []step) {
	for _, s := range steps {
		c, ok := t.next(s.signal, w.at)
		if !ok {
			w.err = errors.Join(w.err, fmt.Errorf("no %q any more", s.name))
			return
		}
		w.until(s.name, s.block, c)
	}
}
