package host

import (
	"math"

	"rnic/pcie"
)

// OpenRead is a read of the NIC that is not answered in full.
type OpenRead struct {
	Tag   pcie.Tag
	Addr  uint64
	Bytes int
	At    uint64 // cycle in which the link delivered it
	Due   uint64 // cycle in which its answer begins; math.MaxUint64: never, by FaultNever
}

// OpenReads lists the reads of the NIC that are not answered in full, by tag. Those
// that will never be stay until their tag is used again.
func (r *RootComplex) OpenReads() []OpenRead {
	var l []OpenRead
	for t := range r.asked {
		o := r.asked[t]
		if !r.tags[t] && o.Due != math.MaxUint64 {
			continue
		}
		for _, p := range r.reads {
			if p.hdr.Tag == o.Tag {
				o.Due = p.due
			}
		}
		l = append(l, o)
	}
	return l
}

// Stopped is the cycle until which the host takes nothing from the NIC and completes
// nothing; in the past if it does.
func (r *RootComplex) Stopped() uint64 { return r.stopped }
