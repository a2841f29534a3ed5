package diff

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Most lines of a list that is not the point.
const listed = 10

// Stamp is the time in words: "78.124us, cycle 19531".
func (f *First) Stamp() string {
	if f.Cycle != nil {
		return fmt.Sprintf("%s, cycle %d", f.Time, *f.Cycle)
	}
	return f.Time
}

// String is the result as a person reads it.
func (r *Result) String() string {
	var b strings.Builder
	for _, f := range []struct {
		file *File
		only []string
	}{{&r.A, r.OnlyA}, {&r.B, r.OnlyB}} {
		fmt.Fprintf(&b, "%s: %s of %s, %s", f.file.Name, f.file.Format, signals(f.file.Signals), f.file.Timescale)
		if n := len(f.only); n > 0 {
			fmt.Fprintf(&b, "; %d only here: %s", n, strings.Join(f.only[:min(n, 3)], ", "))
			if n > 3 {
				b.WriteString(", …")
			}
		}
		b.WriteByte('\n')
	}
	for _, n := range r.Notes {
		b.WriteString(n + "\n")
	}
	for i, s := range r.Shapes {
		if i == listed {
			fmt.Fprintf(&b, "and %d others\n", len(r.Shapes)-i)
			break
		}
		fmt.Fprintf(&b, "%s is %s in %s and %s in %s\n", s.Path, s.A, r.A.Name, s.B, r.B.Name)
	}
	if r.First == nil {
		fmt.Fprintf(&b, "%s equal from %s to %s\n", are(r.Compared), r.From, r.To)
		return b.String()
	}
	fmt.Fprintf(&b, "%s equal from %s on, up to\n\n", are(r.Compared), r.From)
	r.first(&b)
	return b.String()
}

// first tells of the difference.
func (r *Result) first(b *strings.Builder) {
	f := r.First
	s := f.Signals[0]
	fmt.Fprintf(b, "%s: %s\n", f.Stamp(), s.Path)
	if s.PathB != "" {
		fmt.Fprintf(b, "  in %s it is %s\n", r.B.Name, s.PathB)
	}
	if f.Ended != "" {
		fmt.Fprintf(b, "  %s had ended before\n", f.Ended)
	}
	table(b, func(row func(...string)) {
		row(r.A.Name, s.A)
		row(r.B.Name, s.B)
		if m := marks(s.A, s.B); m != "" {
			row("", m)
		}
	})
	if len(f.History) > 0 {
		fmt.Fprintf(b, "\nits last changes\n")
		table(b, func(row func(...string)) {
			row("time", r.A.Name, r.B.Name)
			for _, m := range f.History {
				row(m.Time, short(m.A), short(m.B))
			}
		})
	}
	if n := len(f.Signals) - 1; n > 0 {
		fmt.Fprintf(b, "\nwhat else differs then: %s\n", signals(n))
		table(b, func(row func(...string)) {
			row("", r.A.Name, r.B.Name)
			for i, s := range f.Signals[1:] {
				if i == listed {
					row(fmt.Sprintf("and %d others", n-i))
					break
				}
				row(s.Path, short(s.A), short(s.B))
			}
		})
	}
	if n := len(f.Around); n > 0 {
		where := f.Module
		if where == "" {
			where = "the same scope"
		}
		fmt.Fprintf(b, "\nwhat else changes then in %s: %s\n", where, signals(n))
		table(b, func(row func(...string)) {
			row("", r.A.Name, r.B.Name)
			for i, a := range f.Around {
				if i == 2*listed {
					row(fmt.Sprintf("and %d others", n-i))
					break
				}
				differs := ""
				if a.Differs {
					differs = "differs"
				}
				row(a.Name, change(a.BeforeA, a.A), change(a.BeforeB, a.B), differs)
			}
		})
	}
}

func signals(n int) string {
	if n == 1 {
		return "1 signal"
	}
	return fmt.Sprintf("%d signals", n)
}

func change(before, after string) string {
	if before == "" {
		return short(after)
	}
	return short(before) + " to " + short(after)
}

// long is how much of a value there is room for in a table.
const long = 40

// short leaves out the middle of a long value.
func short(s string) string {
	if r := []rune(s); len(r) > long {
		return string(r[:long/2]) + "…" + string(r[len(r)-long/2+1:])
	}
	return s
}

// marks point at the digits that differ, where there are many.
func marks(a, b string) string {
	if len(a) != len(b) || len(a) <= 8 {
		return ""
	}
	m := []byte(strings.Repeat(" ", len(a)))
	for i := range m {
		if a[i] != b[i] {
			m[i] = '^'
		}
	}
	return string(m)
}

// table aligns rows of cells.
func table(b *strings.Builder, rows func(row func(...string))) {
	var t strings.Builder
	w := tabwriter.NewWriter(&t, 0, 0, 2, ' ', 0)
	rows(func(cells ...string) { fmt.Fprintln(w, "  "+strings.Join(cells, "\t")) })
	w.Flush()
	for l := range strings.Lines(t.String()) {
		b.WriteString(strings.TrimRight(l, " \n") + "\n")
	}
}

// are is signals with their verb.
func are(n int) string {
	if n == 1 {
		return "1 signal is"
	}
	return signals(n) + " are"
}
