package waves

import (
	"fmt"
	"path"
	"strings"
)

// selection is a set of patterns over dotted paths. A pattern is names joined by dots,
// each with the wildcards of path.Match; it selects whatever lies at or below what it
// names, and may leave out the name of the kernel.
type selection struct {
	patterns [][]string
	plain    []string // the pattern, if it has no wildcard
	wild     bool     // one has
	hit      []bool
}

func newSelection(patterns []string) (*selection, error) {
	s := &selection{hit: make([]bool, len(patterns))}
	for _, p := range patterns {
		if _, err := path.Match(p, ""); err != nil || p == "" {
			return nil, fmt.Errorf("waves: scope %q is not a pattern", p)
		}
		s.patterns = append(s.patterns, strings.Split(p, "."))
		if strings.ContainsAny(p, `*?[\\`) {
			p, s.wild = "", true
		}
		s.plain = append(s.plain, p)
	}
	return s, nil
}

// find is the index of the first pattern that selects a path, or -1.
func (s *selection) find(p string) int {
	var names []string
	if s.wild {
		names = strings.Split(p, ".")
	}
	_, rest, _ := strings.Cut(p, ".")
	found := -1
	for i, pat := range s.patterns {
		if t := s.plain[i]; t != "" && (under(p, t) || under(rest, t)) || t == "" && (below(pat, names) || below(pat, names[1:])) {
			s.hit[i] = true
			if found < 0 {
				found = i
			}
		}
	}
	return found
}

// under tells whether a path is a scope or lies in it.
func under(p, scope string) bool {
	return strings.HasPrefix(p, scope) && (len(p) == len(scope) || p[len(scope)] == '.')
}

func below(pattern, names []string) bool {
	if len(pattern) > len(names) {
		return false
	}
	for i, p := range pattern {
		if ok, _ := path.Match(p, names[i]); !ok {
			return false
		}
	}
	return true
}

// unused reports patterns that selected nothing.
func (s *selection) unused(roots []string) error {
	for i, hit := range s.hit {
		if !hit {
			return fmt.Errorf("waves: scope %q selects nothing below %s", strings.Join(s.patterns[i], "."), strings.Join(roots, ", "))
		}
	}
	return nil
}
