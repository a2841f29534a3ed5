package story

import (
	"fmt"
	"slices"
)

// ids are the IDs of a story, by what has them.
type ids struct {
	s       *Story
	packets map[int]*Packet
	wrs     map[int]bool
	first   [2]int // of the packets of each host that are kept; those before are forgotten
}

// ids refuses those that are given twice, or to the wrong host.
func (s *Story) ids() (*ids, error) {
	k := &ids{s: s, packets: make(map[int]*Packet, len(s.Packets)), wrs: make(map[int]bool, len(s.WRs))}
	where := map[int]int{}
	own := func(id int, host string) error {
		if !slices.Contains(s.Hosts, host) {
			return nil // check tells
		}
		if n := id & 1; id < 0 || n >= len(s.Hosts) || s.Hosts[n] != host {
			return fmt.Errorf("that is no ID of %s: its are even, and those of a second host odd", host)
		}
		return nil
	}
	for i, w := range s.WRs {
		if before, is := where[w.ID]; is {
			return nil, fmt.Errorf("wrs[%d], ID %d: wrs[%d] has that ID", i, w.ID, before)
		}
		where[w.ID], k.wrs[w.ID] = i, true
		if err := own(w.ID, w.Host); err != nil {
			return nil, fmt.Errorf("wrs[%d], ID %d: %w", i, w.ID, err)
		}
	}
	clear(where)
	k.first = [2]int{-1, -1}
	for i, p := range s.Packets {
		if before, is := where[p.ID]; is {
			return nil, fmt.Errorf("packets[%d], ID %d: packets[%d] has that ID", i, p.ID, before)
		}
		where[p.ID], k.packets[p.ID] = i, p
		if err := own(p.ID, p.Host); err != nil {
			return nil, fmt.Errorf("packets[%d], ID %d: %w", i, p.ID, err)
		}
		if n := p.ID & 1; k.first[n] < 0 || p.ID < k.first[n] {
			k.first[n] = p.ID
		}
	}
	return k, nil
}

// packet refuses the ID of a packet that there is not, and that was not forgotten.
func (k *ids) packet(id int, key string) error {
	if k.packets[id] != nil {
		return nil
	}
	if id >= 0 && k.s.Forgotten.Packets > 0 && (k.first[id&1] < 0 || id < k.first[id&1]) {
		return nil
	}
	return fmt.Errorf("%s: there is no packet %d", key, id)
}

// cause refuses a packet of a work request or because of a packet that there is not, or
// because of a later one.
func (k *ids) cause(p *Packet) error {
	if p.WR != -1 && !k.wrs[p.WR] {
		return fmt.Errorf("wr: there is no work request %d", p.WR)
	}
	if p.Because == -1 {
		return nil
	}
	if b := k.packets[p.Because]; b != nil && b.Ps >= p.Ps {
		return fmt.Errorf("because: packet %d is not before it", p.Because)
	}
	return k.packet(p.Because, "because")
}
