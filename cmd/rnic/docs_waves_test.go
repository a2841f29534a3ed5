package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What docs/waves-tools.md shows is what the commands print.
func TestWavesToolsDoc(t *testing.T) {
	path := filepath.Join(docs, "waves-tools.md")
	dir := t.TempDir()
	parts := strings.Split(string(read(t, path)), "```\n")
	runs := 0
	for i := 1; i < len(parts); i += 2 {
		commands, want, shows := strings.Cut(parts[i], "\n\n")
		require.True(t, strings.HasPrefix(commands, "rnic "), commands)
		c := exec.Command("sh", "-c", commands)
		c.Dir = dir
		c.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err != nil { // a difference
			require.Equal(t, 1, c.ProcessState.ExitCode(), string(out))
		}
		runs++
		switch {
		case !shows:
		case *update:
			parts[i] = commands + "\n\n" + string(out)
		default:
			require.Equal(t, want, string(out), "%s: go test ./cmd/rnic -run WavesToolsDoc -update", commands)
		}
	}
	require.Greater(t, runs, 4)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(parts, "```\n")), 0o666))
	}
}
