package replay

import (
	"fmt"
	"strings"

	"rnic/abi"
	"rnic/roce"
)

// asked judges what the model asked.
type asked struct {
	c     *Conversation
	sent  []Sent
	match map[int]int
	used  map[int]bool // of sent: it stands beside a captured one
	end   roce.PSN     // behind the last whole message
	calm  bool         // nothing was lost or asked for again
}

// compareRequests sets the model's requests beside the captured ones.
func (c *Conversation) compareRequests(m *model, r *requester) *Result {
	a := asked{c, m.sent, r.match, map[int]bool{}, r.end(), len(c.index().again) == 0}
	posts := map[int]string{}
	for i := range r.jobs {
		j := &r.jobs[i]
		posts[j.event] = strings.TrimPrefix(posts[j.event]+", "+j.String(), ", ")
	}
	res := c.table(AsRequester, m.sent, a.late(), judges{both: a.both, model: a.extra, miss: a.missing, posts: posts})
	res.Faults = append(r.wrong, c.endings(r)...)
	res.Wrong += len(res.Faults)
	count := map[string]int{}
	for i := range r.done {
		count[r.done[i].Status.String()]++
	}
	for s := abi.WCStatus(0); s < 32; s++ {
		if n := count[s.String()]; n > 0 {
			res.Done = append(res.Done, fmt.Sprintf("%d %s", n, s))
			delete(count, s.String())
		}
	}
	if n := len(r.jobs) - len(r.done); n > 0 {
		res.Done = append(res.Done, fmt.Sprintf("%d pending", n))
	}
	return res
}

// late adds to what was matched during the run the requests that the model sent, but
// later than it was waited for.
func (a *asked) late() map[int]int {
	from := 0
	for _, k := range a.match {
		a.used[k] = true
	}
	for i := range a.c.Events {
		if k, ok := a.match[i]; ok {
			from = k + 1
			continue
		}
		for k := from; !a.c.Events[i].Answer && k < len(a.sent) && !a.used[k]; k++ {
			if a.sent[k].BTH.PSN == a.c.psn(i) {
				a.match[i], a.used[k], from = k, true, k+1
				break
			}
		}
	}
	return a.match
}

func (a *asked) both(event int, got *roce.Packet) finding {
	f := sameRequest(got, &a.c.Events[event].Packet)
	if p := a.c.psn(event); len(f.wrong) == 0 && p != a.c.Events[event].BTH.PSN {
		f.legal = append(f.legal, legal(AsRequester, dOthers))
	}
	return f
}

// sameRequest compares two requests with the same PSN.
func sameRequest(got, want *roce.Packet) (f finding) {
	op := want.BTH.Opcode
	wrong := func(ok bool, text string) {
		if !ok {
			f.wrong = append(f.wrong, text)
		}
	}
	if got.BTH.Opcode != op {
		f.wrong = append(f.wrong, fmt.Sprintf("%v, not %v", got.BTH.Opcode, op))
		return f
	}
	wrong(got.BTH.SE == want.BTH.SE, "SE differs")
	wrong(got.BTH.PadCnt == want.BTH.PadCnt, "PadCnt differs")
	wrong(!op.HasRETH() || got.RETH == want.RETH, "RETH differs")
	if g, w := got.AtomicETH, want.AtomicETH; op.HasAtomicETH() {
		if op == roce.RCFetchAdd {
			g.Compare, w.Compare = 0, 0 // ignored
		}
		wrong(g == w, "AtomicETH differs")
	}
	wrong(!op.HasImm() || got.Imm == want.Imm, "immediate differs")
	wrong(!op.HasIETH() || got.IETH == want.IETH, "IETH differs")
	wrong(!op.HasDETH() || got.DETH.QKey == want.DETH.QKey, "Q_Key differs")
	wrong(op.Transport() == roce.RC || !got.BTH.AckReq, "AckReq is set")
	f.data(got.Payload, want.Payload)
	if got.BTH.AckReq != want.BTH.AckReq {
		f.legal = append(f.legal, legal(AsRequester, dAckReq))
	}
	return f
}

// extra judges a request that only the model has.
func (a *asked) extra(s *Sent) (f finding) {
	want := a.c.request(s.BTH.PSN)
	if want == nil {
		f.wrong = []string{"no captured request has this PSN"}
		return f
	}
	if f = sameRequest(&s.Packet, want); len(f.wrong) > 0 {
		return f
	}
	again := false
	for i := range a.sent {
		if &a.sent[i] == s {
			break
		}
		again = again || a.sent[i].BTH.PSN == s.BTH.PSN
	}
	switch {
	case s.After >= len(a.c.Events):
		f.legal = append(f.legal, legal(AsRequester, dEnd))
	case !again && a.c.unseen(s.BTH.PSN):
		f.legal = append(f.legal, legal(AsRequester, dUnseen))
	case !again:
		f.legal = append(f.legal, legal(AsRequester, dAhead))
	case a.calm:
		f.wrong = []string{"sent again, though nothing was lost"}
	default:
		f.legal = append(f.legal, legal(AsRequester, dAgain))
	}
	return f
}

// unseen tells whether the capture has a later PSN before this one.
func (c *Conversation) unseen(psn roce.PSN) bool {
	for i := range c.Events {
		if e := &c.Events[i]; !e.Answer && !e.BTH.PSN.Before(psn) {
			return e.BTH.PSN != psn
		}
	}
	return false
}

// request is what a request of a PSN must be: as captured, or the rest of a READ from
// there on.
func (c *Conversation) request(psn roce.PSN) *roce.Packet {
	if e := c.first[psn]; e != nil {
		return &e.Packet
	}
	for e := range c.inOrder() {
		if !e.BTH.Opcode.IsReadRequest() || !psn.Within(e.BTH.PSN, c.psns(&e.Packet)) {
			continue
		}
		p := e.Packet
		skip := psn.Diff(e.BTH.PSN) << c.MTU.Shift()
		p.BTH.PSN, p.RETH.VA, p.RETH.Length = psn, p.RETH.VA+uint64(skip), p.RETH.Length-skip
		return &p
	}
	return nil
}

// missing judges a request that only the capture has.
func (a *asked) missing(event int) (f finding) {
	e := &a.c.Events[event]
	psn := a.c.psn(event)
	if !psn.Before(a.end) {
		f.legal = []string{legal(AsRequester, dPartial)}
		return f
	}
	if a.c.first[psn] != e && a.c.Transport != roce.RC {
		f.legal = []string{legal(AsRequester, dDoubled)}
		return f
	}
	if a.c.first[psn] != e {
		for i := range event {
			b := &a.c.Events[i]
			if b.Answer && b.Lost == "" && !isNAK(&b.Packet) && !b.BTH.PSN.Before(e.BTH.PSN) {
				f.legal = []string{legal(AsRequester, dNeedless)}
				return f
			}
		}
	}
	for k := range a.sent {
		if s := &a.sent[k]; !a.used[k] && s.After <= event && s.BTH.PSN == psn && len(sameRequest(&s.Packet, &e.Packet).wrong) == 0 {
			a.used[k] = true
			f.legal = []string{legal(AsRequester, dOvertook)}
			return f
		}
	}
	f.wrong = []string{"the model does not send it"}
	return f
}
