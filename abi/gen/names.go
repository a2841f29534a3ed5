package main

import "strings"

// compounds are the words of Go field names that are not one capital and lower
// case letters, the longest first where one begins another.
var compounds = []string{
	"SPort", "PKeys", "PKey", "QKey", "RKey", "LKey", "GIDs", "SGEs", "WQEs", "QPNs",
	"SGID", "DGID", "DMAC", "VLAN", "SRQN", "MSIX", "GUID", "SQD", "SRQ", "QPN", "CQN", "EQN", "PSN", "MSN", "RNR",
	"MTU", "UAR", "SGE", "UDP", "WQE", "CQE", "MAC", "GID", "SQ", "RQ", "QP", "WC", "CQ", "EQ", "MR", "PD", "AV", "ID",
}

// snake turns a Go field name into lower case words: SQLogUnits, sq_log_units.
func snake(name string) string {
	var words []string
	for name != "" {
		w := word(name)
		words = append(words, strings.ToLower(w))
		name = name[len(w):]
	}
	return strings.Join(words, "_")
}

// word returns the first word of a Go name that is not empty.
func word(name string) string {
	for _, c := range compounds {
		if rest, ok := strings.CutPrefix(name, c); ok && (rest == "" || !lower(rest[0])) {
			return c
		}
	}
	n := 1
	for n < len(name) && (lower(name[n]) || name[n] >= '0' && name[n] <= '9') {
		n++
	}
	return name[:n]
}

func lower(c byte) bool { return c >= 'a' && c <= 'z' }
