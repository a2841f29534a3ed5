package image

import (
	"fmt"
	"io"
)

// cpio writes an archive in the form that Linux unpacks at its start ("newc").
type cpio struct {
	w   io.Writer
	ino int
	err error
}

// Types of files, as in a mode.
const (
	typeDir  = 0o040000
	typeFile = 0o100000
	typeLink = 0o120000
)

// add appends a file, a folder or a link, whose data is its target. Names have no
// slash in front.
func (c *cpio) add(name string, mode int, data []byte) {
	c.ino++
	c.put(fmt.Appendf(nil, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\x00",
		c.ino, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name)+1, 0, name))
	c.put(data)
}

// put writes b and fills up to a multiple of 4 bytes.
func (c *cpio) put(b []byte) {
	for _, part := range [][]byte{b, make([]byte, -len(b)&3)} {
		if c.err == nil {
			_, c.err = c.w.Write(part)
		}
	}
}

// close ends the archive.
func (c *cpio) close() error {
	c.add("TRAILER!!!", 0, nil)
	return c.err
}
