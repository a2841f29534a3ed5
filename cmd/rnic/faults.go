package main

import (
	"fmt"
	"strings"

	"rnic/tb/fault"
)

// Help is what kong prints below the flags.
func (r *runCmd) Help() string { return fault.Help }

// faults are those of --fault; nil: none.
func (r *runCmd) faults() (*fault.Plan, error) {
	if len(r.Fault) == 0 {
		return nil, nil
	}
	specs, err := fault.ParseAll(r.Fault...)
	if err != nil {
		return nil, fmt.Errorf("--%w", err)
	}
	return fault.New(r.Seed, specs...), nil
}

// faultLine is what came of a fault at a host.
type faultLine struct {
	Fault   string `json:"fault"`
	Host    string `json:"host"` // that it worked at
	Matched uint64 `json:"matched"`
	Struck  uint64 `json:"struck"`
}

func faultLines(p *fault.Plan) (l []faultLine) {
	if p == nil {
		return nil
	}
	for _, f := range p.Report() {
		l = append(l, faultLine{f.Spec.String(), f.Host.String(), f.Seen, f.Struck})
	}
	return l
}

// faulty is the error of a run, and what its faults had done until then.
func faulty(err error, p *fault.Plan) error {
	var b strings.Builder
	for _, l := range faultLines(p) {
		fmt.Fprintf(&b, "\nfault %q struck %d of %d that matched at host %s", l.Fault, l.Struck, l.Matched, l.Host)
	}
	return fmt.Errorf("%w%s", err, b.String())
}
