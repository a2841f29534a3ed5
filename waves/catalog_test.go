package waves

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
)

// A catalog finds what a look at each variable finds.
func TestCatalog(t *testing.T) {
	root := &node{names: unique{}}
	for i, host := range []string{"a", "b"} {
		top := root.child(host, false)
		top.add("clk", &Var{Width: 1, Kernel: i})
		for _, scope := range []string{"x", "x.y", "x.yy", "x.y.z", "b"} {
			n := top
			for _, name := range strings.Split(scope, ".") {
				n = n.child(name, false)
			}
			for _, name := range []string{"s", "t", "st"} {
				n.add(name, &Var{Width: 1, Kernel: i, Signal: hdl.Signal{Path: "p"}})
				n.add(name+"_name", &Var{Width: 1, Kernel: i, Text: true, Signal: hdl.Signal{Path: "p"}})
			}
			n.add("row", &Var{Width: 1, Kernel: i, Row: true, quiet: scope == "x.y"})
		}
	}
	c := newCatalog(root.number(nil))
	require.Equal(t, []string{"a", "b"}, c.roots)
	rapid.Check(t, func(t *rapid.T) {
		var patterns []string
		for range rapid.IntRange(1, 4).Draw(t, "patterns") {
			p := rapid.SampledFrom(c.vars).Draw(t, "of").Path
			names := strings.Split(p, ".")
			patterns = append(patterns, strings.Join(names[rapid.IntRange(0, 1).Draw(t, "kernel"):rapid.IntRange(2, len(names)).Draw(t, "depth")], "."))
		}
		sel, err := newSelection(patterns)
		require.NoError(t, err)
		for _, name := range []func(*Var) string{(*Var).path, (*Var).alias} {
			var want []place
			for i, v := range c.vars {
				if p := sel.find(name(v)); p >= 0 {
					want = append(want, place{i, p})
				}
			}
			require.Equal(t, want, c.places(sel, name), patterns)
		}
	})
}
