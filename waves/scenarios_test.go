package waves_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/rows"
	"rnic/tb/scenario"
	"rnic/waves"
	"rnic/waves/wavetest"
)

// recordScenario runs a scenario into both kinds of file at once, with a view of each.
func recordScenario(t *testing.T, path string, watch func(*tb.Bench)) (vcd, fst string, vars []*waves.Var) {
	s, err := scenario.Load(path)
	require.NoError(t, err)
	dir := t.TempDir()
	vcd, fst = filepath.Join(dir, "run.vcd"), filepath.Join(dir, "run.fst")
	var files []*waves.File
	rep, err := s.Run(scenario.Options{Seed: 1, Open: func(b *tb.Bench) error {
		shown, err := rows.Watch(b, rows.Options{QPs: len(s.QPs)})
		require.NoError(t, err)
		o := waves.Options{Rows: shown.List}
		v, err := waves.Create(vcd, o, b.Hosts[0].K, b.Hosts[1].K)
		require.NoError(t, err)
		f, err := waves.CreateFST(fst, o, b.Hosts[0].K, b.Hosts[1].K)
		require.NoError(t, err)
		files = []*waves.File{v, f}
		watch(b)
		return nil
	}})
	require.NoError(t, err)
	require.True(t, rep.Pass, "%+v", rep.Checks)
	for i, f := range files {
		require.NoError(t, f.Close())
		w, err := os.Create([]string{vcd, fst}[i] + ".gtkw")
		require.NoError(t, err)
		require.NoError(t, f.Save(w, "run", waves.View{File: filepath.Base(w.Name())}))
		require.NoError(t, w.Close())
	}
	return vcd, fst, files[0].Vars
}

func scenarios(t *testing.T) []string {
	l, err := filepath.Glob("../scenarios/*.yaml")
	require.NoError(t, err)
	require.Greater(t, len(l), 30)
	return l
}

// An FST shows what the VCD of the same run shows, of each scenario, and GTKWave loads
// both, with their views, without a message. A tool's word counts, not the project's own.
func TestScenarios(t *testing.T) {
	screen := ""
	if !testing.Short() {
		wavetest.Need(t, "gtkwave", "fst2vcd")
		screen = wavetest.Screen(t)
	}
	for i, path := range scenarios(t) {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			vcd, fst, _ := recordScenario(t, path, func(*tb.Bench) {})
			wavetest.Same(t, vcd, fst)
			if screen == "" {
				return
			}
			const script = `say "[gtkwave::getNumFacs] [gtkwave::getMaxTime] [llength [gtkwave::getDisplayedSignals]]"`
			a := wavetest.GTKWaveOn(t, screen, script, fst, fst+".gtkw")
			if i%8 == 0 { // a VCD takes a second to load
				require.Equal(t, a, wavetest.GTKWaveOn(t, screen, script, vcd, vcd+".gtkw"))
			}
			var n [3]int
			_, err := fmt.Sscan(a, &n[0], &n[1], &n[2])
			require.NoError(t, err)
			require.Greater(t, min(n[0], n[1], n[2]), 1000)
		})
	}
}

// memory takes down what the model has in its registers, as it runs.
type memory struct {
	k       *hdl.Kernel
	signals []hdl.Signal
	at      map[uint64]bool
	said    io.Writer
}

func (m *memory) Edge(cycle uint64, _ *hdl.Changes) {
	if !m.at[cycle] {
		return
	}
	for _, s := range m.signals {
		p := (*[8]byte)(m.k.Base(s.Owner))
		v := uint64(0)
		for i, b := range unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(p), s.Offset)), s.Size) {
			v |= uint64(b) << (8 * i)
		}
		v &= ^uint64(0) >> (64 - s.Width)
		fmt.Fprintf(m.said, "%d %s %d\n", int64(cycle)*m.k.PeriodPs(), s.Path, v)
	}
}

func (m *memory) Jump(uint64, uint64, *hdl.Changes) {}

// GTKWave reads back from an FST what the model had in its registers.
func TestGTKWaveReadsTheModel(t *testing.T) {
	wavetest.Need(t, "gtkwave")
	var want [2]strings.Builder // of hosts, which run beside one another
	var script strings.Builder
	_, fst, vars := recordScenario(t, "../scenarios/lost_middle.yaml", func(b *tb.Bench) {
		r := rand.New(rand.NewPCG(1, 2))
		for i, h := range b.Hosts {
			m := &memory{k: h.K, at: map[uint64]bool{}, said: &want[i]}
			for c := range uint64(40) {
				m.at[1000+101*c] = true
			}
			for _, s := range h.K.Signals() {
				if (s.Role == hdl.RoleReg || s.Role == hdl.RoleValid || s.Role == hdl.RoleCount) && s.Kind != hdl.Bytes && r.IntN(8) == 0 {
					m.signals = append(m.signals, s)
				}
			}
			require.Greater(t, len(m.signals), 50)
			h.K.Observe(m)
		}
	})
	lines := strings.Split(strings.TrimSpace(want[0].String()+want[1].String()), "\n")
	require.Greater(t, len(lines), 500)
	called := map[string]string{}
	for _, v := range vars {
		if !v.Text {
			called[v.Signal.Path] = v.Ref()
		}
	}
	for n, l := range lines {
		var at int
		var path string
		_, err := fmt.Sscan(l, &at, &path)
		require.NoError(t, err)
		fmt.Fprintf(&script, "look %d %d {%s}\n", n, at, called[path])
	}
	got := strings.Split(strings.TrimSpace(wavetest.GTKWave(t, `
proc look {n t s} {
	say "$n [lindex [gtkwave::signalChangeList $s -start_time $t -end_time $t -max 1] end]"
}
`+script.String(), fst)), "\n")
	require.Len(t, got, len(lines))
	busy := 0
	for i, l := range got {
		n, text, _ := strings.Cut(l, " ")
		require.Equal(t, strconv.Itoa(i), n)
		v, err := strconv.ParseUint(text, 0, 64) // 0b or 0x
		require.NoError(t, err)
		require.Equal(t, lines[i][strings.LastIndexByte(lines[i], ' ')+1:], strconv.FormatUint(v, 10), lines[i])
		if v != 0 {
			busy++
		}
	}
	require.Greater(t, busy, len(lines)/40)
}
