package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"text/tabwriter"

	"golang.org/x/term"

	"rnic/waves/read"
	"rnic/waves/text"
)

// waveCmd shows signals of a waveform.
type waveCmd struct {
	File string `arg:"" help:"VCD (also .gz) or FST; - is standard input."`

	Signals []string `short:"s" placeholder:"GLOB" help:"Signals, as state or nic.qpc.*.fire: all at or below what a pattern names, which may begin at any level. * is within a name, ** any number of names."`
	From    string   `placeholder:"TIME" help:"From this time on: 123ns, 1.5us, or c1234 for a cycle."`
	To      string   `placeholder:"TIME" help:"Up to this time."`
	At      string   `placeholder:"TIME" help:"Print the values at this time instead."`
	List    bool     `help:"List the signals instead."`
	Cycles  bool     `help:"A column a cycle of the clock in which something changes, with the values after its edge, instead of one a change."`
	Clk     string   `placeholder:"PATH" help:"Clock that counts cycles; else the nearest signal called clk or clock."`
	Limit   int      `default:"200" help:"Columns after which to stop; 0: never."`
	Width   int      `help:"Width in columns; else that of the terminal, or 100."`
	ASCII   bool     `name:"ascii" help:"Letters of ASCII only."`
	JSON    bool     `help:"Print as JSON: what changes, sample by sample."`
}

// maxRows is the most signals that are drawn.
const maxRows = 100

// Run prints what is asked for.
func (w *waveCmd) Run() error {
	if err := w.check(); err != nil {
		return err
	}
	f, err := read.Open(w.File)
	if err != nil {
		return err
	}
	defer f.Close()
	patterns := w.Signals
	if len(patterns) == 0 {
		patterns = []string{"**"}
	}
	signals, err := f.Glob(patterns...)
	if err != nil {
		return fmt.Errorf("--signals %w", err)
	}
	if w.List {
		return w.list(f, signals)
	}
	win, err := w.window(f, signals)
	if err != nil {
		return err
	}
	if w.At != "" {
		return w.at(f, win)
	}
	s, err := text.NewSampler(f, win)
	if err != nil {
		return err
	}
	if w.JSON {
		return w.samples(f, s, win)
	}
	return w.draw(f, s, win)
}

func (w *waveCmd) check() error {
	switch {
	case len(w.Signals) == 0 && !w.List && w.At == "":
		return errors.New("wave: which signals? --signals GLOB shows them, --list lists all")
	case w.List && (w.At != "" || w.From != "" || w.To != "" || w.Cycles):
		return errors.New("--list goes without --at, --from, --to and --cycles")
	case w.At != "" && (w.From != "" || w.To != "" || w.Cycles):
		return errors.New("--at goes without --from, --to and --cycles")
	case w.Limit < 0:
		return fmt.Errorf("--limit %d: must not be below 0", w.Limit)
	case w.Width != 0 && w.Width < 40:
		return fmt.Errorf("--width %d: must be 40 at least", w.Width)
	}
	return nil
}

// window reads the times. The clock needs the file to be opened twice.
func (w *waveCmd) window(f *read.File, signals []int) (win text.Window, err error) {
	win = text.Window{To: text.All, Signals: signals, Cycles: w.Cycles}
	if st, err := os.Stat(w.File); err == nil && st.Mode().IsRegular() {
		if win.Clock, err = read.FindClock(w.File, w.Clk, f.Path(&f.Vars[signals[0]])); err != nil {
			return win, fmt.Errorf("--clk: %w", err)
		}
	}
	for _, t := range []struct {
		name, text string
		to         *uint64
	}{{"--from", w.From, &win.From}, {"--from", w.At, &win.From}, {"--to", w.To, &win.To}} {
		if t.text == "" {
			continue
		}
		if t.text == w.At {
			t.name = "--at"
		}
		if *t.to, err = f.ParseTime(t.text, win.Clock); err != nil {
			return win, fmt.Errorf("%s %w", t.name, err)
		}
	}
	if win.To < win.From {
		return win, fmt.Errorf("--to %s: before --from %s", w.To, w.From)
	}
	return win, nil
}

// at prints the values at a time.
func (w *waveCmd) at(f *read.File, win text.Window) error {
	s, err := text.NewSampler(f, win)
	if err != nil {
		return err
	}
	first, err := s.Begin()
	if err != nil {
		return err
	}
	if first.Time > win.From {
		return fmt.Errorf("--at %s: the file begins at %s", w.At, read.FormatTime(first.Time, f.Exponent))
	}
	if w.JSON {
		return w.values(f, first, win)
	}
	t := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, f.Stamp(first.Time, win.Clock))
	for _, i := range win.Signals {
		v := &f.Vars[i]
		fmt.Fprintf(t, "%s\t%s\n", f.Path(v), v.Long(f.Raw(v.ID)))
	}
	return t.Flush()
}

// draw prints panels as they fill.
func (w *waveCmd) draw(f *read.File, s *text.Sampler, win text.Window) error {
	if len(win.Signals) > maxRows {
		return fmt.Errorf("--signals selects %d signals: at most %d are drawn; --list lists them", len(win.Signals), maxRows)
	}
	style := text.Style{Width: w.Width, ASCII: w.ASCII}
	if style.Width == 0 {
		style.Width = 100
		if n, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil {
			style.Width = max(n, 40)
		}
	}
	limit := w.Limit
	if limit == 0 {
		limit = math.MaxInt
	}
	d := text.NewDrawing(f, win, style)
	x, err := s.Begin()
	for n := 0; x != nil && err == nil; n++ {
		if n == limit {
			fmt.Fprintf(os.Stdout, "%s\nafter %d columns: --from %s goes on, --limit shows more\n", d.End(), limit, read.FormatTime(x.Time, f.Exponent))
			return nil
		}
		d.Add(x)
		if _, err := os.Stdout.WriteString(d.Text()); err != nil {
			return err
		}
		x, err = s.Next()
	}
	if _, e := os.Stdout.WriteString(d.End()); e != nil {
		return e
	}
	return errors.Join(err, notes(f))
}

// notes tells oddities of the file, where they do not get into what is printed.
func notes(f *read.File) error {
	for _, n := range f.Notes() {
		if _, err := fmt.Fprintln(os.Stderr, n); err != nil {
			return err
		}
	}
	return nil
}

// list prints the signals.
func (w *waveCmd) list(f *read.File, signals []int) error {
	if w.JSON {
		return w.head(f, nil, signals, true)
	}
	return text.List(os.Stdout, f, signals)
}
