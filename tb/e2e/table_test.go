package e2e_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFaultTable: FAULTS.md names for each row the tests whose comments name it,
// and no others.
func TestFaultTable(t *testing.T) {
	comment := regexp.MustCompile(`(?m)((?:^//.*\n)+)func (Test\w+)\(`)
	id := regexp.MustCompile(`\bB\d{3}\b`)
	named := map[string][]string{}
	files, err := filepath.Glob("*_test.go")
	require.NoError(t, err)
	for _, f := range files {
		text, err := os.ReadFile(f)
		require.NoError(t, err)
		for _, m := range comment.FindAllStringSubmatch(string(text), -1) {
			for _, b := range id.FindAllString(m[1], -1) {
				named[b] = append(named[b], m[2])
			}
		}
	}
	table, err := os.ReadFile("FAULTS.md")
	require.NoError(t, err)
	rows := map[string][]string{}
	for _, l := range strings.Split(string(table), "\n") {
		cells := strings.Split(strings.Trim(l, "| "), " | ")
		if id.MatchString(cells[0]) {
			rows[cells[0]] = strings.Split(cells[len(cells)-1], ", ")
		}
	}
	for _, tests := range named {
		slices.Sort(tests)
	}
	require.Equal(t, named, rows)
	require.Greater(t, len(rows), 60)
}
