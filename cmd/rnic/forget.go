package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// forget removes from the folder of a run the files that an older run has left there:
// those that a run can make, by their exact names, and no others. What is no regular
// file, as a FIFO that somebody reads, stays, and so do the names of enums, which are the
// same for all runs. The file that is to be sent is none of them.
func forget(dir, sent string) error {
	for _, n := range []string{storyFile, logFile, reportFile, traceFile, "host_a.pcapng", "host_b.pcapng", "rnic.vcd"} {
		if err := forgetFile(filepath.Join(dir, n), sent); err != nil {
			return err
		}
	}
	return cmp.Or(forgetWaves(dir, "rnic", sent), forgetWindows(dir, sent), forgetViews(dir, sent))
}

// forgetWindows removes the waves around a moment, of which a run writes some or none.
func forgetWindows(dir, sent string) error {
	return cmp.Or(forgetWaves(dir, "hang", sent), forgetWaves(dir, "around", sent))
}

func forgetWaves(dir, name, sent string) error {
	path := filepath.Join(dir, name)
	return cmp.Or(forgetFile(path+".fst", sent), forgetFile(path+".gtkw", sent), forgetFile(path+".sucl", sent))
}

// forgetViews removes the views of blocks and QPs, and their folder if nothing else is in
// it.
func forgetViews(dir, sent string) error {
	dir = filepath.Join(dir, "views")
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	left := len(files)
	for _, f := range files {
		name := f.Name()
		ending := filepath.Ext(name)
		if !strings.HasPrefix(name, "host_a.") && !strings.HasPrefix(name, "host_b.") || ending != ".gtkw" && ending != ".sucl" {
			continue
		}
		if err := forgetFile(filepath.Join(dir, name), sent); err != nil {
			return err
		}
		left--
	}
	if left == 0 {
		return os.Remove(dir)
	}
	return nil
}

func forgetFile(path, sent string) error {
	keep, _ := os.Stat(sent)
	switch st, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !st.Mode().IsRegular():
		return nil
	case keep != nil && os.SameFile(st, keep):
		return fmt.Errorf("%s is to be sent, and files of that name in --out are removed", path)
	}
	return os.Remove(path)
}
