package replay_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb/replay"
)

// file is a pcap file of frames in any byte order, with any link type, magic number
// and snap length.
func file(order binary.AppendByteOrder, magic, link, snap uint32, frames [][]byte) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	b = order.AppendUint32(order.AppendUint32(b, 0), 0)
	b = order.AppendUint32(order.AppendUint32(b, snap), link)
	for i, f := range frames {
		n := min(uint32(len(f)), snap)
		b = order.AppendUint32(order.AppendUint32(b, uint32(i)), 1)
		b = order.AppendUint32(order.AppendUint32(b, n), uint32(len(f)))
		b = append(b, f[:n]...)
	}
	return b
}

const (
	micro, nano      = 0xa1b2c3d4, 0xa1b23c4d
	ethernet, cooked = 1, 113
	cooked2          = 276
	whole            = 1 << 16
)

// raw are the frames of a capture.
func raw(t testing.TB, name string) (list [][]byte) {
	b, err := os.ReadFile(filepath.Join(pcaps, name+".pcap"))
	require.NoError(t, err)
	r, err := pcapgo.NewReader(bytes.NewReader(b))
	require.NoError(t, err)
	for {
		f, _, err := r.ReadPacketData()
		if err != nil {
			return list
		}
		list = append(list, f)
	}
}

func each(frames [][]byte, change func([]byte) []byte) (out [][]byte) {
	for _, f := range frames {
		out = append(out, change(bytes.Clone(f)))
	}
	return out
}

func pcapng(t testing.TB, frames [][]byte) []byte {
	var b bytes.Buffer
	w, err := pcapgo.NewNgWriter(&b, layers.LinkTypeEthernet)
	require.NoError(t, err)
	for i, f := range frames {
		info := gopacket.CaptureInfo{Timestamp: time.Unix(int64(i), 0), CaptureLength: len(f), Length: len(f)}
		require.NoError(t, w.WritePacket(info, f))
	}
	require.NoError(t, w.Flush())
	return b.Bytes()
}

// TestFormats: whoever recorded it, the packets are the same.
func TestFormats(t *testing.T) {
	frames := raw(t, "v_rc_all_ops")
	want := capture(t, "v_rc_all_ops").Packets
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write(file(binary.LittleEndian, nano, ethernet, whole, frames))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	tagged := func(tpid uint16) func([]byte) []byte {
		return func(f []byte) []byte {
			tag := binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, tpid), 0x6005)
			return append(append(f[:12:12], tag...), f[12:]...)
		}
	}
	for name, c := range map[string]struct {
		file  []byte
		notes int
	}{
		"little, us":     {file(binary.LittleEndian, micro, ethernet, whole, frames), 0},
		"little, ns":     {file(binary.LittleEndian, nano, ethernet, whole, frames), 0},
		"big, us":        {file(binary.BigEndian, micro, ethernet, whole, frames), 0},
		"big, ns":        {file(binary.BigEndian, nano, ethernet, whole, frames), 0},
		"gzip":           {zipped.Bytes(), 0},
		"pcapng":         {pcapng(t, frames), 0},
		"FCS":            {file(binary.LittleEndian, micro, ethernet, whole, each(frames, func(f []byte) []byte { return binary.LittleEndian.AppendUint32(f, roce.FCS(f)) })), 0},
		"padding":        {file(binary.LittleEndian, micro, ethernet, whole, each(frames, func(f []byte) []byte { return append(f, make([]byte, 20)...) })), 0},
		"VLAN":           {file(binary.LittleEndian, micro, ethernet, whole, each(frames, tagged(0x8100))), 1},
		"provider VLAN":  {file(binary.LittleEndian, micro, ethernet, whole, each(each(frames, tagged(0x8100)), tagged(0x88a8))), 1},
		"Linux cooked":   {file(binary.LittleEndian, micro, cooked, whole, each(frames, func(f []byte) []byte { return append(make([]byte, 14), f[12:]...) })), 0},
		"Linux cooked 2": {file(binary.LittleEndian, micro, cooked2, whole, each(frames, func(f []byte) []byte { return append(append(bytes.Clone(f[12:14]), make([]byte, 18)...), f[14:]...) })), 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := replay.Read(bytes.NewReader(c.file))
			require.NoError(t, err)
			require.Len(t, got.Notes, c.notes, "%v", got.Notes)
			require.Len(t, got.Packets, len(want))
			for i := range want {
				a, b := got.Packets[i], want[i]
				a.Eth, b.Eth = roce.Ethernet{}, roce.Ethernet{}
				require.Equal(t, b, a)
			}
			require.Equal(t, []string{"1/16/0 20/0/0 15 SUCCESS"}, outcome(t, replay.Conversations(got.Packets, replay.Options{}), replay.Options{Seed: 1}))
		})
	}
}

// TestUnusable: what can't be replayed says why.
func TestUnusable(t *testing.T) {
	frames := raw(t, "v_rc_all_ops")
	arp := append(bytes.Repeat([]byte{0xff}, 12), 0x08, 0x06, 0, 1)
	for text, f := range map[string][]byte{
		"neither pcap nor pcapng":              []byte("no capture at all, but more than 24 bytes"),
		"neither pcap nor pcapng (EOF)":        nil,
		"pcapng, but damaged at its beginning": []byte("\x0a\x0d\x0d\x0a and then nothing"),
		"no frame in it":                       file(binary.LittleEndian, nano, ethernet, whole, nil),
		"RoCE frames are cut short: record":    file(binary.LittleEndian, nano, ethernet, 96, frames),
		"frames are cut short: record them":    file(binary.LittleEndian, nano, ethernet, 40, frames),
		"recorded on another link than":        file(binary.LittleEndian, nano, 101, whole, frames),
		"2 frames, none of them RoCEv2":        file(binary.LittleEndian, nano, ethernet, whole, [][]byte{arp, {1, 2, 3}}),
		"have a wrong ICRC": file(binary.LittleEndian, nano, ethernet, whole, each(frames, func(f []byte) []byte {
			f[len(f)-1] ^= 1
			return f
		})),
	} {
		_, err := replay.Read(bytes.NewReader(f))
		require.ErrorContains(t, err, text)
	}
}

// TestCutFile: a file that ends anywhere gives what is before, or says what it is.
func TestCutFile(t *testing.T) {
	frames := raw(t, "v_rc_nak_remote_access")
	for _, b := range [][]byte{file(binary.LittleEndian, nano, ethernet, whole, frames), pcapng(t, frames)} {
		most := 0
		for n := range b {
			c, err := replay.Read(bytes.NewReader(b[:n]))
			if err == nil {
				require.GreaterOrEqual(t, c.Frames, most)
				most = c.Frames
			}
		}
		require.Equal(t, len(frames)-1, most)
	}
	c, err := replay.Read(bytes.NewReader(file(binary.LittleEndian, nano, ethernet, whole, frames)[:400]))
	require.NoError(t, err)
	require.Contains(t, fmt.Sprint(c.Notes), "damaged behind frame 2")
}

// FuzzRead: no file makes the reader panic, nor what takes it apart.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"v_rc_loss_seq_nak", "v_rc_loss_atomic_ack", "v_rc_rnr_exhausted"} {
		frames := raw(f, name)
		f.Add(file(binary.LittleEndian, nano, ethernet, whole, frames))
		f.Add(file(binary.BigEndian, micro, cooked, whole, frames))
		f.Add(pcapng(f, frames))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := replay.Read(bytes.NewReader(b))
		if err == nil {
			replay.Conversations(c.Packets, replay.Options{})
		}
	})
}
