package page_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"rnic/tb/story"
)

// sample is a run of about n packets over a lossy wire: SENDs of four packets from
// host_a on several QPs, an ACK each, now and then one lost and sent again.
func sample(n int) *story.Story {
	r := rand.New(rand.NewPCG(1, 2)) // a longer run begins as a shorter one
	s := &story.Story{
		ClockPs: 4000, Hosts: []string{"host_a", "host_b"}, Limit: 100_000,
		Spent: map[string][]story.Share{}, Counters: map[string]map[string]uint64{},
	}
	const qps, wire, flight = 4, 92_000, 392_000
	for q := range qps {
		s.QPs = append(s.QPs, &story.QP{Host: "host_a", QPN: uint32(16 + q), Transport: "RC", Peer: uint32(32 + q)})
	}
	free := int64(2_000_000) // of host_a's wire
	ids := [2]int{0, 1}
	psn := [qps]uint32{100, 2000, 30000, 16777000}
	at := func(ps int64, host, block, value string) story.At {
		return story.At{Ps: ps, Cycle: uint64(ps / 4000), Signal: host + ".nic." + block, Value: value}
	}
	send := func(host int, ps int64, p story.Packet) *story.Packet {
		p.ID, p.Host, p.Ps, p.Cycle = ids[host], s.Hosts[host], ps, uint64(ps/4000)
		ids[host] += 2
		p.EndPs = ps + max(8000, int64(p.Bytes)*80/4000*4000)
		p.ArrivePs = p.EndPs + 300_000
		p.Signal, p.Value = p.Host+".nic.mac.tx.data", "4096'h…"
		if p.Fate == story.DroppedOnWire {
			p.ArrivePs = -1
		}
		s.Packets = append(s.Packets, &p)
		return s.Packets[len(s.Packets)-1]
	}
	for len(s.Packets) < n {
		q := len(s.WRs) % qps
		w := &story.WR{ID: 2 * len(s.WRs), Host: "host_a", QPN: uint32(16 + q), Transport: "RC", Queue: "sq", Index: uint16(len(s.WRs) / qps), Op: "SEND", Bytes: 4096, Status: "SUCCESS", Signalled: true, Tries: 1}
		stage := func(name string, ps int64) {
			w.Stages = append(w.Stages, story.Stage{Name: name, At: at(ps, "host_a", "wqe_sched.pick", fmt.Sprintf("%q", name))})
		}
		stage(story.Posted, free-1_400_000+r.Int64N(90)*4000)
		stage(story.Doorbell, free-1_000_000)
		stage(story.WQERead, free-400_000)
		cause, because := story.New, -1
		var last *story.Packet
		for again := true; again; {
			again = false
			for k, op := range []string{"RC_SEND_FIRST", "RC_SEND_MIDDLE", "RC_SEND_MIDDLE", "RC_SEND_LAST"} {
				p := story.Packet{QPN: w.QPN, DestQPN: uint32(32 + q), PSN: (psn[q] + uint32(k)) & 0xffffff, Opcode: op, Bytes: 1086, Payload: 1024, WR: w.ID, Cause: cause, Because: because, Fate: story.Delivered, AckReq: k == 3}
				if cause == story.New && r.IntN(40) == 0 {
					p.Fate, again = story.DroppedOnWire, true
					p.Why = []story.Event{{At: at(free, "host_a", "wire", "drop"), Text: "a fault dropped it"}}
				}
				last = send(0, free, p)
				w.Packets = append(w.Packets, last.ID)
				free += wire
			}
			if !again {
				break
			}
			w.Tries++
			if r.IntN(2) == 0 {
				nak := send(1, last.EndPs+364_000, story.Packet{QPN: uint32(32 + q), DestQPN: w.QPN, PSN: psn[q], Opcode: "RC_ACKNOWLEDGE", Bytes: 62, Syndrome: "NAK PSN sequence error", WR: -1, Cause: story.NAK, Because: last.ID, Fate: story.Delivered})
				cause, because = story.AfterNAK, nak.ID
				free = nak.ArrivePs + 80_000
			} else {
				cause, because = story.AfterTimeout, last.ID
				w.Waits = append(w.Waits, story.Wait{FromPs: free, ToPs: free + 24_000_000, For: story.ForRetryTimer, At: at(free, "host_a", "retrans.timer", "1")})
				free += 24_000_000
			}
		}
		stage(story.FirstPacket, s.Packets[len(s.Packets)-4].Ps)
		stage(story.LastPacket, last.Ps)
		ack := send(1, last.ArrivePs+60_000, story.Packet{QPN: uint32(32 + q), DestQPN: w.QPN, PSN: last.PSN, Opcode: "RC_ACKNOWLEDGE", Bytes: 62, Syndrome: "ACK", MSN: uint32(w.Index) + 1, WR: -1, Cause: story.Ack, Because: last.ID, Fate: story.Delivered})
		w.Waits = append(w.Waits, story.Wait{FromPs: last.EndPs, ToPs: ack.ArrivePs, For: story.ForAck, At: at(last.EndPs, "host_a", "retrans.oldest", "4'h1")})
		stage(story.Acknowledged, ack.ArrivePs+40_000)
		stage(story.CQEWritten, ack.ArrivePs+100_000)
		stage(story.Polled, ack.ArrivePs+600_000)
		psn[q] = (psn[q] + 4) & 0xffffff
		s.WRs = append(s.WRs, w)
		qp := s.QPs[q]
		qp.Outstanding = append(qp.Outstanding, [2]int64{w.Stages[3].Ps, 1}, [2]int64{ack.ArrivePs, 0})
		qp.SQDepth = append(qp.SQDepth, [2]int64{w.Stages[0].Ps, 1}, [2]int64{w.Stages[2].Ps, 0})
		s.EndPs = ack.ArrivePs + 800_000
		free += r.Int64N(20) * 4000
	}
	return finish(s)
}

// finish adds what is counted.
func finish(s *story.Story) *story.Story {
	const buckets = 100
	slices.SortStableFunc(s.Packets, func(a, b *story.Packet) int { return cmp.Compare(a.Ps, b.Ps) })
	for h, host := range s.Hosts {
		s.Counters[host] = map[string]uint64{"tx_packets": uint64(len(s.Packets)), "rx_drop_bad_icrc": uint64(h)}
		s.Spent[host] = []story.Share{{Where: story.OnTheWire, Ps: s.EndPs / 4, Share: 0.25}, {Where: story.OnTimer, Ps: s.EndPs / 2, Share: 0.5}, {Where: story.InNIC, Ps: s.EndPs / 4, Share: 0.25}}
		sent := make([]int, buckets)
		for _, p := range s.Packets {
			if p.Host == host {
				sent[min(buckets-1, p.Ps*buckets/s.EndPs)] += p.Bytes * 8
			}
		}
		for k, bits := range sent {
			s.Bandwidth = append(s.Bandwidth, story.Bucket{Host: host, Ps: s.EndPs * int64(k) / buckets, Gbps: float64(bits*1000*buckets*100/int(s.EndPs)) / 100})
		}
	}
	return s
}
