package read

import (
	"fmt"
	"strings"
)

// Glob are the variables that patterns select, as indices of Vars: in the order of the
// patterns, and for each in that of the file; none twice. A pattern is names joined by
// dots, in which * stands for any letters, ? for one and ** for any number of names. It
// may begin at any level, and selects all that lies at or below what it names. A pattern
// that selects nothing is an error.
func (h *Header) Glob(patterns ...string) ([]int, error) {
	var list []int
	chosen := make([]bool, len(h.Vars))
	paths := make([][]string, len(h.Vars))
	for i := range h.Vars {
		paths[i] = strings.Split(h.Path(&h.Vars[i]), ".")
	}
	for _, p := range patterns {
		pattern := strings.Split(p, ".")
		hit := false
		for i, names := range paths {
			if !anywhere(pattern, names) {
				continue
			}
			hit = true
			if !chosen[i] {
				chosen[i] = true
				list = append(list, i)
			}
		}
		switch {
		case hit:
		case strings.ContainsAny(p, "[]"):
			return nil, fmt.Errorf("%q is a bad pattern: wildcards are *, ? and **, and it selects none of %d signals as it is", p, len(h.Vars))
		default:
			return nil, fmt.Errorf("%q selects none of %d signals", p, len(h.Vars))
		}
	}
	return list, nil
}

// Match tells whether a pattern selects a path, as Glob does.
func Match(pattern, path string) bool {
	return anywhere(strings.Split(pattern, "."), strings.Split(path, "."))
}

func anywhere(pattern, names []string) bool {
	for i := range names {
		if below(pattern, names[i:]) {
			return true
		}
	}
	return false
}

// below tells whether names begin with a pattern.
func below(pattern, names []string) bool {
	for i, p := range pattern {
		if p == "**" {
			rest := pattern[i+1:]
			for j := i; j <= len(names); j++ {
				if below(rest, names[j:]) {
					return true
				}
			}
			return false
		}
		if i >= len(names) || !wild(p, names[i]) {
			return false
		}
	}
	return true
}

// wild matches a name: a star takes as little as it can and, when that does not lead to
// the end, one more.
func wild(p, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == s[j]):
			i, j = i+1, j+1
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(p[i:], "*") == ""
}
