package rows

import (
	"fmt"

	"rnic/driver"
	"rnic/hdl"
	"rnic/tb/host"
	"rnic/waves"
)

// callCycles is how long what a call came to is shown: 20 ns.
const callCycles = 5

// calls shows the calls of the driver, a row a thread.
type calls struct {
	s       *side
	rows    []*waves.Row
	threads map[*hdl.Thread]*thread
}

// thread is a thread of the host.
type thread struct {
	row   *waves.Row
	name  string
	depth int    // calls within calls: the outermost is shown
	text  string // of the call
	begun int64  // ps
	last  string // what the one before came to, at the end in ps
	at    int64
}

func newCalls(s *side) *calls {
	c := &calls{s: s, threads: map[*hdl.Thread]*thread{}}
	for i := range s.o.Threads {
		c.rows = append(c.rows, s.row(fmt.Sprintf("driver.thread_%d", i)))
	}
	if before := s.h.Machine.OnCall; before != nil { // there may be several files
		s.h.Machine.OnCall = func(t *hdl.Thread, call host.Call) { before(t, call); c.call(t, call) }
		return c
	}
	s.h.Machine.OnCall = c.call
	return c
}

// call tells of a call that begins, or ends.
func (c *calls) call(t *hdl.Thread, call host.Call) {
	x := c.threads[t]
	if x == nil {
		n := min(len(c.threads), len(c.rows)-1)
		x = &thread{row: c.rows[n], name: t.Name()}
		c.threads[t] = x
	}
	now := int64(t.Now()) * c.s.period
	if call.End {
		if x.depth--; x.depth == 0 {
			c.end(x, now, call.Call)
		}
		return
	}
	if x.depth++; x.depth == 1 {
		x.text, x.begun = x.name+": "+called(call.Call), now
		text := x.text
		if x.at == now && x.last != "" {
			text = x.last + "; " + called(call.Call)
		}
		x.row.Set(now, text)
		c.s.pulses.drop(x.row)
	}
}

// end shows what a call came to.
func (c *calls) end(x *thread, now int64, call driver.Call) {
	text := x.text + " = " + outcome(call)
	if x.at == now && x.last != "" {
		text = x.last + "; " + text[len(x.name)+2:]
	}
	x.at, x.last = now, text
	if call.Err == nil && (call.Count == 0 || call.Posted > 0) && now > x.begun {
		x.last = "" // it has been seen, and says nothing more
		x.row.Set(now, "")
		return
	}
	c.s.pulses.show(x.row, now, callCycles*c.s.period, text)
}

// called is a call: its name, the object, how many requests of what.
func called(c driver.Call) string {
	t := c.Name
	if c.Object != "" {
		t += fmt.Sprintf(" %s=%d", c.Object, c.Number)
	}
	if c.Posted > 1 {
		t += fmt.Sprintf(" %d x", c.Posted)
	}
	if c.What != nil {
		t += " " + c.What.String()
	}
	return t
}

func outcome(c driver.Call) string {
	if c.Err != nil {
		return fmt.Sprintf("%d, %v", c.Count, c.Err)
	}
	return fmt.Sprint(c.Count)
}
