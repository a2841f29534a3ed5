package interop

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Case is a line of the matrix.
type Case struct {
	Name string
	run  func(*attempt)
}

// attempt is one execution of a case.
type attempt struct {
	*Lab
	undo  []errand      // what ends the objects of the case, the last first
	late  int           // packets of the model that may meet a failed queue pair
	ended chan struct{} // closed when the tool has
}

// errand is a line that an end is to execute.
type errand struct {
	end  *end
	line string
}

// later has an end execute a line when the case is over.
func (a *attempt) later(e *end, format string, args ...any) {
	a.undo = append(a.undo, errand{e, fmt.Sprintf(format, args...)})
}

// next is a number for objects, at both ends.
func (a *attempt) next() int {
	a.ids = a.ids%200 + 1
	return a.ids
}

// failure ends an attempt.
type failure struct{ error }

func (a *attempt) fail(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

func (a *attempt) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// caught does what may fail, and returns the failure.
func caught(do func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.error
		}
	}()
	do()
	return nil
}

// ask has an end execute a line that must work.
func (a *attempt) ask(e *end, format string, args ...any) string {
	r, err := e.ask(format, args...)
	a.must(err)
	return r
}

// Run executes a case. Whatever it did, the ends are then free for the next.
func (l *Lab) Run(c Case) (err error) {
	a := &attempt{Lab: l}
	err = caught(func() {
		c.run(a)
		a.quiet()
		a.must(l.demandCounts(a.late))
	})
	l.hub.set(model, nil)
	l.hub.set(linux, nil)
	for _, u := range slices.Backward(a.undo) {
		if _, e := u.end.ask("%s", u.line); e != nil && err == nil {
			err = e
		}
	}
	for _, e := range []*end{l.model, l.linux} { // what a failure left behind
		if _, e := e.ask("poll 4096 ms=0"); e != nil && err == nil {
			err = e
		}
	}
	return err
}

// quiet demands that neither end has a completion that nobody expects.
func (a *attempt) quiet() {
	for _, e := range []*end{a.model, a.linux} {
		if r := a.ask(e, "poll 16 ms=0"); r != "0" {
			a.fail("%v: completions that nobody expects: %s", e, r)
		}
	}
}

// options are how two queue pairs are connected. Zero values stand for the
// defaults.
type options struct {
	typ          string // of the queue pairs: rc
	srq          int    // shared receive queue, of one end
	srqAt        *end   // which
	mtu          int    // 1024
	ipv6         bool
	psn          [2]uint32 // first PSNs of requester and responder
	timeout      int       // codes; 0: none
	retry        int       // of the model, today 0 at most; Linux has 7
	rnr          int
	minrnr       int
	access       string // of the responder's queue pair; all
	reuse        *conn  // connect these queue pairs again, after a reset
	linuxRetry   string // of Linux: "retry=7 rnr=7"
	linuxTimeout int
}

// conn is two connected queue pairs of one number.
type conn struct {
	*attempt
	id        int
	typ       string
	req, resp *end
	qpn       map[*end]uint64
	sent      uint64 // work requests so far: their ids
}

// connect makes queue pairs at both ends and connects them.
func (a *attempt) connect(req *end, o options) *conn {
	n := &conn{attempt: a, typ: o.typ, req: req, resp: req.other, qpn: map[*end]uint64{}}
	if o.mtu == 0 {
		o.mtu = 1024
	}
	if o.minrnr == 0 {
		o.minrnr = 12
	}
	if o.psn == [2]uint32{} {
		o.psn = [2]uint32{0x1000 + uint32(a.ids)*0x3131&0xfffff, 0x2000 + uint32(a.ids)*0x7171&0xfffff}
	}
	gid := 1
	if o.ipv6 {
		gid = 0
	}
	if o.reuse != nil {
		n.id, n.qpn = o.reuse.id, o.reuse.qpn
	} else {
		n.id = a.next()
		line := fmt.Sprintf("qp %d gid=%d", n.id, gid)
		if o.typ != "" {
			line += " type=" + o.typ
		}
		for _, e := range []*end{n.req, n.resp} {
			line := line
			if o.srqAt == e {
				line += fmt.Sprintf(" srq=%d", o.srq)
			}
			n.qpn[e] = number(a.ask(e, "%s", line), "qpn")
			a.later(e, "del %d", n.id)
		}
	}
	for i, e := range []*end{n.req, n.resp} {
		line := fmt.Sprintf("conn %d qpn=%d gid=%s mac=%s psn=%d rpsn=%d mtu=%d minrnr=%d",
			n.id, n.qpn[e.other], strings.TrimPrefix(e.other.gids[gid], "::ffff:"), e.other.mac, o.psn[i], o.psn[1-i], o.mtu, o.minrnr)
		if e == n.resp && o.access != "" {
			line += " access=" + o.access
		}
		if e.side == model {
			line += fmt.Sprintf(" timeout=%d retry=%d rnr=%d", o.timeout, o.retry, o.rnr)
		} else {
			line += fmt.Sprintf(" timeout=%d %s", o.linuxTimeout, o.linuxRetry)
		}
		a.ask(e, "%s", line)
	}
	return n
}

// done is a completion.
type done struct {
	id, status uint64
	text       string
}

// poll waits for exactly n completions of an end.
func (a *attempt) poll(e *end, n int) []done {
	r, err := e.do(fmt.Sprintf("poll %d ms=%d", n, a.patience.Milliseconds()), a.patience+answerLimit)
	a.must(err)
	parts := strings.Split(strings.TrimPrefix(r, "= "), " | ")
	var out []done
	for _, p := range parts[1:] {
		out = append(out, done{number(p, "id"), number(p, "status"), p})
	}
	if len(out) != n {
		a.fail("%v: %d completions within %v, not %d: %s", e, len(out), a.patience, n, r)
	}
	return out
}

// expect waits for completions, in their order, as poll tells them.
func (a *attempt) expect(e *end, want ...string) {
	for i, d := range a.poll(e, len(want)) {
		if d.text != want[i] {
			a.fail("%v: completion %d of %d is %q, not %q", e, i+1, len(want), d.text, want[i])
		}
	}
}

// wait lets real time pass.
func (a *attempt) wait(d time.Duration) { time.Sleep(d) }
