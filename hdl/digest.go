package hdl

import (
	"math/bits"
	"unsafe"
)

// mix folds a word into a hash.
func mix(h, w uint64) uint64 {
	hi, lo := bits.Mul64(h^0x9e3779b97f4a7c15, w^0xd1b54a32d192ed03)
	return hi ^ lo ^ bits.RotateLeft64(h, 29)
}

// hash is a hash of the fields of a flat value.
func (l *layout) hash(p unsafe.Pointer) uint64 {
	h := uint64(l.words)
	for i, m := range l.mask {
		h = mix(h, *(*uint64)(unsafe.Add(p, i*8))&m)
	}
	return h
}

// Digest is a hash of the present cycle and state: registers, levels, beats in
// streams, RAM contents. With Options.Digest it also covers every change of
// state, every transfer and every RAM access since cycle 0, each with its cycle.
// It does not depend on strict mode, order of evaluation or gating.
func (k *Kernel) Digest() uint64 {
	h := mix(0, k.cycle)
	for i := range k.mods {
		h = mix(h, k.lays[i].hash(k.mods[i].q))
		if k.trace != nil {
			h = mix(h, k.trace.digest[i])
		}
	}
	for _, s := range k.streams {
		h = mix(mix(h, s.info.digest), uint64(s.n))
		for i, off := uint32(0), s.rd; i < s.n; i++ {
			h = mix(h, s.info.lay.hash(unsafe.Add(s.base, off)))
			if off += s.stride; off == s.end {
				off = 0
			}
		}
	}
	for _, s := range k.sigs {
		h = mix(mix(h, s.digest), s.lay.hash(s.rec.q))
	}
	for _, r := range k.rams {
		h = mix(h, r.digest)
		for a := range r.depth {
			h = mix(h, r.lay.hash(r.word(a)))
		}
		for j := range r.ports {
			h = mix(h, r.lay.hash(r.ports[j].data))
		}
	}
	return h
}
