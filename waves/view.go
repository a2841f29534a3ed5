package waves

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"rnic/hdl"
)

// View is what GTKWave shows first.
type View struct {
	Markers  []Marker // at most 26
	From, To int64    // ps; the whole file, or around the markers, if To is zero
	Overview []Group  // groups at the top; with them, or with many traces, blocks start folded
	Scopes   []string // patterns as Options.Scopes of the blocks to show, unfolded; all if none
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

// Save writes the save file of GTKWave that goes with a closed file: name.gtkw beside
// name.vcd or name.fst, in whatever folder.
func (v *File) Save(w io.Writer, name string, view View) error {
	if len(view.Markers) > 26 {
		return fmt.Errorf("waves: %d markers: %w", len(view.Markers), ErrMarkers)
	}
	s := &saver{view: view, name: name, format: v.format, files: map[string]int{}}
	for _, x := range v.Vars {
		if !x.Silent() {
			s.vars = append(s.vars, x)
		}
	}
	if s.view.File == "" {
		s.view.File = name + ".gtkw"
	}
	s.head(v.Start, v.End)
	if err := s.overview(); err != nil {
		return err
	}
	if err := s.keep(); err != nil {
		return err
	}
	for _, top := range s.blocks() {
		s.kernel(top)
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

type saver struct {
	b      []byte
	view   View
	name   string
	format format
	vars   []*Var
	files  map[string]int // of names of enums, by content, numbered from 1
	err    error
}

func (s *saver) line(format string, args ...any) {
	s.b = append(fmt.Appendf(s.b, format, args...), '\n')
}

// head is the window and the markers.
func (s *saver) head(start, end int64) {
	from, to := s.view.From, s.view.To
	if to <= from {
		if from, to = start, end; len(s.view.Markers) > 0 {
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
		s.line("@c00200")
	} else {
		s.line("@800200")
	}
	s.line("-%s", name)
}

func (s *saver) close(name string, folded bool) {
	if folded {
		s.line("@1401200")
	} else {
		s.line("@1000200")
	}
	s.line("-%s", name)
}

// trace adds a variable under a name. An enum shows by its text where there is one.
func (s *saver) trace(v *Var, name string) {
	flags := radix(v)
	file := 0
	switch {
	case v.Signal.Kind != hdl.Enum || v.Text:
	case s.format == asFST:
		if _, n, _ := (tables{}).of(v); n > 0 {
			flags = showEnum
		}
	default:
		if file = s.translate(v); file > 0 {
			flags |= showFile
		}
	}
	s.line("@%x", flags)
	if file > 0 {
		s.line("^%d %s", file, s.file(file))
	}
	if c := colour(v); c > 0 {
		s.line("[color] %d", c)
	}
	// GTKWave shows no more of a name than what is behind the last dot.
	s.line("+{%s} %s", strings.ReplaceAll(name, ".", "/"), v.Ref())
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
	by := make([][]*Var, len(patterns))
	for i, v := range s.vars {
		if p := sel.find(v.alias()); p >= 0 && !s.named(i) {
			by[p] = append(by[p], v)
		}
	}
	for _, l := range by {
		vars = append(vars, l...)
	}
	return vars, nil
}

// keep leaves the variables of the blocks to show, and the clocks of their kernels.
func (s *saver) keep() error {
	if len(s.view.Scopes) == 0 {
		return nil
	}
	sel, err := newSelection(s.view.Scopes)
	if err != nil {
		return err
	}
	wanted := make([]bool, len(s.vars))
	kernels := map[int]bool{}
	for i, v := range s.vars {
		wanted[i] = sel.find(v.Path) >= 0
		kernels[v.Kernel] = kernels[v.Kernel] || wanted[i]
	}
	var left []*Var
	for i, v := range s.vars {
		if wanted[i] || v.Clock() && kernels[v.Kernel] {
			left = append(left, v)
		}
	}
	s.vars = left
	return nil
}

// named tells whether the next variable says the same by name.
func (s *saver) named(i int) bool {
	return i+1 < len(s.vars) && s.vars[i+1].Text && !s.vars[i].Clock()
}
