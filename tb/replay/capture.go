package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"

	"rnic/roce"
)

// Capture is what a file held: the packets of RC, UC and UD in order, and what else
// there was.
type Capture struct {
	Frames  int // of the file
	Packets []Captured
	Notes   []string // what was left out or changed, and why

	skipped [skips]int
}

// Captured is a packet of a capture.
type Captured struct {
	Frame int // number in the file, from 1
	roce.Packet
}

// ErrCapture is the error of a file that is no capture.
var ErrCapture = errors.New("neither pcap nor pcapng")

// frameReader is what both formats give.
type frameReader interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// maxFile is the longest file that is read, bytes.
const maxFile = 1 << 28

const ngMagic = "\x0a\x0d\x0d\x0a"

// Read reads a pcap or pcapng file of any byte order and resolution, gzipped or not.
// Of a file that is damaged somewhere it takes what is before that. The error wraps
// ErrCapture, or says what about the packets makes a replay impossible.
func Read(r io.Reader) (*Capture, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1)) // a device has no end
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxFile:
		return nil, fmt.Errorf("longer than %d bytes", maxFile)
	}
	var from frameReader
	var link func(gopacket.CaptureInfo) layers.LinkType
	ng, err := pcapgo.NewNgReader(bytes.NewReader(data), pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
	switch {
	case err == nil:
		from = ng
		link = func(ci gopacket.CaptureInfo) layers.LinkType {
			t, _ := ci.AncillaryData[0].(layers.LinkType)
			return t
		}
	case bytes.HasPrefix(data, []byte(ngMagic)):
		return nil, fmt.Errorf("pcapng, but damaged at its beginning: %w", err)
	default:
		pcap, err := pcapgo.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("%w (%w)", ErrCapture, err)
		}
		from = pcap
		link = func(gopacket.CaptureInfo) layers.LinkType { return pcap.LinkType() }
	}
	c := &Capture{}
	for {
		b, ci, err := from.ReadPacketData()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			c.note("damaged behind frame %d (%v): the rest is not read", c.Frames, err)
			break
		}
		c.Frames++
		p, why := packet(link(ci), b, ci.Length > len(b))
		if c.skipped[why]++; why == taken || why == untagged {
			c.Packets = append(c.Packets, Captured{c.Frames, p})
		}
	}
	c.tell()
	return c, c.usable()
}

func (c *Capture) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// tell notes what was left out, by reason.
func (c *Capture) tell() {
	for why, n := range c.skipped {
		if n > 0 && skipTexts[why] != "" {
			c.note("%d of %d frames %s", n, c.Frames, skipTexts[why])
		}
	}
}

// Transports tells of which transports how many packets are, as "9 of RC".
func (c *Capture) Transports() string {
	count := map[roce.Transport]int{}
	for i := range c.Packets {
		count[c.Packets[i].BTH.Opcode.Transport()]++
	}
	var list []string
	for _, t := range []roce.Transport{roce.RC, roce.UC, roce.UD} {
		if n := count[t]; n > 0 {
			list = append(list, fmt.Sprintf("%d of %v", n, t))
		}
	}
	return strings.Join(list, ", ")
}

// usable is why there is nothing to replay.
func (c *Capture) usable() error {
	switch {
	case c.Frames == 0:
		return errors.New(strings.Join(append([]string{"no frame in it"}, c.Notes...), "; "))
	case c.skipped[truncated] > 0:
		return fmt.Errorf("%d RoCE frames are cut short: record them whole (tcpdump -s 0)", c.skipped[truncated])
	case len(c.Packets) > 0:
		return nil
	case c.skipped[badICRC] > 0:
		return fmt.Errorf("all %d RoCE frames have a wrong ICRC: recorded before the NIC put it in?", c.skipped[badICRC])
	case c.skipped[otherLink] == c.Frames:
		return errors.New("recorded on another link than Ethernet or Linux cooked")
	}
	return fmt.Errorf("%d frames, none of them RoCEv2 (UDP to port %d)", c.Frames, roce.Port)
}
