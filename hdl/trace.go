package hdl

import "unsafe"

// trace hashes every change of a run, for Digest.
type trace struct {
	digest []uint64 // by module
}

func (t *trace) module(k *Kernel, i int32) {
	m := &k.mods[i]
	t.digest[i] = mix(mix(t.digest[i], k.cycle), k.lays[i].hash(m.q))
}

func (t *trace) stream(k *Kernel, i int) {
	s := k.streams[i]
	if s.push != 0 {
		s.info.digest = mix(mix(s.info.digest, k.cycle<<1), s.info.lay.hash(unsafe.Add(s.base, s.wr)))
	}
	if s.pop != 0 {
		s.info.digest = mix(s.info.digest, k.cycle<<1|1)
	}
}

func (t *trace) level(k *Kernel, i int) {
	s := k.sigs[i]
	s.digest = mix(mix(s.digest, k.cycle), s.lay.hash(s.rec.q))
}

func (t *trace) ram(k *Kernel, i int) {
	r := k.rams[i]
	for j := range r.ports {
		p := &r.ports[j]
		if p.op != ramIdle {
			r.digest = mix(r.digest, k.cycle<<8|uint64(j)<<4|uint64(p.op))
			r.digest = mix(r.digest, uint64(p.addr))
		}
		if p.op == ramWrite {
			r.digest = mix(r.digest, r.lay.hash(p.in))
		}
	}
}
