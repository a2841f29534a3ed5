package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The views of a run are written beside its story, the same each time.
func TestReports(t *testing.T) {
	dir := t.TempDir()
	args := []string{"--fault", "drop b nth=5", "--report", "--trace-events", "--out"}
	r := runJSON(t, dir, append(args, "o")...)
	require.Equal(t, []string{"o/story.json", "o/rnic.log", "o/report.html", "o/trace.json"}, r.Files)
	runJSON(t, dir, append(args, "p")...)
	for _, f := range []string{"report.html", "trace.json"} {
		a, err := os.ReadFile(filepath.Join(dir, "o", f))
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(dir, "p", f))
		require.NoError(t, err)
		require.Equal(t, a, b, f)
		if f == "report.html" {
			require.Contains(t, string(a), "<title>rnic run: built-in payload, send, seed 1, faults: drop b nth=5</title>")
			require.NotContains(t, string(a), dir)
		} else {
			require.True(t, json.Valid(a))
		}
	}
	require.Equal(t, []string{"q/story.json", "q/rnic.log", "q/trace.json"}, runJSON(t, dir, "--trace-events", "--out", "q").Files)
	require.NoFileExists(t, filepath.Join(dir, "q", "report.html"))
}
