package waves

import (
	"strings"

	"rnic/hdl"
)

// group is a kernel, a block or a detail of a block, as GTKWave folds them.
type group struct {
	name   string
	folded bool
	items  []item // in the order of declaration
}

// item is a variable or a group.
type item struct {
	v   *Var
	sub *group
}

// modules lists the scopes of modules that have registers: what their registers' paths
// have in common.
func modules(vars []*Var) map[string]bool {
	type key struct{ kernel, owner int }
	common := map[key]string{}
	for _, v := range vars {
		if !v.register() {
			continue
		}
		k := key{v.Kernel, v.Signal.Owner}
		scope := parent(v.Path)
		if have, ok := common[k]; ok {
			scope = shared(have, scope)
		}
		common[k] = scope
	}
	set := map[string]bool{}
	for _, p := range common {
		set[p] = true
	}
	return set
}

func parent(path string) string { return path[:max(0, strings.LastIndexByte(path, '.'))] }

// shared is the scope that two lie in.
func shared(a, b string) string {
	for a != b && a != "" && !strings.HasPrefix(b, a+".") {
		a = parent(a)
	}
	return a
}

// detail is the scope to fold that a variable belongs to, or "": the payload of a
// stream, the ports of a RAM, or a long array.
func (v *Var) detail(block string, arrays map[string]int) string {
	switch {
	case v.Clock() || v.Row:
	case v.Signal.Role == hdl.RolePayload:
		// The port's scope is that of hdl up to head; deeper are the payload's own.
		p := parent(v.Path)
		if i := strings.LastIndex(p, ".head."); i >= 0 {
			p = p[:i+len(".head")]
		}
		if strings.HasSuffix(p, ".head") {
			return p
		}
	case v.Signal.Role >= hdl.RoleRAMAddr:
		return parent(parent(v.Path))
	}
	if arrays[v.array(block)] > shortArray {
		return v.array(block)
	}
	return ""
}

// shortArray is how many variables an array may have and be shown unfolded.
const shortArray = 8

// array is the path without index of the array of a block that a variable is part of,
// or "".
func (v *Var) array(block string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(v.Path, block+"."), ".")
	base := strings.TrimRight(first, "0123456789")
	if base == first || !strings.HasSuffix(base, "_") || !v.register() {
		return ""
	}
	return block + "." + strings.TrimSuffix(base, "_")
}

// manyTraces is from how many on a view starts with its blocks folded.
const manyTraces = 300

// blocks sorts variables into kernels, their blocks, folded or not, and the details of
// those.
func blocks(vars []*Var, fold bool) []*group {
	mods := modules(vars)
	scopes := make([]string, len(vars))
	arrays := map[string]int{}
	for i, v := range vars {
		root, _, _ := strings.Cut(v.Path, ".")
		scope := parent(v.Path)
		for scope != root && !mods[scope] {
			scope = parent(scope)
		}
		if v.Row && scope == root {
			scope = parent(v.Path) // of no module
		}
		scopes[i] = scope
		if a := v.array(scope); a != "" {
			arrays[a]++
		}
	}
	var tops []*group
	block := map[string]*group{}
	details := map[string]*group{}
	for i, v := range vars {
		if named(vars, i) {
			continue
		}
		root, _, _ := strings.Cut(v.Path, ".")
		if block[root] == nil {
			tops = append(tops, &group{name: root})
			block[root] = tops[len(tops)-1]
		}
		top := block[root]
		scope := scopes[i]
		b := block[scope]
		if b == nil {
			b = &group{name: scope, folded: fold}
			block[scope] = b
			top.items = append(top.items, item{sub: b})
		}
		if d := v.detail(scope, arrays); d != "" && len(d) > len(scope) {
			g := details[d]
			if g == nil {
				g = &group{name: d, folded: true}
				details[d] = g
				b.items = append(b.items, item{sub: g})
			}
			b = g
		}
		b.items = append(b.items, item{v: v})
	}
	return tops
}

// kernel writes a kernel's group; names in a group leave out what the group says.
func (s *saver) kernel(top *group) {
	s.line("@200")
	s.line("-")
	s.write(top, "")
}

func (s *saver) write(g *group, outer string) {
	name := strings.TrimPrefix(g.name, outer)
	s.open(name, g.folded)
	for _, it := range g.items {
		if it.sub != nil {
			s.write(it.sub, g.name+".")
		} else {
			name := it.v.alias()
			if !strings.HasPrefix(name, g.name+".") {
				name = strings.TrimPrefix(name, parent(g.name)+".") // an array's
			}
			s.trace(it.v, strings.TrimPrefix(name, g.name+"."))
		}
	}
	s.close(name, g.folded)
}
