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
// and no others; of other folders, by folder and name, tests that there are.
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
		if len(cells) > 1 && id.MatchString(cells[0]) {
			for _, name := range strings.Split(cells[len(cells)-1], ", ") {
				if dir, test, other := strings.Cut(name, " "); other {
					demandTest(t, dir, test)
				} else {
					rows[cells[0]] = append(rows[cells[0]], name)
				}
			}
		}
	}
	for _, tests := range named {
		slices.Sort(tests)
	}
	require.Equal(t, named, rows)
	require.Greater(t, len(rows), 60)
}

// demandTest demands that a folder has a test.
func demandTest(t *testing.T, dir, name string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
	require.NoError(t, err)
	require.True(t, slices.ContainsFunc(files, func(f string) bool {
		text, err := os.ReadFile(f)
		return err == nil && strings.Contains(string(text), "func "+name+"(")
	}), "%s has no %s", dir, name)
}
