package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"rnic/tb/whole"
)

// forget removes from the folder of a run the files that an older run has left there:
// those that a run can make, by their exact names, and no others. What is no regular
// file, as a FIFO that somebody reads, stays, and so do the names of enums, which are the
// same for all runs. What a killed run has left of a file goes with the file. If the file
// that is to be sent is one of them, nothing is removed.
func forget(dir, sent string) error {
	views, err := oldViews(dir)
	if err != nil {
		return err
	}
	files := append([]string{storyFile, logFile, reportFile, traceFile, "host_a.pcapng", "host_b.pcapng", "rnic.vcd"}, wavesOf("rnic")...)
	if err := remove(dir, sent, append(append(files, windows...), views...)); err != nil {
		return err
	}
	return emptied(dir)
}

// windows are the waves around a moment, of which a run writes some or none.
var windows = append(wavesOf("hang"), wavesOf("around")...)

// forgetWindows removes those alone.
func forgetWindows(dir, sent string) error { return remove(dir, sent, windows) }

// forgetViews removes the views of blocks and QPs but for some, and their folder if nothing
// else is in it.
func forgetViews(dir string, but map[string]bool) error {
	views, err := oldViews(dir)
	if err == nil {
		err = remove(dir, "", slices.DeleteFunc(views, func(v string) bool { return but[v] }))
	}
	return cmp.Or(err, emptied(dir))
}

// wavesOf are the files of waves of a name.
func wavesOf(name string) []string { return []string{name + ".fst", name + ".gtkw", name + ".sucl"} }

// oldViews are the views of blocks and QPs in a folder.
func oldViews(dir string) (l []string, err error) {
	files, err := os.ReadDir(filepath.Join(dir, "views"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, f := range files {
		name := strings.TrimSuffix(f.Name(), whole.Part)
		host := strings.HasPrefix(name, "host_a.") || strings.HasPrefix(name, "host_b.")
		if e := filepath.Ext(name); host && (e == ".gtkw" || e == ".sucl") {
			l = append(l, filepath.Join("views", name))
		}
	}
	return slices.Compact(l), err
}

// emptied removes the folder of views if nothing is in it.
func emptied(dir string) error {
	dir = filepath.Join(dir, "views")
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		return nil
	}
	return os.Remove(dir)
}

// withParts adds what those files are called while they are written.
func withParts(names []string) (l []string) {
	for _, n := range names {
		l = append(l, n, n+whole.Part)
	}
	return l
}

// remove removes regular files of a folder, unless one is that to be sent.
func remove(dir, sent string, names []string) error {
	var old []string
	keep, _ := os.Stat(sent)
	for _, n := range withParts(names) {
		path := filepath.Join(dir, n)
		switch st, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case keep != nil && os.SameFile(st, keep):
			return fmt.Errorf("%s is to be sent, and files of that name in --out are removed", path)
		case st.Mode().IsRegular():
			old = append(old, path)
		}
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}
