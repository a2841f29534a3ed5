// Package views writes what waves are to be opened with in GTKWave and in Surfer into the
// folder of the waves. Each file is there as a whole or not at all.
package views

import (
	"io"
	"os"
	"path/filepath"

	"rnic/tb/whole"
	"rnic/waves"
)

// Wires are the wires of both hosts of a bench: the group at the top of each view.
var Wires = waves.Group{Name: "wire", Signals: []string{
	"host_a.wire.tx", "host_b.wire.rx", "host_b.wire.fault", "host_b.wire.tx", "host_a.wire.rx", "host_a.wire.fault",
}}

// Endings are those of the files of a view: for GTKWave, for Surfer.
var Endings = [...]string{".gtkw", ".sucl"}

// Write writes a view of waves that are called name, without ending, in a folder: base with
// each of Endings, base relative to the folder, with slashes.
func Write(folder, base, name string, f *waves.File, v waves.View) error {
	v.File = base + Endings[0]
	path := filepath.Join(folder, filepath.FromSlash(base))
	if err := whole.Write(path+Endings[0], func(w io.Writer) error { return f.Save(w, name, v) }); err != nil {
		return err
	}
	return whole.Write(path+Endings[1], func(w io.Writer) error { return f.SaveSurfer(w, v) })
}

// Mappings writes the names of enums for Surfer started in the folder: .surfer/mappings.
func Mappings(folder string, f *waves.File) error {
	dir := filepath.Join(folder, ".surfer", "mappings")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return f.Mappings(func(name string) (io.WriteCloser, error) { return whole.Create(filepath.Join(dir, name)) })
}
