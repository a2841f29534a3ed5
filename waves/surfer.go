package waves

import (
	"fmt"
	"io"
	"strings"

	"rnic/hdl"
)

// SaveSurfer writes a command file for Surfer 0.6 and later that shows the view of a
// file, closed or not as Save: `surfer -c name.sucl name.fst`. Groups of the overview are dividers with
// their signals below; the blocks of View.Scopes are folded groups. Surfer knows enums by
// the tables in the file; for files without, and for colours, there are Mappings.
func (v *File) SaveSurfer(w io.Writer, view View) error {
	s := &saver{view: view, format: v.format, cat: v.catalog()}
	for _, g := range view.Overview {
		by, err := s.choose(g)
		if err != nil {
			return err
		}
		for i, x := range by {
			if i == 0 {
				s.put("divider_add ", word(label(g.Name)))
			}
			s.put("variable_add ", x.Path)
		}
	}
	if len(view.Scopes) > 0 {
		kept, err := s.keep()
		if err != nil {
			return err
		}
		for _, scope := range tops(kept, view.Scopes) {
			s.put("scope_add_as_group_recursive ", scope)
		}
		s.put("group_fold_all")
	}
	for _, m := range view.Markers {
		s.line("cursor_set %d", m.Ps)
		s.line("marker_set %s", word(label(m.Name)))
	}
	if len(view.Markers) > 0 {
		s.line("cursor_set %d", view.Markers[0].Ps)
	}
	s.line("zoom_fit")
	_, err := w.Write(s.b)
	return wrap(err)
}

// tops are the scopes that patterns name, one a pattern and kernel, as far as the file
// has variables there.
func tops(vars []*Var, patterns []string) (l []string) {
	seen := map[string]bool{}
	for _, p := range patterns {
		parts := strings.Count(p, ".") + 1
		sel, _ := newSelection([]string{p}) // judged by keep
		for _, v := range vars {
			if v.Clock() || sel.find(v.Path) < 0 {
				continue
			}
			if scope := first(v.Path, parts); scope != "" && !seen[scope] {
				seen[scope] = true
				l = append(l, scope)
			}
		}
	}
	return l
}

// first is the scope of so many names that a path lies in, or "".
func first(path string, names int) string {
	for i := range len(path) {
		if path[i] == '.' {
			if names--; names == 0 {
				return path[:i]
			}
		}
	}
	return ""
}

// Mappings writes the names of enums for Surfer, a file each, which finds those in
// .surfer/mappings of the folder that it is started in. A name that tells of an error
// is shown as such. Files are made by create; the same names are there once.
func (v *File) Mappings(create func(name string) (io.WriteCloser, error)) error {
	done := map[string]bool{}
	for _, x := range v.Vars {
		if x.Signal.Kind != hdl.Enum || x.Text {
			continue
		}
		// Types of different packages may have one name.
		name := ident(x.Signal.Type[strings.LastIndexByte(x.Signal.Type, '.')+1:])
		block := strings.SplitN(x.Signal.Type, ".", 2)[0]
		full := ident(strings.TrimLeft(block, "*") + "_" + name)
		if done[full] {
			continue
		}
		done[full] = true
		var b strings.Builder
		for n, text := range enumNames(&x.Signal) {
			if text == "" {
				continue
			}
			kind := ""
			if hasWord(strings.ToLower(word(text)), errs) {
				kind = "[error]"
			}
			fmt.Fprintf(&b, "%d%s %s\n", n, kind, word(text))
		}
		if b.Len() == 0 {
			continue
		}
		w, err := create(full)
		if err != nil {
			return wrap(err)
		}
		_, err = fmt.Fprintf(w, "Name = %s\nBits = %d\n%s", full, x.Width, b.String())
		if e := w.Close(); err == nil {
			err = e
		}
		if err != nil {
			return wrap(err)
		}
	}
	return nil
}
