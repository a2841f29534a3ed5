package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/rows"
	"rnic/waves"
)

// outputs are the files of a run. All are in one folder, and none holds a path,
// a wall time or a name of the machine.
type outputs struct {
	waves    []*waves.File // an FST, a VCD: the save file is of the first
	views    *folder       // or nil
	probes   [2]*tb.Probe  // of the streams of marks
	captures []*waves.Capture
	teller   *teller // of --story, or nil
	files    []string
	from     *instant // --from, or nil
}

// maxRowQPs is how many QPs of a host have rows of their own.
const maxRowQPs = 64

// open creates the files that the flags ask for, of a run with so many QPs a host.
func (r *runCmd) open(b *tb.Bench, qps int) (*outputs, error) {
	o := &outputs{files: []string{}, from: r.From}
	if !r.waves() && !r.Pcap && !r.tells() {
		return o, forgetWindows(r.Out, r.File)
	}
	if err := os.MkdirAll(r.Out, 0o777); err != nil {
		return nil, err
	}
	err := forget(r.Out, r.File)
	if r.tells() && err == nil {
		err = o.openStory(r, b)
	}
	if r.waves() && err == nil {
		err = o.openWaves(r, b, qps)
	}
	if r.Pcap && err == nil {
		err = o.openCaptures(r, b)
	}
	if err != nil {
		_ = o.close() // there was no run: what matters is why
		return nil, err
	}
	return o, nil
}

func (o *outputs) openWaves(r *runCmd, b *tb.Bench, qps int) error {
	shown, err := rows.Watch(b, rows.Options{QPs: min(qps, maxRowQPs)})
	if err != nil {
		return err
	}
	opt := waves.Options{
		From: r.From.ps(), To: r.To.ps(), Scopes: r.Scope, Rows: shown.List, Control: r.Waves == "control",
	}
	if r.Profile == "portable" {
		opt.Profile = waves.Portable
	}
	o.waves, o.files, err = createWaves(o.files, r.Out, r.FST, r.VCD, opt, b.Hosts[0].K, b.Hosts[1].K)
	if err != nil {
		return err
	}
	for i, h := range b.Hosts {
		var paths []string
		for _, m := range marks {
			if m.host == i {
				paths = append(paths, m.path)
			}
		}
		var err error
		if o.probes[i], err = tb.NewProbe(h.K, 1, paths...); err != nil {
			return err
		}
	}
	o.files = append(o.files, filepath.Join(r.Out, "rnic.gtkw"), filepath.Join(r.Out, "rnic.sucl"))
	o.views = &folder{dir: r.Out, name: "rnic", w: o.waves[0]}
	return o.views.begin()
}

// createWaves creates the waves of a run in a folder, the FST first, and adds their names
// to files. With an error it gives those that are open.
func createWaves(files []string, dir string, fst, vcd bool, opt waves.Options, kernels ...*hdl.Kernel) (l []*waves.File, _ []string, _ error) {
	for _, f := range []struct {
		wanted bool
		name   string
		create func(string, waves.Options, ...*hdl.Kernel) (*waves.File, error)
	}{{fst, "rnic.fst", waves.CreateFST}, {vcd, "rnic.vcd", waves.Create}} {
		if !f.wanted {
			continue
		}
		path := filepath.Join(dir, f.name)
		w, err := f.create(path, opt, kernels...)
		if err != nil {
			return l, files, err
		}
		l, files = append(l, w), append(files, path)
	}
	return l, files, nil
}

func (o *outputs) openCaptures(r *runCmd, b *tb.Bench) error {
	for i, h := range b.Hosts {
		path := filepath.Join(r.Out, h.K.Name()+".pcapng")
		c, err := waves.CreateCapture(path, h.K.Name())
		if err != nil {
			return err
		}
		o.captures = append(o.captures, c)
		o.files = append(o.files, path)
		var failed bool
		h.Tap(func(f tb.Frame) {
			if err := c.Commented(f.TimePs, f.Tx, f.Data, o.teller.comment(i, f)); err != nil && !failed {
				failed = true // Close tells
				h.K.Stop()
			}
		})
	}
	return nil
}

// close ends all files. Of several errors it returns the first: a full disk is one
// line.
func (o *outputs) close() error {
	errs := []error{o.views.wait()}
	for _, w := range o.waves {
		errs = append(errs, w.Close())
	}
	for _, c := range o.captures {
		errs = append(errs, c.Close())
	}
	return cmp.Or(errs...)
}

// finish ends all files after a run of so many cycles, which failed for a reason or did
// not; the save file is made of what the waves turned out to be.
func (o *outputs) finish(cycles uint64, failure string) error {
	err := o.close()
	switch {
	case errors.Is(err, waves.ErrWindow):
		return fmt.Errorf("--from %v: the run ended at %v", o.from, time.Duration(cycles*tb.PeriodPs/1000))
	case err == nil && len(o.waves) > 0:
		err = o.save()
	}
	if err == nil {
		err = o.teller.finish(failure)
	}
	return err
}

// save writes the views, with markers at the first of each kind of step.
func (o *outputs) save() error {
	f := o.views
	for _, m := range marks {
		for _, cycle := range o.probes[m.host].Cycles(m.path) {
			if ps := int64(cycle) * tb.PeriodPs; ps >= f.w.Start && ps <= f.w.End {
				f.markers = append(f.markers, waves.Marker{Name: m.name, Ps: ps})
			}
		}
	}
	return f.end()
}

// wrote tells, with the error of a run, the files that it left; nil: none.
func (o *outputs) wrote() error {
	if o == nil || len(o.files) == 0 {
		return nil
	}
	return errors.New("wrote " + strings.Join(o.files, "\nwrote "))
}
