package waves

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"rnic/hdl"
)

// View is what GTKWave shows first.
type View struct {
	Markers  []Marker // at most 26
	From, To int64    // ps; the whole file, or around the markers, if To is zero
	Overview []Group  // groups at the top; with them, or with many traces, blocks start folded
	Scopes   []string // patterns as Options.Scopes of the blocks to show, unfolded; all if none
	Only     bool     // the overview and Scopes only: no blocks if there are none. GTKWave loads all that a view has, folded or not
	Note     string   // a row of words below all
	File     string   // of the save file, relative to the folder of the waves; name.gtkw if empty

	// Translate makes a file beside the save file. With it, and in a VCD of the profile
	// Portable, names of enums come from such files; GTKWave finds them only if it
	// is started in their folder. An FST has the names in itself.
	Translate func(name string) (io.WriteCloser, error)
}

// Group is a choice of signals under a heading. Signals are patterns as
// Options.Scopes, shown in this order; those that select nothing are left out. They
// begin below the scope Under, if there is one, and so do the names shown. An enum is
// chosen by its own name and shown by its text.
type Group struct {
	Name, Under string
	Signals     []string
	Folded      bool
}

// Marker names an instant.
type Marker struct {
	Name string
	Ps   int64
}

// ErrMarkers says that there are more markers than GTKWave has letters.
var ErrMarkers = errors.New("GTKWave has 26 markers")

// Width and height of GTKWave's window, and the width of the part that shows waves.
const (
	winWidth, winHeight = 1600, 900
	namesWidth          = 390                         // GTKWave takes no less for long names
	wavesWidth          = winWidth - namesWidth - 110 // on a screen that is just as wide
)

// Save writes the save file of GTKWave that goes with a file: name.gtkw beside name.vcd
// or name.fst, in whatever folder. Of a file that is not closed yet, which may be all
// that a killed run leaves, it shows every row and the first 150 us.
func (v *File) Save(w io.Writer, name string, view View) error {
	if len(view.Markers) > 26 {
		return fmt.Errorf("waves: %d markers: %w", len(view.Markers), ErrMarkers)
	}
	s := &saver{view: view, name: name, format: v.format, files: map[string]int{}, cat: v.catalog()}
	if s.view.File == "" {
		s.view.File = name + ".gtkw"
	}
	s.head(v.Start, v.End)
	if err := s.overview(); err != nil {
		return err
	}
	vars, err := s.keep()
	if err != nil {
		return err
	}
	fold := (len(view.Overview) > 0 || len(vars) > manyTraces) && len(view.Scopes) == 0
	for _, top := range blocks(vars, fold) {
		s.kernel(top)
	}
	if view.Note != "" {
		s.put("@200")
		s.put("-", label(view.Note))
	}
	s.line("[pattern_trace] 1")
	s.line("[pattern_trace] 0")
	if s.err != nil {
		return fmt.Errorf("waves: %w", s.err)
	}
	if _, err := w.Write(s.b); err != nil {
		return fmt.Errorf("waves: %w", err)
	}
	return nil
}

// firstLook is how much of a file whose end is not known a view shows, ps.
const firstLook = 150_000_000

type saver struct {
	b      []byte
	view   View
	name   string
	format format
	cat    *catalog
	files  map[string]int // of names of enums, by content, numbered from 1
	err    error
}

func (s *saver) line(format string, args ...any) {
	s.b = append(fmt.Appendf(s.b, format, args...), '\n')
}

// put is line of words as they are, of which there are many.
func (s *saver) put(words ...string) {
	for _, w := range words {
		s.b = append(s.b, w...)
	}
	s.b = append(s.b, '\n')
}

// head is the window and the markers.
func (s *saver) head(start, end int64) {
	from, to := s.view.From, s.view.To
	if to <= from {
		if from, to = start, end; end <= start {
			to = start + firstLook
		}
		if len(s.view.Markers) > 0 {
			from, to = never, 0
			for _, m := range s.view.Markers {
				from, to = min(from, m.Ps), max(to, m.Ps)
			}
			margin := (to-from)/20 + 20_000
			from, to = max(start, from-margin), min(end, to+margin)
		}
	}
	// GTKWave finds the one from where the other is.
	s.line(`[dumpfile] "%s%s.%s"`, strings.Repeat("../", strings.Count(s.view.File, "/")), s.name, s.format)
	s.line(`[savefile] "%s"`, path.Base(s.view.File))
	s.line("[timestart] %d", from)
	s.line("[size] %d %d", winWidth, winHeight)
	s.line("[pos] 0 0")
	// 2^-zoom ticks go on 200 pixels.
	zoom := -math.Log2(float64(max(to-from, 1)) * 200 / wavesWidth)
	times := make([]string, 26)
	for i := range times {
		times[i] = "-1"
		if i < len(s.view.Markers) {
			times[i] = fmt.Sprint(s.view.Markers[i].Ps)
		}
	}
	s.line("*%.6f -1 %s", zoom, strings.Join(times, " "))
	for i, m := range s.view.Markers {
		s.line("[markername] %c%s", 'A'+i, label(m.Name))
	}
	s.line("[sst_width] 0")
	s.line("[signals_width] %d", namesWidth)
	s.line("[sst_expanded] 0")
}

// label keeps what can stand in a line of the file.
func label(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f {
			return '_'
		}
		return r
	}, s)
}

// open and close bracket a group.
func (s *saver) open(name string, folded bool) {
	if folded {
		s.put("@c00200")
	} else {
		s.put("@800200")
	}
	s.put("-", name)
}

func (s *saver) close(name string, folded bool) {
	if folded {
		s.put("@1401200")
	} else {
		s.put("@1000200")
	}
	s.put("-", name)
}

// trace adds a variable under a name. An enum shows by its text where there is one.
func (s *saver) trace(v *Var, name string) {
	flags := radix(v)
	file := 0
	switch {
	case v.Signal.Kind != hdl.Enum || v.Text:
	case s.format == asFST:
		if s.cat.names(v) {
			flags = showEnum
		}
	default:
		if file = s.translate(v); file > 0 {
			flags |= showFile
		}
	}
	s.put("@", strconv.FormatInt(int64(flags), 16))
	if file > 0 {
		s.line("^%d %s", file, s.file(file))
	}
	if c := colour(v); c > 0 {
		s.put("[color] ", strconv.Itoa(c))
	}
	// GTKWave shows no more of a name than what is behind the last dot.
	s.put("+{", strings.ReplaceAll(name, ".", "/"), "} ", v.Ref())
}

// overview is the groups at the top.
func (s *saver) overview() error {
	for _, g := range s.view.Overview {
		if err := s.choice(g); err != nil {
			return err
		}
	}
	return nil
}

// choice is a group of the overview; one without signals is left out.
func (s *saver) choice(g Group) error {
	vars, err := s.choose(g)
	if err != nil || len(vars) == 0 {
		return err
	}
	under := ""
	if g.Under != "" {
		under = g.Under + "."
	}
	s.open(label(g.Name), g.Folded)
	for _, v := range vars {
		s.trace(v, strings.TrimPrefix(v.alias(), under))
	}
	s.close(label(g.Name), g.Folded)
	return nil
}

// choose finds the signals of a group, in its order.
func (s *saver) choose(g Group) (vars []*Var, err error) {
	under := ""
	if g.Under != "" {
		under = g.Under + "."
	}
	patterns := make([]string, len(g.Signals))
	for i, p := range g.Signals {
		patterns[i] = under + p
	}
	sel, err := newSelection(patterns)
	if err != nil {
		return nil, err
	}
	l := s.cat.places(sel, (*Var).alias)
	slices.SortStableFunc(l, func(a, b place) int { return a.pattern - b.pattern })
	for _, p := range l {
		if !named(s.cat.vars, p.i) {
			vars = append(vars, s.cat.vars[p.i])
		}
	}
	return vars, nil
}

// keep is the variables of the blocks to show, and the clocks of their kernels.
func (s *saver) keep() ([]*Var, error) {
	all := s.cat.vars
	switch {
	case len(s.view.Scopes) > 0:
	case s.view.Only:
		return nil, nil
	default:
		return all, nil
	}
	sel, err := newSelection(s.view.Scopes)
	if err != nil {
		return nil, err
	}
	l := s.cat.places(sel, (*Var).path)
	kernels := map[int]bool{}
	for _, p := range l {
		kernels[all[p.i].Kernel] = true
	}
	for _, i := range s.cat.clocks {
		if kernels[all[i].Kernel] {
			l = append(l, place{i: i})
		}
	}
	slices.SortFunc(l, func(a, b place) int { return a.i - b.i })
	var kept []*Var
	for i, p := range l {
		if i == 0 || p.i != l[i-1].i {
			kept = append(kept, all[p.i])
		}
	}
	return kept, nil
}

// named tells whether the next variable says the same by name.
func named(vars []*Var, i int) bool {
	return i+1 < len(vars) && vars[i+1].Text && !vars[i].Clock()
}
