package waves_test

import (
	"bytes"
	"image/color"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/wavetest"
)

// viewed runs two kernels and gives the file and a view of it.
func viewed(t *testing.T, o waves.Options, view waves.View) (vcd, gtkw string) {
	var b, g bytes.Buffer
	a := elaborate(t, "host_a", 20, hdl.Options{})
	c := elaborate(t, "host_b", 31, hdl.Options{})
	v, err := waves.New(&b, o, a, c)
	require.NoError(t, err)
	require.ErrorIs(t, hdl.NewWorld(75, a, c).Run(nil, 130), hdl.ErrLimit)
	require.NoError(t, v.Close())
	require.NoError(t, v.Save(&g, "demo", view))
	return b.String(), g.String()
}

var markers = []waves.Marker{{"doorbell", 80_000}, {"first packet", 84_000}, {"ACK", 124_000}, {"CQE", 250_000}}

func TestSaveGolden(t *testing.T) {
	_, plain := viewed(t, waves.Options{}, waves.View{Markers: markers})
	golden(t, "plain.gtkw", plain)
	_, over := viewed(t, waves.Options{Scopes: []string{"tx", "rx"}}, waves.View{From: 10_000, To: 90_000, Overview: overview})
	golden(t, "overview.gtkw", over)
}

var overview = []waves.Group{
	{Name: "overview", Signals: []string{"rx.delta", "*.tx.state", "rx.in.head.psn", "no.such.scope"}},
	{Name: "nothing", Signals: []string{"no.such.scope"}},
	{Name: "a: to rx", Under: "host_a.rx", Signals: []string{"in.head.kind", "in.fire"}},
}

// together writes a VCD and its save file side by side.
func together(t *testing.T, o waves.Options, view waves.View) (v, g string) {
	vcd, gtkw := viewed(t, o, view)
	dir := t.TempDir()
	v, g = filepath.Join(dir, "demo.vcd"), filepath.Join(dir, "demo.gtkw")
	require.NoError(t, os.WriteFile(v, []byte(vcd), 0o666))
	require.NoError(t, os.WriteFile(g, []byte(gtkw), 0o666))
	return v, g
}

func TestGTKWaveShowsTheView(t *testing.T) {
	v, g := together(t, waves.Options{}, waves.View{Markers: markers, Overview: overview})
	got := wavetest.GTKWave(t, `
say "traces [llength [gtkwave::getDisplayedSignals]]"
say "first [lrange [gtkwave::getDisplayedSignals] 0 2]"
say "from [gtkwave::getWindowStartTime] shown [expr [gtkwave::getWindowEndTime] > 270000 && [gtkwave::getWindowEndTime] < 300000]"
gtkwave::setMarker 84000
foreach s {host_a/tx/state host_a/rx/in/head/psn host_b/rx/delta clk} { say "$s [gtkwave::getTraceValueAtMarkerFromName $s]" }
foreach m {A B C D E} { say "$m [gtkwave::getNamedMarker $m]" }
`, v, g)
	require.Equal(t, `traces 56
first {host_a.rx.delta[7:0]} {host_b.rx.delta[7:0]} host_a.tx.state_name
from 51500 shown 1
host_a/tx/state SEND
host_a/rx/in/head/psn 0
host_b/rx/delta 0
clk 1
A 80000
B 84000
C 124000
D 250000
E -1
`, got)
}

// The save file finds its VCD from any folder.
func TestSaveFileAlone(t *testing.T) {
	_, g := together(t, waves.Options{}, waves.View{})
	wavetest.Need(t, "gtkwave")
	rc := save(t, "rc", "splash_disable 1\n")
	tcl := save(t, "x.tcl", "puts \"facs [gtkwave::getNumFacs]\"\ngtkwave::/File/Quit\n")
	out := wavetest.Tool(t, t.TempDir(), []string{wavetest.Screen(t)}, "gtkwave", "-r", rc, "-S", tcl, g)
	require.Contains(t, out, "facs 52\n")
}

// Names of enums come from files in the profile that has no strings.
func TestTranslations(t *testing.T) {
	dir := t.TempDir()
	view := waves.View{Translate: func(name string) (io.WriteCloser, error) { return os.Create(filepath.Join(dir, name)) }}
	vcd, g := viewed(t, waves.Options{Profile: waves.Portable}, view)
	v, s := filepath.Join(dir, "demo.vcd"), filepath.Join(dir, "demo.gtkw")
	require.NoError(t, os.WriteFile(v, []byte(vcd), 0o666))
	require.NoError(t, os.WriteFile(s, []byte(g), 0o666))
	names, err := os.ReadFile(filepath.Join(dir, "demo.enum1.txt"))
	require.NoError(t, err)
	require.Equal(t, "0 IDLE\n1 SEND\n2 WAIT\n", string(names))
	require.NotContains(t, g, dir)
	require.NotContains(t, g, "enum2", "the same names twice")
	got := wavetest.GTKWave(t, `
foreach t {0 84000 92000} { gtkwave::setMarker $t; say [gtkwave::getTraceValueAtMarkerFromName state] }
`, v, s)
	require.Equal(t, "IDLE\nSEND\nWAIT\n", got)

	view.Translate = func(string) (io.WriteCloser, error) { return nil, os.ErrPermission }
	k := elaborate(t, "top", 20, hdl.Options{})
	w, err := waves.New(discard{}, waves.Options{Profile: waves.Portable}, k)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.ErrorIs(t, w.Save(discard{}, "x", view), os.ErrPermission)
}

// arrays is a module whose registers are mostly an array.
type arrays struct {
	hdl.Regs[struct {
		Few  [3]uint16
		Word [12]uint32
		Slot [5]struct{ A, Err bool }
	}]
}

func (m *arrays) Eval() {}

func TestLongArraysAreFolded(t *testing.T) {
	k, err := hdl.Elaborate("top", &struct{ M arrays }{}, hdl.Options{})
	require.NoError(t, err)
	v, err := waves.New(discard{}, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, v.Close())
	var b bytes.Buffer
	require.NoError(t, v.Save(&b, "x", waves.View{}))
	require.Contains(t, b.String(), "@800200\n-m\n@22\n+{few_0} top.m.few_0[15:0]\n")
	require.Contains(t, b.String(), "@c00200\n-word\n@22\n+{word_0} top.m.word_0[31:0]\n")
	require.Contains(t, b.String(), "@1401200\n-word\n@c00200\n-slot\n@28\n+{slot_0/a} top.m.slot_0.a\n@28\n[color] 1\n+{slot_0/err} top.m.slot_0.err\n")
}

func TestSaveErrors(t *testing.T) {
	k := elaborate(t, "top", 20, hdl.Options{})
	v, err := waves.New(discard{}, waves.Options{}, k)
	require.NoError(t, err)
	require.NoError(t, v.Close())
	require.ErrorIs(t, v.Save(discard{}, "x", waves.View{Markers: make([]waves.Marker, 27)}), waves.ErrMarkers)
	require.Error(t, v.Save(discard{}, "x", waves.View{Overview: []waves.Group{{Signals: []string{"["}}}}))
	f, err := os.OpenFile(full(t), os.O_WRONLY, 0)
	require.NoError(t, err)
	defer f.Close()
	require.ErrorIs(t, v.Save(f, "x", waves.View{}), syscall.ENOSPC)
}

// A picture of a run shows more than an empty window.
func TestPicture(t *testing.T) {
	wavetest.Need(t, "gtkwave", "xvfb-run", "xauth")
	v, g := together(t, waves.Options{}, waves.View{Markers: markers})
	p := filepath.Join(t.TempDir(), "p.png")
	require.Empty(t, wavetest.Tool(t, "", nil, "./shot.sh", v, g, p))
	f, err := os.Open(p)
	require.NoError(t, err)
	defer f.Close()
	img, err := png.Decode(f)
	require.NoError(t, err)
	colours := map[color.Color]bool{}
	b := img.Bounds()
	require.Greater(t, b.Dx(), 1500)
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			colours[img.At(x, y)] = true
		}
	}
	require.Greater(t, len(colours), 1000)
}
