package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/hang"
	"rnic/tb/rows"
)

// around is what --around asks for, and what there was of it in a run.
type around struct {
	text  string
	what  string // a kind of rows.Event, "hang", "assertion", "psn" or "cycle"
	nth   int    // from 1
	qp    uint32
	psn   roce.PSN
	cycle uint64

	bench *tb.Bench
	found [2][]rows.Event // that match, by host
	count [2]map[rows.Kind]int
}

// eventForm is an event with a number: "nak", "qp 5 psn 0x12 #3", "cycle 1000".
var eventForm = regexp.MustCompile(`^(nak|rnr|retry|timeout|cqe-error|drop|hang|assertion|qp (\d+) psn (0x[0-9a-fA-F]+|\d+)|cycle (\d+))( ?#(\d+))?$`)

// around reads --around; nil without it.
func (r *runCmd) around() (*around, error) {
	if r.Around == nil {
		return nil, nil
	}
	m := eventForm.FindStringSubmatch(strings.ToLower(strings.Join(strings.Fields(*r.Around), " ")))
	bad := func(why string) (*around, error) {
		return nil, fmt.Errorf("--around %q: %s", *r.Around, why)
	}
	if m == nil {
		return bad("must be nak, rnr, retry, timeout, cqe-error, drop, hang, assertion, 'qp N psn N' or 'cycle N', with '#N' behind it for the Nth")
	}
	a := &around{text: *r.Around, what: m[1], nth: 1}
	const most = 1 << 50 // cycles
	var err error
	if m[6] != "" {
		if a.nth, err = strconv.Atoi(m[6]); err != nil || a.nth < 1 {
			return bad("there is no such number")
		}
	}
	if m[2] != "" {
		a.what = "psn"
		qp, e1 := strconv.ParseUint(m[2], 10, 24)
		psn, e2 := number24(m[3])
		if errors.Join(e1, e2) != nil {
			return bad("QPN and PSN have 24 bits")
		}
		a.qp, a.psn = uint32(qp), roce.PSN(psn)
	}
	if m[4] != "" {
		a.what = "cycle"
		if a.cycle, err = strconv.ParseUint(m[4], 10, 64); err != nil || a.cycle > most {
			return bad("there is no such cycle")
		}
	}
	if r.Before > most || r.After > most {
		return bad("the window is too long")
	}
	return a, nil
}

// watch looks out for the event in a run.
func (a *around) watch(b *tb.Bench) error {
	if a == nil {
		return nil
	}
	a.bench = b
	for n := range a.count {
		a.count[n] = map[rows.Kind]int{}
	}
	_, err := rows.Watch(b, rows.Options{Event: func(e rows.Event) {
		n := 0
		if e.Host == b.Hosts[1].K.Name() {
			n = 1
		}
		a.count[n][e.Kind]++
		match := e.Kind.String() == a.what || a.what == "psn" && e.Kind == rows.Packet && e.QPN == a.qp && e.PSN == a.psn
		// The nth of both is not behind the nth of one, and few are told of out of order.
		if match && len(a.found[n]) < a.nth+16 {
			a.found[n] = append(a.found[n], e)
		}
	}})
	return err
}

// at is the cycle of the event in a run that ended with an error or without, and what
// to call it.
func (a *around) at(err error, end uint64) (cycle uint64, name string, e error) {
	var h *hang.Hang
	var f *hdl.Fault
	switch {
	case a.what == "cycle" && a.cycle <= end:
		return a.cycle, a.text, nil
	case (a.what == "hang" || a.what == "assertion") && errors.As(err, &h):
		return h.Since, "hang", nil
	case (a.what == "hang" || a.what == "assertion") && errors.As(err, &f):
		return f.Cycle, "assertion: " + f.Msg, nil
	}
	all := append(slices.Clone(a.found[0]), a.found[1]...)
	slices.SortStableFunc(all, func(x, y rows.Event) int { return int(x.Ps - y.Ps) })
	if a.nth <= len(all) {
		x := all[a.nth-1]
		return uint64(x.Ps / tb.PeriodPs), a.text + ": " + x.Text, nil
	}
	return 0, "", fmt.Errorf("--around %q: %s; the run of %d cycles had %s", a.text, a.never(len(all)), end, a.had())
}

func (a *around) never(n int) string {
	if n == 0 {
		return "there was none"
	}
	return fmt.Sprintf("there were only %d", n)
}

// had lists which events there were.
func (a *around) had() string {
	var l []string
	for k := rows.Packet; k <= rows.Drop; k++ {
		if n := a.count[0][k] + a.count[1][k]; n > 0 {
			l = append(l, fmt.Sprintf("%d x %v", n, k))
		}
	}
	if l == nil {
		return "no event"
	}
	return strings.Join(l, ", ")
}

// show runs once more and writes the waves around the event.
func (r *runCmd) show(a *around, err error, again repeater) (files []string, e error) {
	if a == nil || a.bench == nil {
		return nil, nil // not asked for, or there was no run
	}
	cycle, name, e := a.at(err, a.bench.World.Now())
	if e != nil {
		return nil, e
	}
	return again.waves(r.Out, "around", cycle-min(cycle, r.Before), cycle+r.After, map[string]uint64{name: cycle})
}
