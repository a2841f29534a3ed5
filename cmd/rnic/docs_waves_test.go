package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What docs/waves-tools.md and docs/debugging.md show is what the commands print.
func TestWavesToolsDoc(t *testing.T) { shows(t, "waves-tools.md", 4) }

func TestDebuggingDoc(t *testing.T) { shows(t, "debugging.md", 14) }

// shows runs the commands of a document, over so many of them, and compares what they
// print with what is below each.
func shows(t *testing.T, doc string, least int) {
	path := filepath.Join(docs, doc)
	dir := t.TempDir()
	root, err := filepath.Abs(docs)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(root, filepath.Join(dir, "docs")))
	parts := strings.Split(string(read(t, path)), "```\n")
	runs := 0
	for i := 1; i < len(parts); i += 2 {
		commands, want, shown := strings.Cut(parts[i], "\n\n")
		require.True(t, strings.HasPrefix(commands, "rnic "), commands)
		c := exec.Command("sh", "-c", commands)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err != nil { // a difference, a run that fails
			require.Equal(t, 1, c.ProcessState.ExitCode(), string(out))
		}
		runs++
		switch {
		case !shown:
		case *update:
			parts[i] = commands + "\n\n" + string(out)
		default:
			require.Equal(t, want, string(out), "%s: go test ./cmd/rnic -run %s -update", commands, t.Name())
		}
	}
	require.Greater(t, runs, least)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(parts, "```\n")), 0o666))
	}
}
