package waves

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// Capture is a pcapng file of the frames of one port, as a capture at that port would
// have them: whole Ethernet frames without FCS. Times are simulated, since 1970, in
// nanoseconds. Close it on every path.
type Capture struct {
	w    io.Writer
	ng   *pcapgo.NgWriter
	dir  pcapgo.NgEpbFlags // of the present frame
	err  error
	done bool
}

// CreateCapture makes the file. The port is the name of the interface in it.
func CreateCapture(path, port string) (*Capture, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, fmt.Errorf("waves: %w", err)
	}
	c, err := NewCapture(f, port)
	if err != nil {
		f.Close()
		return nil, err
	}
	return c, nil
}

// NewCapture is CreateCapture for any writer, which Close closes if it can.
func NewCapture(w io.Writer, port string) (*Capture, error) {
	ng, err := pcapgo.NewNgWriterInterface(w,
		pcapgo.NgInterface{Name: label(port), LinkType: layers.LinkTypeEthernet},
		pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "rnic"}})
	if err != nil {
		return nil, fmt.Errorf("waves: %w", err)
	}
	return &Capture{w: w, ng: ng}, nil
}

// Frame adds a frame that left the port, or came in, at a time in ps. After the first
// error, which Close repeats, it does nothing.
func (c *Capture) Frame(ps int64, out bool, data []byte) error {
	return c.Commented(ps, out, data, "")
}

// Commented is Frame, with a comment (opt_comment) for who reads the capture, at most 64
// KiB; empty: none.
func (c *Capture) Commented(ps int64, out bool, data []byte, comment string) error {
	if c.err != nil || c.done {
		return c.err
	}
	c.dir = pcapgo.NgEpbFlags{Direction: pcapgo.NgEpbFlagDirectionInbound}
	if out {
		c.dir.Direction = pcapgo.NgEpbFlagDirectionOutbound
	}
	opt := pcapgo.NgPacketOptions{Flags: &c.dir}
	if comment != "" {
		opt.Comments = []string{comment[:min(len(comment), 65535)]}
	}
	info := gopacket.CaptureInfo{Timestamp: time.Unix(0, ps/1000), CaptureLength: len(data), Length: len(data)}
	c.fail(c.ng.WritePacketWithOptions(info, data, opt))
	return c.err
}

// Close writes what is left. Closing twice is harmless.
func (c *Capture) Close() error {
	if c.done {
		return c.err
	}
	c.done = true
	c.fail(c.ng.Flush())
	if f, ok := c.w.(io.Closer); ok {
		c.fail(f.Close())
	}
	return c.err
}

func (c *Capture) fail(err error) {
	if err != nil && c.err == nil {
		c.err = fmt.Errorf("waves: %w", err)
	}
}
