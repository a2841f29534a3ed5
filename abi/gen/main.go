// Command gen writes what derives from package abi: docs/registers.md for
// readers, include/rnic_abi.h for drivers in C. Run it by go generate ./abi; a
// test fails while either file is stale.
//
// Field widths, offsets, names and values come from the compiled package;
// prose comes from its doc comments, so that nothing is written twice.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	root := flag.String("root", "..", "root of the module")
	flag.Parse()
	if err := generate(*root); err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

// generate writes all derived files below root.
func generate(root string) error {
	files, err := render(root)
	if err != nil {
		return err
	}
	for _, f := range files {
		path := filepath.Join(root, f.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

type file struct {
	path string // below the root, with slashes
	text []byte
}

// render returns the derived files, in a fixed order.
func render(root string) ([]file, error) {
	prose, err := readProse(filepath.Join(root, "abi"))
	if err != nil {
		return nil, err
	}
	header, err := header(prose)
	if err != nil {
		return nil, err
	}
	doc, err := markdown(prose)
	if err != nil {
		return nil, err
	}
	return []file{{"docs/registers.md", doc}, {"include/rnic_abi.h", header}}, nil
}
