package whole_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/whole"
)

// folder has a file of before; is is what is in the folder.
func folder(t *testing.T) (path string, is func(content string)) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "page.html")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
	return path, func(content string) {
		t.Helper()
		b, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, content, string(b))
		l, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, l, 1, "nothing else is left")
	}
}

func put(text string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, text); return err }
}

func TestWrite(t *testing.T) {
	path, is := folder(t)
	require.NoError(t, whole.Write(path, put("new")))
	is("new")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.WriteFile(path+whole.Part, []byte("of a process that was killed"), 0o666))
	require.NoError(t, whole.Write(path, put("newer")))
	is("newer")
	st, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path+"2", nil, 0o666))
	usual, err := os.Stat(path + "2")
	require.NoError(t, err)
	require.Equal(t, usual.Mode(), st.Mode())
}

// Until it is closed, and after an error, what was there is there.
func TestHalf(t *testing.T) {
	path, is := folder(t)
	f, err := whole.Create(path)
	require.NoError(t, err)
	require.NoError(t, put("half")(f))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "old", string(b))
	require.NoError(t, f.Close())
	is("half")

	broken := errors.New("broken")
	require.Equal(t, broken, whole.Write(path, func(w io.Writer) error {
		require.NoError(t, put("some")(w))
		return broken
	}))
	is("half")
}

// What cannot be put in its place is told.
func TestRename(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	f, err := whole.Create(path)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(path, "sub"), 0o777))
	require.EqualError(t, f.Close(), "write "+path+": file exists")
	require.NoFileExists(t, path+whole.Part)
}

// What is no regular file is written to, and a link stays one.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, syscall.Mkfifo(path("fifo"), 0o666))
	got := make(chan string)
	go func() {
		b, _ := os.ReadFile(path("fifo"))
		got <- string(b)
	}()
	require.NoError(t, whole.Write(path("fifo"), put("x")))
	require.Equal(t, "x", <-got)

	require.NoError(t, os.WriteFile(path("file"), nil, 0o666))
	require.NoError(t, os.Symlink("file", path("link")))
	require.NoError(t, whole.Write(path("link"), put("x")))
	to, err := os.Readlink(path("link"))
	require.NoError(t, err)
	require.Equal(t, "file", to)
	b, err := os.ReadFile(path("file"))
	require.NoError(t, err)
	require.Equal(t, "x", string(b))

	require.EqualError(t, whole.Write(dir, put("x")), "open "+dir+": is a directory")
	require.EqualError(t, whole.Write(path("no/x"), put("x")), "open "+path("no/x")+": no such file or directory")
	require.NoError(t, os.Symlink("/dev/full", path("full")))
	require.EqualError(t, whole.Write(path("full"), put("x")), "write "+path("full")+": no space left on device")
}
