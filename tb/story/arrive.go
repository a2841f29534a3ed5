package story

import (
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/tb"
)

// answer is what a packet asked the responder for.
type answer struct {
	psn, last roce.PSN // of the answer
	kind      string   // NONE, ACK, READ, ATOMIC, as of its job; ACK too of what is not answered alone
	syndrome  roce.Syndrome
	ack       bool // an acknowledgement is to be sent
	dup       bool
	id        int
	asked     roce.PSN // PSN of the packet
	why       Event
	before    []Event // what led to it
	told      bool    // both are told of packet id
}

// rxDrops are the counters of what pkt_rx drops: fields of its levels, and names.
var rxDrops = [...][2]string{
	{"drop_overflow", "rx_drop_overflow"}, {"drop_fcs", "rx_drop_bad_fcs"}, {"drop_not_ro_ce", "rx_drop_not_roce"},
	{"drop_malformed", "rx_drop_malformed"}, {"drop_icrc", "rx_drop_bad_icrc"}, {"drop_other", "rx_drop_other"},
}

func (s *side) watchAnswers() {
	var fields []string
	for _, f := range rxDrops {
		fields = append(fields, f[0])
	}
	s.stats = s.hub.tap("nic.pkt_rx.stats", ".", fields...)
	s.hub.stream("nic.ack_gen.issue.pkt", s.received, "opcode", "qpn", "psn")
	s.order_ = s.hub.tap("nic.ack_gen.judge.order", ".head.", "kind", "qpn", "psn", "opcode", "send")
	s.hub.stream("nic.ack_gen.judge.verdict", s.judged, "action", "job.kind", "job.psn", "job.len", "job.mtu", "job.again", "drop",
		"takes_wqe", "ends_wqe", "srq", "srqn", "rq_idx", "ack.send", "ack.psn", "ack.syndrome", "status", "vendor")
}

// arrives takes a frame that has come.
func (s *side) arrives(f tb.Frame) {
	a := arrival{id: -1, number: f.Number, ps: f.TimePs, len: len(f.Data)}
	if f.Number > 0 {
		a.id = PacketID(1-s.n, f.Number)
	}
	if p, err := roce.ParseFrame(f.Data); err == nil && !f.BadFCS {
		a.p, a.known = p.BTH, true
	}
	s.landed = append(s.landed, landing{number: f.Number, ps: f.TimePs, fate: Delivered})
	if most := s.r.limit; len(s.landed) > most+most/8 {
		n := len(s.landed) - most
		s.landed = append(s.landed[:0], s.landed[n:]...)
		s.lands += n
	}
	a.landed = s.lands + len(s.landed) - 1
	s.came = append(s.came, a)
}

// land is what is known of a frame that came; nil: it was forgotten.
func (s *side) land(a *arrival) *landing {
	if i := a.landed - s.lands; i >= 0 {
		return &s.landed[i]
	}
	return nil
}

// tells tells whether what happens to a frame that came is told of a packet: not if
// nobody has sent it, or if it was forgotten.
func (s *side) tells(a *arrival) bool { return a.id >= 0 && s.land(a) != nil }

// counted looks for frames that pkt_rx has dropped. It drops in the order in which frames
// come, so that the k-th count is of the k-th that is missing.
func (s *side) counted(cycle uint64) {
	for i, f := range rxDrops {
		now := s.stats.u(f[0])
		for ; s.last[i] < now; s.last[i]++ {
			s.drops = append(s.drops, dropped{f[1], s.stats.at(cycle, f[0])})
		}
	}
	s.pair()
}

type dropped struct {
	name string
	at   At
}

// pair tells frames that are missing from the counts.
func (s *side) pair() {
	n := min(len(s.drops), len(s.skipped))
	for i := range n {
		if l := s.land(&s.skipped[i]); l != nil {
			l.fate = Dropped + s.drops[i].name
			l.why = append(l.why, Event{s.drops[i].at, "pkt_rx drops it"})
		}
	}
	s.drops, s.skipped = append(s.drops[:0], s.drops[n:]...), append(s.skipped[:0], s.skipped[n:]...)
}

// received takes a good packet from pkt_rx; frames before it that did not come are
// dropped.
func (s *side) received(t *tap, cycle uint64) {
	op, qpn, psn := roce.Opcode(t.u("opcode")), uint32(t.u("qpn")), roce.PSN(t.u("psn"))
	for i := range s.came {
		a := s.came[i]
		if a.known && a.p.Opcode == op && uint32(a.p.DestQP) == qpn && a.p.PSN == psn {
			s.skipped = append(s.skipped, s.came[:i]...)
			s.came = append(s.came[:0], s.came[i+1:]...)
			s.judging = append(s.judging, a)
			s.pair()
			return
		}
	}
}

// judged takes what qpc says of a packet.
func (s *side) judged(t *tap, cycle uint64) {
	if port.RxOpKind(s.order_.u("kind")) != port.RxPacket {
		s.faulted(t, cycle)
		return
	}
	if len(s.judging) == 0 {
		return
	}
	a := s.judging[0]
	s.judging = append(s.judging[:0], s.judging[1:]...)
	action, drop := t.name("action"), ""
	if t.u("drop") != 0 {
		drop = t.name("drop")
	}
	why := Event{t.at(cycle, "action"), "qpc judges it"}
	if drop != "" {
		why = Event{t.at(cycle, "drop"), "qpc judges it: " + action}
	}
	q := s.qps[uint32(a.p.DestQP)]
	l := s.land(&a)
	if l == nil {
		l = &landing{}
	}
	l.why = append(l.why, why)
	switch {
	case drop == "duplicate_request":
		l.fate = DuplicateOfOne
	case action == "DROP" || action == "REPLY" && drop != "":
		l.fate = Dropped + drop
		if drop == "" {
			l.fate = Dropped + "rx_drop_other"
		}
	}
	if q == nil {
		return
	}
	if a.p.Opcode.IsRequest() {
		s.requestCame(q, &a, t, cycle, l, why, drop)
	} else {
		if action == "PLACE" {
			q.passed(&a, a.p.PSN, why.Ps)
		}
		s.answerCame(q, &a, why, drop)
	}
}

// requestCame notes what a request asks for, and which receive it goes to.
func (s *side) requestCame(q *qp, a *arrival, t *tap, cycle uint64, l *landing, why Event, drop string) {
	k := answer{asked: a.p.PSN, id: a.id, kind: t.name("job.kind"), psn: roce.PSN(t.u("job.psn")), dup: drop == "duplicate_request", why: why, told: s.tells(a)}
	k.last = k.psn
	switch {
	case k.kind == "READ":
		k.last = k.psn.Add(uint32(max(1, (t.u("job.len")+t.u("job.mtu")-1)/max(1, t.u("job.mtu")))) - 1)
	case t.is("ack.send"):
		k.ack, k.psn, k.syndrome = true, roce.PSN(t.u("ack.psn")), roce.Syndrome(t.u("ack.syndrome"))
		if k.syndrome.Kind() != roce.ACKSyndrome(0).Kind() {
			k.why = Event{t.at(cycle, "ack.syndrome"), "qpc answers it with " + k.syndrome.String()}
			l.why = append(l.why, k.why)
			s.event(q, k.why.At, "answers PSN 0x%x with %v", uint32(a.p.PSN), k.syndrome)
			if k.syndrome.Kind() == roce.NAKSyndrome(0).Kind() && k.syndrome != roce.NAKSyndrome(roce.NAKSequence) {
				l.refusedAt(t, drop, k.syndrome)
			}
		}
	}
	if q.answers = append(q.answers, k); len(q.answers) > mostAnswers {
		q.answers = append(q.answers[:0], q.answers[mostAnswers/2:]...)
	}
	if t.name("action") == "PLACE" {
		last := a.p.PSN
		if k.kind == "READ" {
			last = k.last
		}
		q.passed(a, last, why.Ps)
	}
	if t.name("action") != "PLACE" || k.dup {
		return
	}
	if t.is("takes_wqe") {
		w := q.recv(uint16(t.u("rq_idx")))
		if t.is("srq") {
			w = s.take(q, uint32(t.u("srqn")), uint16(t.u("rq_idx")))
		}
		if w != nil {
			w.stage(Entered, t.at(cycle, "rq_idx"))
			q.receiving = w
		}
	}
	if w := q.receiving; w != nil && !a.p.Opcode.IsWrite() || w != nil && t.is("takes_wqe") {
		at := t.at(cycle, "action")
		w.stage(FirstPacket, at)
		if t.is("ends_wqe") {
			w.move(LastPacket, at)
		}
		l.wr = w
		w.Tries = 1
		if a.id >= 0 {
			w.addPacket(a.id)
		}
	}
	if t.is("ends_wqe") {
		q.receiving = nil
	}
}

func (q *qp) recv(index uint16) *wr {
	for _, w := range q.recvs {
		if w.Index == index {
			return w
		}
	}
	return nil
}

// answerCame notes what an answer does to the send queue.
func (s *side) answerCame(q *qp, a *arrival, why Event, drop string) {
	name := map[string]string{"packet_seq_err": AfterNAK, "rnr_nak_retry_err": AfterRNR, "implied_nak_seq_err": AfterImpliedNAK}[drop]
	if name == "" {
		return
	}
	word := map[string]string{AfterNAK: "a sequence NAK", AfterRNR: "an RNR NAK", AfterImpliedNAK: "an answer beyond one that is missing"}[name]
	s.event(q, why.At, "%s comes, PSN 0x%x: it goes back", word, uint32(a.p.PSN))
	s.nacked(q, why.At)
	why.Text = word + " has come: the send queue goes back"
	q.retry = cause{name, a.id, []Event{why}}
	if name == AfterRNR {
		q.rnr = &cause{name, a.id, []Event{why}}
	}
}

// faulted takes the end of a fault of scatter or responder: a packet that was let through
// could not be placed, or answered. If that is the oldest, a NAK tells the peer.
func (s *side) faulted(t *tap, cycle uint64) {
	q := s.qps[uint32(s.order_.u("qpn"))]
	if q == nil || t.name("action") != "FAILED" {
		return
	}
	psn, what := roce.PSN(s.order_.u("psn")), "it could not be placed"
	if t.name("status") == "REM_OP_ERR" {
		what = "what it asks for could not be read"
	}
	if !t.is("ack.send") {
		why := Event{t.at(cycle, "status"), what + ": " + t.name("status") + ", " + t.name("vendor")}
		_, _ = s.fault(q, t, psn, s.order_.is("send"), why, "")
		return
	}
	psn = roce.PSN(t.u("ack.psn"))
	k := answer{psn: psn, last: psn, kind: "ACK", ack: true, syndrome: roce.Syndrome(t.u("ack.syndrome")), id: -1, asked: psn}
	for _, o := range q.answers {
		if o.asked == psn || o.kind == "READ" && !psn.Before(o.psn) && !psn.After(o.last) {
			k.id, k.asked = o.id, o.asked
		}
	}
	k.why = Event{t.at(cycle, "ack.syndrome"), what + ": qpc answers " + k.syndrome.String()}
	var of *placed
	of, k.before = s.fault(q, t, psn, false, k.why, k.syndrome.String())
	k.told = of != nil && of.id == k.id && s.tells(&of.arrival)
	q.answers = append(q.answers, k)
	s.event(q, t.at(cycle, "action"), "fails at PSN 0x%x: %s, answers %v", uint32(psn), what, k.syndrome)
}

// answered is the cause of an answer that leaves.
func (s *side) answered(p *sent, k *roce.Packet, d *description) {
	op, psn := k.BTH.Opcode, k.BTH.PSN
	want := ""
	switch {
	case op.IsReadResponse():
		p.Cause, want = ReadResponse, "READ"
	case op.HasAtomicAckETH():
		p.Cause, want = AtomicResponse, "ATOMIC"
	case k.AETH.Syndrome.Kind() == roce.RNRSyndrome(0).Kind():
		p.Cause = RNRNAK
	case k.AETH.Syndrome.Kind() == roce.NAKSyndrome(0).Kind():
		p.Cause = NAK
	default:
		p.Cause = Ack
	}
	for i := len(d.q.answers) - 1; i >= 0; i-- {
		o := &d.q.answers[i]
		if want != "" && (o.kind != want || psn.Before(o.psn) || psn.After(o.last)) || want == "" && (!o.ack || o.psn != psn) {
			continue
		}
		if want == "" && o.syndrome.Kind() != k.AETH.Syndrome.Kind() {
			continue
		}
		if o.why.Ps > d.at.Ps {
			continue // its packet came while this was on its way
		}
		if o.dup {
			p.Cause = Duplicate
		}
		p.Because = o.id
		if !o.told {
			p.Why = append(append(append([]Event{}, o.before...), o.why), p.Why...)
		}
		return
	}
}
