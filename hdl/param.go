package hdl

import "golang.org/x/exp/constraints"

// Default gives a parameter that was left zero its value: so the zero Params of a
// block stand for its defaults.
func Default[T constraints.Integer](v *T, def T) {
	if *v == 0 {
		*v = def
	}
}
