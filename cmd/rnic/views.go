package main

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"rnic/tb/views"
	"rnic/waves"
)

// folder writes the views of waves: what to open in GTKWave and in Surfer.
//
//	rnic.gtkw, rnic.sucl        wires and packets by name, first QPs, driver, the way of a SEND
//	views/host_a.nic.dma.*      a block, with the wires
//	views/host_a.qp_5.*         a QP, with the wires
//	.surfer/mappings/*          names of enums, for Surfer started in the folder
//
// GTKWave loads every signal that a view has before it shows the first, so that each has
// those of its own only, a few hundred of the 11,500. The views are written when the run
// starts, so that what a killed run leaves can be looked at, and again when it has ended:
// with markers, and without rows that show nothing.
type folder struct {
	dir, name string // name of the waves without ending
	w         *waves.File
	markers   []waves.Marker
	begun     chan error // of views that are written beside the run
}

// firstQPs is how many QPs of a host the overview has.
const firstQPs = 2

// begin writes all views when the run starts: the main ones, and then what else there is
// while it goes on, up to wait.
func (f *folder) begin() error {
	if err := f.main(); err != nil {
		return err
	}
	f.begun = make(chan error, 1)
	go func() {
		_, err := f.others()
		f.begun <- cmp.Or(views.Mappings(f.dir, f.w), err)
	}()
	return nil
}

// wait waits for the views of the start: before the waves are closed.
func (f *folder) wait() error {
	if f == nil || f.begun == nil {
		return nil
	}
	err := <-f.begun
	f.begun = nil
	return err
}

// end writes all views when the run has ended, in place of those of its start.
func (f *folder) end() error {
	written, err := f.others()
	if err := cmp.Or(f.main(), err); err != nil {
		return err
	}
	return forgetViews(f.dir, written) // of QPs that there were not
}

// main writes the overview.
func (f *folder) main() error {
	top := f.top()
	shown := map[string]int{}
	for _, qp := range f.queues() {
		host, _, _ := strings.Cut(qp, ".")
		if shown[host]++; shown[host] <= firstQPs {
			top = append(top, waves.Group{Name: strings.Replace(qp, ".", ": ", 1), Under: host, Signals: []string{qp[len(host)+1:]}})
		}
	}
	return views.Write(f.dir, f.name, f.name, f.w, waves.View{Overview: append(top, overview...), Markers: f.markers, Only: true})
}

// top is what the overview begins with: the wires, and of each host packets and driver.
func (f *folder) top() []waves.Group {
	top := []waves.Group{views.Wires}
	for _, host := range []string{"host_a", "host_b"} {
		top = append(top,
			waves.Group{Name: host + ": packets", Under: host + ".nic", Signals: []string{
				"pkt_tx.ask.req.packet", "pkt_tx.ask.resp.packet", "ack_gen.issue.pkt.packet", "ack_gen.judge.verdict.text",
				"scatter.front.place.packet", "pkt_rx.drop", "ack_gen.judge.drop",
			}},
			waves.Group{Name: host + ": driver", Under: host, Signals: []string{"driver"}})
	}
	return top
}

// others writes the views of blocks and QPs, some at a time, and gives the names of their
// files.
func (f *folder) others() (names map[string]bool, err error) {
	if err := os.MkdirAll(filepath.Join(f.dir, "views"), 0o777); err != nil {
		return nil, err
	}
	all := map[string]waves.View{}
	for _, block := range f.blocks() {
		all[block] = waves.View{Overview: []waves.Group{views.Wires}, Markers: f.markers, Scopes: []string{block}}
	}
	top := f.top()
	for _, qp := range f.queues() {
		host, _, _ := strings.Cut(qp, ".")
		nic := top[1]
		if host == "host_b" {
			nic = top[3]
		}
		own := waves.Group{Name: qp, Under: host, Signals: []string{qp[len(host)+1:]}}
		all[qp] = waves.View{Overview: []waves.Group{views.Wires, own, nic}, Markers: f.markers, Scopes: []string{host + ".nic.retrans", host + ".nic.wqe_sched"}}
	}
	list := slices.Sorted(maps.Keys(all))
	errs := make([]error, len(list))
	var group sync.WaitGroup
	const writers = 4
	for w := range writers {
		group.Go(func() {
			for i := w; i < len(list); i += writers {
				errs[i] = views.Write(f.dir, "views/"+list[i], f.name, f.w, all[list[i]])
			}
		})
	}
	group.Wait()
	names = map[string]bool{}
	for _, view := range list {
		for _, ending := range views.Endings {
			names[filepath.Join("views", view+ending)] = true
		}
	}
	return names, cmp.Or(errs...)
}

// blocks are the blocks of the NICs, and what is beside those.
func (f *folder) blocks() []string {
	return f.scopes(func(names []string) string {
		switch {
		case len(names) > 3 && names[1] == "nic":
			return strings.Join(names[:3], ".")
		case len(names) > 2 && names[1] != "nic" && names[1] != "driver" && !strings.HasPrefix(names[1], "qp_"):
			return strings.Join(names[:2], ".")
		}
		return ""
	})
}

// queues are the QPs of which the waves show something.
func (f *folder) queues() []string {
	return f.scopes(func(names []string) string {
		if len(names) == 3 && strings.HasPrefix(names[1], "qp_") {
			return strings.Join(names[:2], ".")
		}
		return ""
	})
}

// scopes lists what of makes of the paths of variables that are shown, once each.
func (f *folder) scopes(of func(names []string) string) (l []string) {
	seen := map[string]bool{"": true}
	for _, v := range f.w.Vars {
		if v.Silent() {
			continue
		}
		if s := of(strings.Split(v.Path, ".")); !seen[s] {
			seen[s] = true
			l = append(l, s)
		}
	}
	return l
}
