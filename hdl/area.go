package hdl

// Usage is the storage of one module.
type Usage struct {
	Path         string
	FlipFlopBits int
	RAMBits      int
}

// deepFIFO is the depth from which a stream's storage is counted as RAM.
const deepFIFO = 8

// Area counts storage a module, in elaboration order: registers and levels by the
// widths of their types; a stream to its consumer, or to its producer if an agent
// consumes it, as flip-flops below a depth of 8, else as RAM.
func (k *Kernel) Area() []Usage {
	use := make([]Usage, len(k.mods))
	at := func(i int32) *Usage {
		if int(i) < len(use) {
			return &use[i]
		}
		return nil
	}
	for i := range k.mods {
		use[i] = Usage{Path: k.mods[i].blk().path, FlipFlopBits: k.lays[i].bits}
	}
	for _, s := range k.sigs {
		if u := at(s.blk.idx); u != nil {
			u.FlipFlopBits += s.lay.bits
		}
	}
	for _, r := range k.rams {
		at(r.owner).RAMBits += r.depth * r.lay.bits
	}
	for _, s := range k.streams {
		u := at(s.dst)
		if u == nil {
			u = at(s.src)
		}
		if u == nil || s.info.tied {
			continue
		}
		if n := s.info.depth * s.info.lay.bits; s.info.depth < deepFIFO {
			u.FlipFlopBits += n
		} else {
			u.RAMBits += n
		}
	}
	return use
}
