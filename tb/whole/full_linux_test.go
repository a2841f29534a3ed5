package whole_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/whole"
)

// small is a file system of 64 KiB.
func small(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("mounts need root: ", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, 0)) })
	return dir
}

// A full disk: the error names the file, whatever save makes of it.
func TestFull(t *testing.T) {
	path := filepath.Join(small(t), "story.json")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
	large := strings.Repeat("x", 100_000)
	for i, save := range []func(io.Writer) error{
		put(large),
		func(w io.Writer) error { _ = put(large)(w); return nil },
		func(w io.Writer) error { _ = put(large)(w); return errors.New("another") },
		func(w io.Writer) error { return fmt.Errorf("said of it: %w", put(large)(w)) },
	} {
		err := whole.Write(path, save)
		require.ErrorIs(t, err, syscall.ENOSPC)
		want := "write " + path + ": no space left on device"
		if i == 3 {
			want = "said of it: " + want
		}
		require.EqualError(t, err, want)
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "old", string(b))
		require.NoFileExists(t, path+whole.Part)
	}
}
