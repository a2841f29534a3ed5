package waves

import (
	"strconv"
	"strings"

	"rnic/hdl"
)

// Var is a variable of the file.
type Var struct {
	Path   string // in the file, kernel first, joined by dots
	Name   string // last part of Path
	Width  int    // bits
	Text   bool   // a string: the name of the value of the enum declared before
	Row    bool   // a string: a Row
	Kernel int    // index among the kernels
	Signal hdl.Signal
	n      int // place in the file, from 0
	row    *Row
	told   bool       // of a Row: the file shows something of it
	quiet  bool       // of a Row, once the file is closed: it shows nothing of it
	gates  [2]uintptr // of a RAM address: where its owner has read and write
}

// Clock tells whether the variable is a clk or reset, which are no signal of hdl's.
func (v *Var) Clock() bool { return v.Signal.Path == "" && !v.Row }

// Silent tells, of a closed file, that the variable is a Row which nobody has told
// anything: views leave it out. While the file is open, that is not known of any.
func (v *Var) Silent() bool { return v.quiet }

// text tells whether the variable is a string.
func (v *Var) text() bool { return v.Text || v.Row }

// register tells whether the variable is a register of a module.
func (v *Var) register() bool { return v.Signal.Path != "" && v.Signal.Role == hdl.RoleReg }

// Ref is the variable as GTKWave calls it, with its range.
func (v *Var) Ref() string {
	if v.Width == 1 {
		return v.Path
	}
	return v.Path + "[" + strconv.Itoa(v.Width-1) + ":0]"
}

// node is a scope while the hierarchy is put together.
type node struct {
	name  string // in the design
	ident string // in the file
	path  string // in the file
	flat  bool   // the fields of a payload
	vars  []*Var
	kids  []*node
	names unique
}

func (n *node) child(name string, flat bool) *node {
	for _, k := range n.kids {
		if k.name == name {
			return k
		}
	}
	k := &node{name: name, flat: flat, names: unique{}}
	k.ident = n.names.name(name)
	k.path = n.join(k.ident)
	n.kids = append(n.kids, k)
	return k
}

func (n *node) join(name string) string {
	if n.path == "" {
		return name
	}
	return n.path + "." + name
}

func (n *node) add(name string, v *Var) *Var {
	v.Name = n.names.name(name)
	v.Path = n.join(v.Name)
	n.vars = append(n.vars, v)
	return v
}

// fileName is what a signal is called in the file.
func fileName(s *hdl.Signal) string {
	if s.Role == hdl.RoleTake || s.Role == hdl.RolePut {
		return "fire"
	}
	return s.Name
}

// tree lays out the hierarchy of kernels, all signals of each.
func tree(kernels []*hdl.Kernel, p Profile) *node {
	root := &node{names: unique{}}
	for i, k := range kernels {
		// Not child: kernels of one name are different ones.
		top := &node{name: k.Name(), names: unique{}}
		top.ident = root.names.name(k.Name())
		top.path = top.ident
		root.kids = append(root.kids, top)
		top.add("clk", &Var{Width: 1, Kernel: i})
		top.add("reset", &Var{Width: 1, Kernel: i})
		var addr *Var
		for _, s := range k.Signals() {
			n := top
			if rest, ok := strings.CutPrefix(s.Scope, k.Name()+"."); ok {
				parts := strings.Split(rest, ".")
				for j, name := range parts {
					head := n.flat || s.Role == hdl.RolePayload && j > 0 && name == "head"
					n = n.child(name, head)
				}
			}
			v := n.add(fileName(&s), &Var{Width: s.Width, Kernel: i, Signal: s})
			switch s.Role {
			case hdl.RoleRAMAddr:
				addr = v
			case hdl.RoleRAMRead:
				addr.gates[0] = s.Offset
			case hdl.RoleRAMWrite:
				addr.gates[1] = s.Offset
			}
			if s.Kind == hdl.Enum && p == Rich {
				n.add(s.Name+"_name", &Var{Width: 1, Text: true, Kernel: i, Signal: s})
			}
		}
	}
	return root
}

// prune keeps what is wanted, and the clocks.
func (n *node) prune(wanted func(*Var) bool) {
	vars := n.vars
	n.vars = nil
	for len(vars) > 0 {
		group := vars[:1]
		if len(vars) > 1 && vars[1].Text {
			group = vars[:2] // an enum's text comes with its number
		}
		for _, v := range group {
			if v.Clock() || wanted(v) {
				n.vars = append(n.vars, group...)
				break
			}
		}
		vars = vars[len(group):]
	}
	kids := n.kids[:0]
	for _, k := range n.kids {
		if k.prune(wanted); len(k.vars)+len(k.kids) > 0 {
			kids = append(kids, k)
		}
	}
	n.kids = kids
}

// number gives variables their places, in the order of declaration, and lists them.
func (n *node) number(all []*Var) []*Var {
	for _, v := range n.vars {
		v.n = len(all)
		all = append(all, v)
	}
	for _, k := range n.kids {
		all = k.number(all)
	}
	return all
}
