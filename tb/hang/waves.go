package hang

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/rows"
	"rnic/tb/views"
	"rnic/waves"
)

// Window is where to look in waves for what happened in a cycle, in cycles.
func Window(cycle uint64) (from, to uint64) { return cycle - min(cycle, 2000), cycle + 500 }

// longWindow is from how many cycles on a view of a window has no blocks below the rows.
const longWindow = 20_000

// Waves has a job run once more on a fresh bench, and writes the waveforms of a window
// of cycles into a folder, which it makes: name.fst with the rows of package rows, and
// beside it name.gtkw, and for Surfer name.sucl and .surfer/mappings. Nothing is traced
// outside the window. Below the rows the view has all blocks, folded; if the window is over
// 20,000 cycles, none, and a row that says so. The waves have them in any case. run has to
// do what the first run did, with the same seed, and to open the bench before; it is stopped
// at the end of the window, and its error is not looked at. Markers say what was when, in
// cycles.
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
	// GTKWave loads all that a view has: of a long window that is too much.
	v := waves.View{Overview: groups}
	if v.Only = to-from > longWindow; v.Only {
		v.Note = fmt.Sprintf("blocks are left out: over %d cycles. They are in the tree (SST)", longWindow)
	}
	for _, k := range slices.Sorted(maps.Keys(markers)) {
		if c := markers[k]; c >= from && c <= to {
			v.Markers = append(v.Markers, waves.Marker{Name: k, Ps: int64(c) * tb.PeriodPs})
		}
	}
	if err := views.Write(folder, name, name, fst, v); err != nil {
		return nil, err
	}
	files = []string{path}
	for _, ending := range views.Endings {
		files = append(files, filepath.Join(folder, name+ending))
	}
	return files, views.Mappings(folder, fst)
}

// groups are what the views show first.
var groups = []waves.Group{
	views.Wires,
	{Name: "QPs", Signals: []string{"host_?.qp_*"}},
	{Name: "packets", Signals: []string{
		"host_?.nic.pkt_tx.ask.*.packet", "host_?.nic.ack_gen.issue.pkt.packet", "host_?.nic.ack_gen.judge.verdict.text",
		"host_?.nic.scatter.front.place.packet", "host_?.nic.pkt_rx.drop", "host_?.nic.ack_gen.judge.drop",
	}},
	{Name: "driver", Signals: []string{"host_?.driver"}},
}
