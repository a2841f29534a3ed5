package replay

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// Cycles that the requester has: for a request that is due, for what an answer leads
// to, and how many answers' worth before the next.
const (
	soonCycles   = 20_000
	answerCycles = 600
	unitCycles   = 1024 // 4.096 us
)

// requester is the model that asks.
type requester struct {
	*model
	jobs   []job
	offset []int // of each job in the arena, once posted
	arena  arena
	cursor int         // in sent: behind what was matched last
	match  map[int]int // of events, to what the model sent
	free   int         // completions whose memory was given back
	wrong  []string
	ah     *driver.AH // of UD
	t4     uint64     // cycles in which an ACK timer expires for sure
}

// Requester posts the work requests behind the captured requests, gives the model the
// captured answers, and compares what it asks.
func (c *Conversation) Requester(o Options) (*Result, error) {
	jobs := c.jobs()
	if len(jobs) == 0 {
		return &Result{Role: AsRequester}, nil
	}
	if c.Transport == roce.RC && len(jobs) > 1 && c.Answers() == 0 && len(c.index().again) == 0 {
		return nil, errors.New("the capture has no answer to these requests: was only one direction recorded?")
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	total, longest := 0, 0
	for i := range jobs {
		total, longest = total+jobs[i].length, max(longest, jobs[i].length)
	}
	if longest > mostArena {
		return nil, fmt.Errorf("a message of %d bytes: more than %d MiB can't be replayed", longest, mostArena>>20)
	}
	r := &requester{jobs: jobs, offset: make([]int, len(jobs)), match: map[int]int{}, t4: 5 * unitCycles << o.Timeout}
	r.arena.size = min(max(total, 1), mostArena)
	m, err := c.run(&o, func(m *model) error { r.model = m; return r.play() }, c.Peer)
	if err != nil {
		return nil, err
	}
	return c.compareRequests(m, r), nil
}

func (r *requester) play() error {
	if err := r.open(); err != nil {
		return err
	}
	if r.c.Transport == roce.RC {
		r.inject(r.c.unlimited())
	}
	base := r.c.baseMSN()
	next := 0
	for i := range r.c.Events {
		e := &r.c.Events[i]
		r.at = i
		if !e.Answer {
			for ; next < len(r.jobs) && r.jobs[next].event <= i; next++ {
				if err := r.post(next); err != nil {
					return err
				}
			}
			if err := r.await(r.c.psn(i), i); err != nil {
				return err
			}
			continue
		}
		if e.Lost != "" {
			continue
		}
		p := e.Packet
		if p.BTH.Opcode.HasAETH() {
			p.AETH.MSN = (p.AETH.MSN - base) & (1<<24 - 1)
		}
		r.inject(&p)
		if err := r.wait(answerCycles, func() bool { return false }); err != nil {
			return err
		}
	}
	r.at = len(r.c.Events)
	if err := r.wait(r.t4, func() bool { return len(r.done) == len(r.jobs) }); err != nil {
		return err
	}
	return r.judge()
}

func (r *requester) open() (err error) {
	retry, rnr := r.c.retries(r.o)
	r.qp, err = r.makeQP(driver.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, MaxSend: min(len(r.jobs), 2048), MaxSendSGE: 1, MaxRecv: 1}, false)
	if err != nil {
		return err
	}
	if r.arena.buf, r.arena.sge, err = r.memory(r.arena.size, 0); err != nil {
		return err
	}
	if r.c.Transport == roce.UD {
		if r.ah, err = r.pd.CreateAH(driver.AHAttr{MAC: r.c.Self.MAC, DGID: r.c.Self.GID}); err != nil {
			return err
		}
		return r.start(r.c.qkey())
	}
	return r.connect(r.c.Self, r.c.SelfQP, driver.QPAttr{Timeout: r.o.Timeout, RetryCnt: retry, RNRRetry: rnr})
}

// end is the PSN behind the last work request.
func (r *requester) end() roce.PSN {
	j := &r.jobs[len(r.jobs)-1]
	return j.first.Add(j.psns)
}

// unlimited is an unsolicited ACK that lifts the limit of credits for good (IBTA
// 9.7.7.2): work requests are posted when the captured requester sends them, and it had
// the credits.
func (c *Conversation) unlimited() *roce.Packet {
	p := c.Events[0].Packet
	if !c.Events[0].Answer {
		p.Eth.Src, p.Eth.Dst = p.Eth.Dst, p.Eth.Src
		p.IP4.Src, p.IP4.Dst = p.IP4.Dst, p.IP4.Src
		p.IP6.Src, p.IP6.Dst = p.IP6.Dst, p.IP6.Src
	}
	p.BTH.Opcode, p.BTH.PSN, p.BTH.AckReq, p.BTH.SE = roce.RCAck, c.First.Sub(1), false, false
	p.AETH = roce.AETH{Syndrome: roce.ACKSyndrome(roce.NoCredits)}
	p.SetPayload(nil)
	return &p
}

// post posts a work request, when there is room for it.
func (r *requester) post(i int) error {
	j := &r.jobs[i]
	fits := func() (ok bool) { r.offset[i], ok = r.arena.take(j.length); return ok }
	if !fits() {
		if err := r.wait(r.t4, fits); err != nil {
			return err
		}
	}
	if _, err := r.arena.buf.WriteAt(j.data, int64(r.offset[i])); err != nil {
		return err
	}
	sge := r.arena.sge
	sge.Addr, sge.Length = sge.Addr+uint64(r.offset[i]), uint32(j.length)
	w := j.wr
	w.AH = r.ah
	if j.length > 0 {
		w.SGEs = []driver.SGE{sge}
	}
	_, err := r.qp.PostSend(w)
	if errors.Is(err, driver.ErrNoMemory) { // the queue is full
		if err := r.wait(r.t4, func() bool { return len(r.done) > i-r.qp.MaxSend }); err != nil {
			return err
		}
		_, err = r.qp.PostSend(w)
	}
	return err
}

// await lets the model come to a request that was captured: at once if it was not
// sent before, else after a timer too.
func (r *requester) await(psn roce.PSN, event int) error {
	came := func() bool {
		for k := r.cursor; k < len(r.sent); k++ {
			if r.sent[k].BTH.PSN == psn {
				r.cursor, r.match[event] = k+1, k
				return true
			}
		}
		return false
	}
	most := uint64(soonCycles)
	if r.c.Transport != roce.RC && (r.c.first[psn] != &r.c.Events[event] || !psn.Before(r.end())) {
		return nil // nothing is sent again, nor what was not posted
	}
	if r.c.first[psn] != &r.c.Events[event] {
		most = r.t4 + r.rnrCycles(event)
	}
	return r.wait(most, came)
}

// rnrCycles is the wait that the last answer before an event asks for.
func (r *requester) rnrCycles(event int) uint64 {
	for i := event - 1; i >= 0; i-- {
		if e := &r.c.Events[i]; e.Answer {
			if isRNR(&e.Packet) {
				return uint64(roce.RNRDelay(e.AETH.Syndrome.Value())) * 10_000_000 / 4000 * 2
			}
			return 0
		}
	}
	return 0
}

// wait sleeps until something holds, at most so many cycles.
func (r *requester) wait(most uint64, until func() bool) error {
	end, step := r.t.Now()+most, uint64(100)
	for {
		if err := r.poll(); err != nil {
			return err
		}
		for ; r.free < len(r.done); r.free++ {
			r.arena.free()
		}
		if now := r.t.Now(); now >= end || until() {
			return nil
		} else {
			r.t.Sleep(min(step, end-now))
		}
		step = min(step+step/4, 20_000)
	}
}

// judge checks what READs and atomics brought while the arena still has it: those of
// the last round.
func (r *requester) judge() error {
	for i := range r.done {
		wc := &r.done[i]
		j := &r.jobs[wc.ID]
		if wc.Status != abi.StatusSuccess || len(j.data) > 0 || j.length == 0 || r.arena.posted > r.arena.size {
			continue
		}
		got, want := make([]byte, j.length), r.c.brought(j)
		if _, err := r.arena.buf.ReadAt(got, int64(r.offset[wc.ID])); err != nil {
			return err
		}
		if want != nil && !bytes.Equal(got, want) {
			r.wrong = append(r.wrong, fmt.Sprintf("%s of PSN %06x brought other data than its answers carry", j.wr.Op, uint32(j.first)))
		}
	}
	return nil
}

// brought is the data in the answers to a READ or atomic; nil: they are not all there.
func (c *Conversation) brought(j *job) (data []byte) {
	answers := map[roce.PSN]*roce.Packet{}
	for i := j.event; i < len(c.Events) && i < j.event+horizon; i++ {
		if e := &c.Events[i]; e.Answer && e.Lost == "" && answers[e.BTH.PSN] == nil {
			answers[e.BTH.PSN] = &e.Packet
		}
	}
	for k := range j.psns {
		switch p := answers[j.first.Add(k)]; {
		case p == nil:
			return nil
		case p.BTH.Opcode == roce.RCAtomicAck:
			data = binary.LittleEndian.AppendUint64(data, p.AtomicAckETH.Orig)
		default:
			data = append(data, p.Payload...)
		}
	}
	if len(data) != j.length {
		return nil
	}
	return data
}
