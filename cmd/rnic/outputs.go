package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rnic/tb"
	"rnic/waves"
)

// outputs are the files of a run. All are in one folder, and none holds a path,
// a wall time or a name of the machine.
type outputs struct {
	vcd      *waves.VCD
	gtkw     string
	probes   [2]*tb.Probe // of the streams of marks
	captures []*waves.Capture
	files    []string
	from     time.Duration // --from
}

// open creates the files that the flags ask for.
func (r *runCmd) open(b *tb.Bench) (*outputs, error) {
	o := &outputs{files: []string{}, from: r.From}
	if !r.VCD && !r.Pcap {
		return o, nil
	}
	if err := os.MkdirAll(r.Out, 0o777); err != nil {
		return nil, err
	}
	var err error
	if r.VCD {
		err = o.openVCD(r, b)
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

func (o *outputs) openVCD(r *runCmd, b *tb.Bench) error {
	profile := waves.Rich
	if r.Profile == "portable" {
		profile = waves.Portable
	}
	path := filepath.Join(r.Out, "rnic.vcd")
	vcd, err := waves.Create(path, waves.Options{
		Profile: profile, From: picoseconds(r.From), To: picoseconds(r.To), Scopes: r.Scope,
	}, b.Hosts[0].K, b.Hosts[1].K)
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
		if o.probes[i], err = tb.NewProbe(h.K, 1, paths...); err != nil {
			return errors.Join(err, vcd.Close())
		}
	}
	o.vcd, o.gtkw = vcd, filepath.Join(r.Out, "rnic.gtkw")
	o.files = append(o.files, path, o.gtkw)
	return nil
}

func (o *outputs) openCaptures(r *runCmd, b *tb.Bench) error {
	for _, h := range b.Hosts {
		path := filepath.Join(r.Out, h.K.Name()+".pcapng")
		c, err := waves.CreateCapture(path, h.K.Name())
		if err != nil {
			return err
		}
		o.captures = append(o.captures, c)
		o.files = append(o.files, path)
		var failed bool
		h.Tap(func(f tb.Frame) {
			if err := c.Frame(f.TimePs, f.Tx, f.Data); err != nil && !failed {
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
	var errs []error
	if o.vcd != nil {
		errs = append(errs, o.vcd.Close())
	}
	for _, c := range o.captures {
		errs = append(errs, c.Close())
	}
	return cmp.Or(errs...)
}

// finish ends all files after a run of so many cycles; the save file is made of what
// the waves turned out to be.
func (o *outputs) finish(cycles uint64) error {
	err := o.close()
	switch {
	case errors.Is(err, waves.ErrWindow):
		return fmt.Errorf("--from %v: the run ended at %v", o.from, time.Duration(cycles*tb.PeriodPs/1000))
	case err == nil && o.vcd != nil:
		return o.save()
	}
	return err
}

// save writes the GTKWave save file.
func (o *outputs) save() error {
	f, err := os.Create(o.gtkw)
	if err != nil {
		return err
	}
	v := waves.View{Overview: overview}
	for _, m := range marks {
		for _, cycle := range o.probes[m.host].Cycles(m.path) {
			if ps := int64(cycle) * tb.PeriodPs; ps >= o.vcd.Start && ps <= o.vcd.End {
				v.Markers = append(v.Markers, waves.Marker{Name: m.name, Ps: ps})
			}
		}
	}
	return errors.Join(o.vcd.Save(f, "rnic", v), f.Close())
}
