package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"rnic/tb"
	"rnic/waves"
)

// outputs are the files of a run. All are in one folder, and none holds a path,
// a wall time or a name of the machine.
type outputs struct {
	vcd      *waves.VCD
	gtkw     string
	probe    *tb.Probe
	captures []*waves.Capture
	files    []string
}

// marks are the streams whose first beat is a marker in the waves.
var marks = []struct{ name, signal string }{
	{"doorbell", "host_a.nic.csr.qp_bell.put"},
	{"first packet", "host_a.nic.mac.transmit.tx.put"},
	{"ACK", "host_a.nic.mac.receive.rx.take"},
	{"CQE", "host_a.nic.cq_writer.write.put"},
}

// open creates the files that the flags ask for.
func (r *runCmd) open(b *tb.Bench) (*outputs, error) {
	o := &outputs{files: []string{}}
	if !r.VCD && !r.Pcap {
		return o, nil
	}
	if err := os.MkdirAll(r.Out, 0o755); err != nil {
		return nil, err
	}
	if r.VCD {
		if err := o.openVCD(r, b); err != nil {
			return nil, err
		}
	}
	if !r.Pcap {
		return o, nil
	}
	for _, h := range b.Hosts {
		path := filepath.Join(r.Out, h.K.Name()+".pcapng")
		c, err := waves.CreateCapture(path, h.K.Name())
		if err != nil {
			return nil, errors.Join(err, o.close())
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
	return o, nil
}

func (o *outputs) openVCD(r *runCmd, b *tb.Bench) error {
	profile := waves.Rich
	if r.Profile == "portable" {
		profile = waves.Portable
	}
	path := filepath.Join(r.Out, "rnic.vcd")
	vcd, err := waves.Create(path, waves.Options{
		Profile: profile, From: r.From.Nanoseconds() * 1000, To: r.To.Nanoseconds() * 1000, Scopes: r.Scope,
	}, b.Hosts[0].K, b.Hosts[1].K)
	if err != nil {
		return err
	}
	o.vcd, o.gtkw = vcd, filepath.Join(r.Out, "rnic.gtkw")
	o.files = append(o.files, path, o.gtkw)
	var signals []string
	for _, m := range marks {
		signals = append(signals, m.signal)
	}
	o.probe, err = tb.NewProbe(b.Hosts[0].K, 1, signals...)
	return err
}

// close ends all files; the save file is made of what the waves turned out to be.
func (o *outputs) close() error {
	var errs []error
	if o.vcd != nil {
		err := o.vcd.Close()
		if errors.Is(err, waves.ErrWindow) {
			err = fmt.Errorf("--from: %w", err)
		}
		errs = append(errs, err)
		if err == nil {
			errs = append(errs, o.save())
		}
	}
	for _, c := range o.captures {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// save writes the GTKWave save file.
func (o *outputs) save() error {
	f, err := os.Create(o.gtkw)
	if err != nil {
		return err
	}
	v := waves.View{Overview: overview}
	for _, m := range marks {
		if at := o.probe.Cycles(m.signal); len(at) > 0 {
			v.Markers = append(v.Markers, waves.Marker{Name: m.name, Ps: int64(at[0]) * tb.PeriodPs})
		}
	}
	if n := len(v.Markers); n > 0 {
		v.From = max(0, v.Markers[0].Ps-100_000)
		v.To = v.Markers[n-1].Ps + 100_000
	}
	return errors.Join(o.vcd.Save(f, "rnic", v), f.Close())
}

// overview is what the save file shows first: the way of a SEND, block by block.
var overview = []string{
	"host_a.nic.csr.qp_bell", "host_a.nic.qpc.activate", "host_a.nic.wqe_sched.exec.pkt", "host_a.nic.mac.transmit.tx",
	"host_b.nic.mac.receive.rx", "host_b.nic.ack_gen.judge.verdict", "host_b.nic.scatter.mover.write", "host_b.nic.cq_writer.write",
	"host_b.nic.ack_gen.reply.resp", "host_a.nic.retrans.ack", "host_a.nic.cq_writer.write",
}
