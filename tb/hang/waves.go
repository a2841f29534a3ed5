package hang

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/rows"
	"rnic/waves"
)

// Window is where to look in waves for what happened in a cycle, in cycles.
func Window(cycle uint64) (from, to uint64) { return cycle - min(cycle, 2000), cycle + 500 }

// Waves has a job run once more on a fresh bench, and writes the waveforms of a window
// of cycles into a folder, which it makes: name.fst with the rows of package rows, and
// name.gtkw beside it. run has to do what the first run did, with the same seed, and to
// open the bench before; it is stopped at the end of the window, and its error is not
// looked at. Markers say what was when, in cycles.
func Waves(folder, name string, from, to uint64, markers map[string]uint64, run func(open func(*tb.Bench) error)) (files []string, err error) {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, name+".fst")
	var fst *waves.FST
	run(func(b *tb.Bench) error {
		var r *rows.Rows
		if r, err = rows.Watch(b, rows.Options{}); err != nil {
			return err
		}
		fst, err = waves.CreateFST(path, waves.Options{From: int64(from) * tb.PeriodPs, To: int64(to) * tb.PeriodPs, Rows: r.List}, b.Hosts[0].K, b.Hosts[1].K)
		if err != nil {
			return err
		}
		b.Hosts[0].K.Go("end_of_window", func(t *hdl.Thread) {
			t.WaitUntil(to + 1)
			b.Hosts[0].K.Stop()
		})
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := fst.Close(); err != nil {
		return nil, err
	}
	gtkw := filepath.Join(folder, name+".gtkw")
	f, err := os.Create(gtkw)
	if err != nil {
		return nil, err
	}
	v := waves.View{Overview: []waves.Group{
		{Name: "wire", Signals: []string{"host_?.wire.tx", "host_?.wire.rx", "host_?.wire.fault"}},
		{Name: "QPs", Signals: []string{"host_?.qp_*"}},
		{Name: "driver", Signals: []string{"host_?.driver"}},
	}}
	for _, k := range slices.Sorted(maps.Keys(markers)) {
		if c := markers[k]; c >= from && c <= to {
			v.Markers = append(v.Markers, waves.Marker{Name: k, Ps: int64(c) * tb.PeriodPs})
		}
	}
	return []string{path, gtkw}, errors.Join(fst.Save(f, name, v), f.Close())
}
