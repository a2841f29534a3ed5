package random

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"rnic/tb"
	"rnic/tb/hang"
)

// waves runs a scenario that failed, in some cycle, once more, and says where the
// waveforms around the failure, or the end of its progress, are.
func (o *Options) waves(seed uint64, s *Scenario, cycle uint64, failure error) string {
	folder, err := o.folder(seed)
	if err != nil {
		return fmt.Sprintf("no waves: %v", err)
	}
	b, entries, err := s.bench()
	if err != nil {
		return fmt.Sprintf("no waves: %v", err)
	}
	defer b.Close()
	from, to := hang.Window(cycle)
	markers := map[string]uint64{"failure": cycle}
	var h *hang.Hang
	if errors.As(failure, &h) {
		from, to = h.Window()
		markers = h.Markers()
	}
	files, err := hang.Waves(folder, fmt.Sprintf("seed_%d", seed), from, to, markers, func(open func(*tb.Bench) error) {
		if open(b) == nil {
			_, _ = s.on(b, entries)
		}
	})
	if err != nil {
		return fmt.Sprintf("no waves: %v", err)
	}
	return fmt.Sprintf("wrote %s, cycles %d to %d", strings.Join(files, ", "), from, to)
}

// folder is where the files of a failure go.
func (o *Options) folder(seed uint64) (string, error) {
	if o.Waves != "" {
		return o.Waves, nil
	}
	return os.MkdirTemp("", fmt.Sprintf("rnic-random-%d-", seed))
}
