package interop

import (
	"bytes"
	_ "embed" // of the script
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/gopacket/gopacket/pcapgo"

	"rnic/roce"
)

//go:embed icrc.py
var icrcScript string

// Check has tshark and an ICRC of another's making judge a capture of frames as
// they were sent: none malformed, every ICRC right. It returns how many RoCE packets
// there are, and by what they were judged. A tool that is not there is left out.
func Check(capture string) (packets int, by string, err error) {
	frames, err := roceFrames(capture)
	if err != nil {
		return 0, "", err
	}
	judges := []string{}
	if path, err := exec.LookPath("tshark"); err == nil {
		if err := malformed(path, capture, len(frames)); err != nil {
			return 0, "", err
		}
		judges = append(judges, "tshark")
	}
	name, wrong, err := wrongICRCs(frames)
	if err == nil && wrong != 0 {
		err = fmt.Errorf("%s: %d of %d ICRCs are wrong", name, wrong, len(frames))
	}
	return len(frames), strings.Join(append(judges, name), ", "), err
}

// roceFrames are the frames to UDP port 4791.
func roceFrames(capture string) (list [][]byte, err error) {
	f, err := os.Open(capture)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := pcapgo.NewNgReader(f, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		return nil, err
	}
	for {
		b, _, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return list, nil
		}
		if err != nil {
			return nil, err
		}
		l4 := 0
		switch {
		case len(b) > 42 && b[12] == 8 && b[13] == 0 && b[23] == roce.ProtocolUDP:
			l4 = 34
		case len(b) > 62 && b[12] == 0x86 && b[13] == 0xdd && b[20] == roce.ProtocolUDP:
			l4 = 54
		}
		if l4 != 0 && binary.BigEndian.Uint16(b[l4+2:]) == roce.Port {
			list = append(list, b)
		}
	}
}

// malformed demands that tshark sees so many RoCE packets and finds nothing wrong
// with any packet. Of some payloads tshark guesses a protocol: what it finds wrong
// within is the guess.
func malformed(tshark, capture string, packets int) error {
	out, err := exec.Command("nice", tshark, "-n", "-r", capture, "-Y", "infiniband || _ws.malformed",
		"-T", "fields", "-e", "infiniband.bth.opcode", "-e", "frame.protocols", "-e", "_ws.malformed").Output()
	if err != nil {
		return fmt.Errorf("tshark: %w", err)
	}
	seen := 0
	for _, l := range strings.Split(strings.TrimRight(string(out), "\n"), "\n") {
		f := strings.Split(l, "\t")
		if len(f) != 3 || f[2] != "" && !strings.Contains(f[1], ":infiniband:") {
			return fmt.Errorf("tshark: malformed: %s", l)
		}
		if f[0] != "" {
			seen++
		}
	}
	if seen != packets {
		return fmt.Errorf("tshark sees %d RoCE packets, not %d", seen, packets)
	}
	return nil
}

// wrongICRCs counts them with Python's zlib, or else with hash/crc32, with a
// masking of fields that is written again here and there.
func wrongICRCs(frames [][]byte) (by string, wrong int, err error) {
	python, err := exec.LookPath("python3")
	if err != nil {
		for _, f := range frames {
			if !rightICRC(f) {
				wrong++
			}
		}
		return "hash/crc32", wrong, nil
	}
	var in bytes.Buffer
	for _, f := range frames {
		in.Write(binary.BigEndian.AppendUint32(nil, uint32(len(f))))
		in.Write(f)
	}
	cmd := exec.Command("nice", python, "-c", icrcScript)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		return "", 0, fmt.Errorf("python3: %w", err)
	}
	wrong, err = strconv.Atoi(strings.TrimSpace(string(out)))
	return "python3's zlib", wrong, err
}

// rightICRC judges one frame: all ones for the fields that routers change (annex
// A17, invariant CRC).
func rightICRC(f []byte) bool {
	v6 := f[12] == 0x86
	ip := f[14 : 14+binary.BigEndian.Uint16(f[16:])]
	vary := []int{1, 8, 10, 11, 26, 27, 32}
	if v6 {
		ip = f[14 : 54+binary.BigEndian.Uint16(f[18:])]
		vary = []int{1, 2, 3, 7, 46, 47, 52}
	}
	b := append(bytes.Repeat([]byte{0xff}, 8), ip[:len(ip)-4]...)
	for _, i := range vary {
		b[8+i] = 0xff
	}
	if v6 {
		b[8] |= 0x0f
	}
	return crc32.ChecksumIEEE(b) == binary.LittleEndian.Uint32(ip[len(ip)-4:])
}
