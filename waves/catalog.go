package waves

import (
	"reflect"
	"slices"
	"strings"
)

// catalog is what views choose from, made once for all views of a file: the variables
// that are shown, and where each scope is among them. Variables are in the order of the
// hierarchy, so that those of a scope stand together.
type catalog struct {
	vars   []*Var
	at     map[string]run // of scopes and variables, by path
	roots  []string       // the kernels' scopes
	clocks []int          // places of clocks and resets
	listed map[reflect.Type]bool
}

// run is a stretch of a catalog.
type run struct{ first, end int }

// catalog makes the catalog when it is asked for first, and once more when the file is
// closed: by then it is known which rows show nothing.
func (v *File) catalog() *catalog {
	v.lock.Lock()
	defer v.lock.Unlock()
	if v.cat == nil || v.closed && !v.whole {
		v.cat, v.whole = newCatalog(v.Vars), v.closed
	}
	return v.cat
}

func newCatalog(all []*Var) *catalog {
	c := &catalog{at: make(map[string]run, len(all)*5/4), listed: map[reflect.Type]bool{}}
	scope := ""
	for _, v := range all {
		if v.Silent() {
			continue
		}
		i := len(c.vars)
		c.vars = append(c.vars, v)
		c.at[v.Path] = run{i, i + 1}
		if v.Clock() {
			c.clocks = append(c.clocks, i)
		}
		if p := parent(v.Path); p != scope {
			c.leave(scope, p, i)
			for s := p; s != "" && !under(scope, s); s = parent(s) {
				c.at[s] = run{first: i}
				if parent(s) == "" {
					c.roots = append(c.roots, s)
				}
			}
			scope = p
		}
	}
	c.leave(scope, "", len(c.vars))
	return c
}

// leave ends the scopes that the next variable's scope is not in.
func (c *catalog) leave(scope, next string, end int) {
	for ; scope != "" && !under(next, scope); scope = parent(scope) {
		r := c.at[scope]
		r.end = end
		c.at[scope] = r
	}
}

// places lists what patterns select, each place with the first pattern that does,
// in the order of places. Names are paths, or those that an enum's text goes by.
func (c *catalog) places(sel *selection, name func(*Var) string) (l []place) {
	if sel.wild {
		for i, v := range c.vars {
			if p := sel.find(name(v)); p >= 0 {
				l = append(l, place{i, p})
			}
		}
		return l
	}
	for p, text := range sel.plain {
		l = c.add(l, text, p, name)
		for _, root := range c.roots {
			l = c.add(l, root+"."+text, p, name)
		}
	}
	slices.SortStableFunc(l, func(a, b place) int { return a.i - b.i })
	return slices.CompactFunc(l, func(a, b place) bool { return a.i == b.i })
}

// place is one of a catalog that a pattern selects.
type place struct{ i, pattern int }

// add appends what lies at or below a path.
func (c *catalog) add(l []place, path string, pattern int, name func(*Var) string) []place {
	r, ok := c.at[path]
	if !ok {
		return l
	}
	for ; r.first < len(c.vars) && (r.first < r.end || name(c.vars[r.first]) == path); r.first++ {
		if under(name(c.vars[r.first]), path) {
			l = append(l, place{r.first, pattern})
		}
	}
	return l
}

// names tells whether a file has the names of an enum's values.
func (c *catalog) names(v *Var) bool {
	t := v.Signal.Enum
	if have, ok := c.listed[t]; ok && t != nil {
		return have
	}
	have := slices.ContainsFunc(enumNames(&v.Signal), func(s string) bool { return s != "" })
	c.listed[t] = have
	return have
}

// paths of variables, as patterns of blocks select them.
func (v *Var) path() string { return v.Path }

// alias is the variable's path with an enum's text under the enum's name.
func (v *Var) alias() string {
	if v.Text {
		return strings.TrimSuffix(v.Path, "_name")
	}
	return v.Path
}
