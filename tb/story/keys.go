package story

// lookup is a memory key that mpt is asked for.
type lookup struct {
	qpn uint32
	key Event
}

// keys follows the look-ups of one user of mpt, which are answered in order.
type keys struct {
	asked   []lookup
	refused map[uint32][]refusal // by QPN: the last look-ups that failed
}

// refusal is a look-up that failed, and its answer.
type refusal struct {
	name string
	why  []Event
}

// refusal is the first look-up of a QP, from a time on, that failed; nil: none did. Those
// before are forgotten.
func (k *keys) refusal(qpn uint32, ps int64) *refusal {
	l := k.refused[qpn]
	for len(l) > 0 && l[0].why[0].Ps < ps {
		l = l[1:]
	}
	k.refused[qpn] = l
	if len(l) == 0 {
		return nil
	}
	return &l[0]
}

// mostLookups is more than are under way.
const mostLookups = 256

func (s *side) watchKeys() {
	s.watchLookups("nic.mpt.tx", "nic.pkt_tx.load.mpt_res", "pkt_tx")
	s.rx = s.watchLookups("nic.mpt.rx", "nic.scatter.collect.mpt_res", "scatter")
}

// watchLookups watches a pair of request and answer.
func (s *side) watchLookups(request, answer, who string) *keys {
	k := &keys{refused: map[uint32][]refusal{}}
	r := s.hub.stream(request, func(t *tap, cycle uint64) {
		a := t.at(cycle, "key")
		if k.asked = append(k.asked, lookup{uint32(t.u("qpn")), Event{a, who + " asks mpt for key " + a.Value}}); len(k.asked) > mostLookups {
			k.asked = append(k.asked[:0], k.asked[mostLookups/2:]...)
		}
	}, "qpn", "key")
	if request == "nic.mpt.rx" {
		r.path += "_2" // in waves: a register of mpt has the name
	}
	s.hub.stream(answer, func(t *tap, cycle uint64) {
		if len(k.asked) == 0 {
			return
		}
		l := k.asked[0]
		k.asked = append(k.asked[:0], k.asked[1:]...)
		if t.u("status") == 0 {
			return
		}
		e := Event{t.at(cycle, "status"), "mpt refuses key " + l.key.Value + ": " + t.name("status")}
		if k.refused[l.qpn] = append(k.refused[l.qpn], refusal{t.name("status"), []Event{l.key, e}}); len(k.refused[l.qpn]) > mostLookups {
			k.refused[l.qpn] = k.refused[l.qpn][mostLookups/2:]
		}
		s.event(s.qp(l.qpn), e.At, "%s", e.Text)
	}, "status")
	return k
}
