package replay

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"rnic/roce"
)

// region is a stretch of the memory behind an R_Key that requests reach, with what it
// must hold before the first of them for the answers to come out as captured.
type region struct {
	key      uint32
	from, to uint64 // virtual addresses at the peer's view
	initial  []byte
	now      []byte // as the requests so far leave it
	known    []bool // what is initial there follows from an answer, or no longer matters
}

// What the model has room for: bytes of all stretches, and their number. Stretches
// that are nearer to each other than near are one.
const (
	mostMemory  = 48 << 20
	mostRegions = 900
	near        = 4096
)

// regions finds the memory that the requests of a conversation use.
func (c *Conversation) regions() ([]*region, error) {
	var all []*region
	for i := range c.Events {
		e := &c.Events[i]
		code, ok := c.fatal[e.BTH.PSN]
		switch p := &e.Packet; {
		case e.Answer || ok && code == roce.NAKRemoteAccess: // the key stays one that the NIC does not know
		case p.BTH.Opcode.IsAtomic():
			all = append(all, &region{key: p.AtomicETH.RKey, from: p.AtomicETH.VA, to: p.AtomicETH.VA + 8})
		case p.BTH.Opcode.HasRETH() && p.RETH.Length > 0:
			all = append(all, &region{key: p.RETH.RKey, from: p.RETH.VA, to: p.RETH.VA + uint64(p.RETH.Length)})
		}
	}
	all = slices.DeleteFunc(all, func(r *region) bool { return r.to <= r.from }) // beyond 2^64
	slices.SortFunc(all, func(a, b *region) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.from, b.from))
	})
	var list []*region
	for _, r := range all {
		if n := len(list); n > 0 && list[n-1].key == r.key && (r.from <= list[n-1].to || r.from-list[n-1].to < near) {
			list[n-1].to = max(list[n-1].to, r.to)
		} else {
			list = append(list, r)
		}
	}
	total := uint64(0)
	for _, r := range list {
		if total += r.to - r.from; total > mostMemory || r.to-r.from > mostMemory {
			return nil, fmt.Errorf("the requests reach more than %d MiB of memory: too much to replay", mostMemory>>20)
		}
	}
	if len(list) > mostRegions {
		return nil, fmt.Errorf("the requests reach %d stretches of memory; at most %d can be replayed", len(list), mostRegions)
	}
	for _, r := range list {
		r.initial, r.now = make([]byte, r.to-r.from), make([]byte, r.to-r.from)
		r.known = make([]bool, r.to-r.from)
	}
	return list, nil
}

// reaches is the stretch that holds n bytes at va of a key; nil: none.
func reaches(list []*region, key uint32, va uint64, n int) *region {
	for _, r := range list {
		if r.key == key && va >= r.from && va < r.to && r.to-va >= uint64(n) {
			return r
		}
	}
	return nil
}

// poke is what others than the requests wrote to memory.
type poke struct {
	region int
	offset int
	data   []byte
}

// write notes what a request leaves in memory.
func write(list []*region, key uint32, va uint64, data []byte) {
	r := reaches(list, key, va, len(data))
	if r == nil {
		return
	}
	at := va - r.from
	copy(r.now[at:], data)
	for i := range data {
		r.known[at+uint64(i)] = true
	}
}

// found notes what an answer shows to be in memory. What nothing told before was
// there from the start; what is other than the requests left it is returned as pokes.
func found(list []*region, key uint32, va uint64, data []byte) (pokes []poke) {
	r := reaches(list, key, va, len(data))
	if r == nil {
		return nil
	}
	at := int(va - r.from)
	changed := false
	for i, v := range data {
		switch k := at + i; {
		case !r.known[k]:
			r.known[k], r.initial[k], r.now[k] = true, v, v
		case r.now[k] != v:
			r.now[k], changed = v, true
		}
	}
	if changed {
		pokes = append(pokes, poke{slices.Index(list, r), at, data})
	}
	return pokes
}

// operate is what an atomic leaves, in the host's byte order.
func operate(p *roce.Packet, old uint64) []byte {
	v := p.AtomicETH.SwapAdd
	switch {
	case p.BTH.Opcode == roce.RCFetchAdd:
		v += old
	case old != p.AtomicETH.Compare:
		v = old
	}
	return binary.LittleEndian.AppendUint64(nil, v)
}
