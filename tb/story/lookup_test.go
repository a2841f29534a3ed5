package story_test

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/tb"
	"rnic/tb/scenario"
	"rnic/tb/story"
	"rnic/waves"
	"rnic/waves/read"
)

// statements are all that a story says of signals.
func statements(s *story.Story) (l []story.At) {
	for _, x := range s.PCIe {
		l = append(l, x.At)
	}
	for _, w := range s.WRs {
		for _, x := range w.Stages {
			l = append(l, x.At)
		}
		for _, x := range w.Waits {
			l = append(l, x.At)
		}
	}
	for _, p := range s.Packets {
		l = append(l, story.At{Ps: p.Ps, Cycle: p.Cycle, Signal: p.Signal, Value: p.Value})
		for _, x := range p.Why {
			l = append(l, x.At)
		}
	}
	for _, q := range s.QPs {
		for _, x := range q.Events {
			l = append(l, x.At)
		}
	}
	return l
}

// lookUp finds each statement in the waves, and gives those that are not there.
func lookUp(t *testing.T, path string, l []story.At) (wrong []string) {
	f, err := read.Open(path)
	require.NoError(t, err)
	defer f.Close()
	vars := map[string]*read.Var{}
	for i := range f.Vars {
		vars[f.Path(&f.Vars[i])] = &f.Vars[i]
	}
	want := make([]bool, f.IDs)
	for _, a := range l {
		if v := vars[a.Signal]; v == nil {
			return []string{"no signal " + a.Signal}
		} else {
			want[v.ID] = true
		}
	}
	f.Want(want)
	slices.SortStableFunc(l, func(a, b story.At) int { return cmp.Compare(a.Ps, b.Ps) })
	check := func(upto int64) {
		for len(l) > 0 && l[0].Ps < upto {
			a := l[0]
			l = l[1:]
			if got := vars[a.Signal].Text(f.Raw(vars[a.Signal].ID)); got != a.Value || a.Ps != int64(a.Cycle)*tb.PeriodPs {
				wrong = append(wrong, fmt.Sprintf("%+v: the waves say %s", a, got))
			}
		}
	}
	require.Equal(t, -12, f.Exponent)
	more := f.Next()
	for more {
		now := int64(f.Time())
		if next, ok := f.Upcoming(); ok {
			check(int64(next))
		} else {
			check(now + 1<<40)
		}
		more = f.Next()
	}
	require.NoError(t, f.Err())
	for _, a := range l {
		wrong = append(wrong, fmt.Sprintf("%+v: beyond the end", a))
	}
	return wrong
}

// play runs a scenario.
func play(t *testing.T, name, fst string, digest *uint64, naked bool) *story.Story {
	t.Helper()
	s, err := scenario.Load("../../scenarios/" + name + ".yaml")
	require.NoError(t, err)
	var rec *story.Recorder
	var w *waves.File
	rep, err := s.Run(scenario.Options{Seed: 1, Digest: digest != nil, Open: func(b *tb.Bench) (err error) {
		if !naked {
			if rec, err = story.Attach(b, story.Options{}); err != nil {
				return err
			}
		}
		if fst != "" {
			w, err = waves.CreateFST(fst, waves.Options{}, b.Hosts[0].K, b.Hosts[1].K)
		}
		return err
	}})
	require.NoError(t, err)
	require.True(t, rep.Pass)
	if digest != nil {
		*digest = rep.Digest
	}
	if w != nil {
		require.NoError(t, w.Close())
	}
	if rec == nil {
		return nil
	}
	return readBack(t, rec.Finish())
}

// TestStatements looks up in the waves what stories say.
func TestStatements(t *testing.T) {
	names := []string{"send", "lost_middle", "rnr_nak", "nak_sequence", "nak_remote_access", "timeout_retry", "read", "fetch_add"}
	if !testing.Short() {
		all, err := filepath.Glob("../../scenarios/*.yaml")
		require.NoError(t, err)
		names = nil
		for _, p := range all {
			names = append(names, strings.TrimSuffix(filepath.Base(p), ".yaml"))
		}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.fst")
			s := play(t, name, path, nil, false)
			l := statements(s)
			require.Greater(t, len(l), 10)
			require.Empty(t, lookUp(t, path, l))
		})
	}
	t.Run("transfers", func(t *testing.T) {
		for _, op := range []abi.WQEOp{abi.OpSend, abi.OpWriteImm, abi.OpRead} {
			path := filepath.Join(t.TempDir(), "x.fst")
			c := lossy
			c.op, c.fst, c.faults = op, path, []string{"drop 5%", "corrupt 2%", "reorder 3%", "duplicate 2%", "badfcs 2%"}
			c.count = 12
			require.Empty(t, lookUp(t, path, statements(run(t, c))))
		}
	})
}

// TestLookUp: one that is wrong is found.
func TestLookUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.fst")
	s := play(t, "send", path, nil, false)
	for i, change := range []func(*story.At){
		func(a *story.At) { a.Value = "0x1234567" },
		func(a *story.At) { a.Cycle++ },
		func(a *story.At) { a.Signal += "x" },
		func(a *story.At) { a.Ps, a.Cycle = a.Ps-tb.PeriodPs, a.Cycle-1 },
	} {
		l := statements(s)
		change(&l[len(l)/2])
		require.Len(t, lookUp(t, path, l), 1, i)
	}
}

// TestSame: a run with a Recorder is the run without.
func TestSame(t *testing.T) {
	for _, name := range []string{"lost_middle", "nak_remote_access"} {
		var with, without uint64
		play(t, name, "", &with, false)
		play(t, name, "", &without, true)
		require.Equal(t, without, with)
	}
	c := lossy
	var with, without uint64
	c.digest = &with
	run(t, c)
	c.digest, c.naked = &without, true
	run(t, c)
	require.Equal(t, without, with)
}
