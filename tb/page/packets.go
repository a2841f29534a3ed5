package page

import (
	"cmp"
	"fmt"
	"slices"

	"rnic/tb/story"
)

// addPackets makes the columns of the packets, by time.
func (r *run) addPackets(s *story.Story, host map[string]int, t *table) error {
	list := slices.Clone(s.Packets)
	slices.SortStableFunc(list, func(a, b *story.Packet) int { return cmp.Compare(a.Ps, b.Ps) })
	c := &r.Packets
	*c = packets{
		ID: []int{}, Host: []int{}, To: []int{}, Ps: []int64{}, Dur: []int64{}, Fly: []int64{}, Cycle: []int64{}, QPN: []uint32{}, DQPN: []uint32{}, PSN: []uint32{},
		Op: []int{}, Bytes: []int{}, Payload: []int{}, Syndrome: []int{}, MSN: []uint32{}, AckReq: []int{}, WR: []int{}, Cause: []int{}, Because: []int{}, Fate: []int{},
		Signal: []int{}, Value: []int{},
	}
	var ps, cycle int64
	for _, p := range list {
		h, ok := host[p.Host]
		if !ok {
			return fmt.Errorf("page: packet %d of %q, which is no host of the run", p.ID, p.Host)
		}
		fly := int64(-1)
		if p.ArrivePs >= p.Ps {
			fly = p.ArrivePs - p.Ps
		}
		ack := 0
		if p.AckReq {
			ack = 1
		}
		c.ID = append(c.ID, p.ID)
		c.Host = append(c.Host, h)
		c.To = append(c.To, (h+1)%len(s.Hosts)) // a run has two hosts
		c.Ps = append(c.Ps, p.Ps-ps)
		c.Dur = append(c.Dur, p.EndPs-p.Ps)
		c.Fly = append(c.Fly, fly)
		c.Cycle = append(c.Cycle, int64(p.Cycle)-cycle)
		c.QPN = append(c.QPN, p.QPN)
		c.DQPN = append(c.DQPN, p.DestQPN)
		c.PSN = append(c.PSN, p.PSN)
		c.Op = append(c.Op, t.number(p.Opcode))
		c.Bytes = append(c.Bytes, p.Bytes)
		c.Payload = append(c.Payload, p.Payload)
		c.Syndrome = append(c.Syndrome, t.number(p.Syndrome))
		c.MSN = append(c.MSN, p.MSN)
		c.AckReq = append(c.AckReq, ack)
		c.WR = append(c.WR, p.WR)
		c.Cause = append(c.Cause, t.number(p.Cause))
		c.Because = append(c.Because, p.Because)
		c.Fate = append(c.Fate, t.number(p.Fate))
		c.Signal = append(c.Signal, t.number(p.Signal))
		c.Value = append(c.Value, t.number(p.Value))
		for _, e := range p.Why {
			r.Why[p.ID] = append(r.Why[p.ID], event{e.Ps, int64(e.Cycle), t.n(e.Signal), t.n(e.Value), t.n(e.Text)})
		}
		ps, cycle = p.Ps, int64(p.Cycle)
	}
	return nil
}

// flight is the median time from a packet's first bit to its arrival, 1 us if none did.
func flight(s *story.Story) int64 {
	var times []int64
	for _, p := range s.Packets {
		if p.ArrivePs > p.Ps {
			times = append(times, p.ArrivePs-p.Ps)
		}
	}
	if len(times) == 0 {
		return 1_000_000
	}
	slices.Sort(times)
	return times[len(times)/2]
}
