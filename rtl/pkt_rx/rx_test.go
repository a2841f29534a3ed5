package pktrx_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gopacket/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/roce"
	pktrx "rnic/rtl/pkt_rx"
	"rnic/rtl/port"
)

// sample is a frame to this host.
func sample(op roce.Opcode, v6 bool, payload int) *roce.Packet {
	p := &roce.Packet{
		Eth: roce.Ethernet{Dst: own, Src: roce.HostMAC(2)},
		V6:  v6,
		IP4: roce.IPv4{DF: true, TTL: 64, ID: 77, DSCP: 5, ECN: 2, Src: roce.HostIPv4(2), Dst: roce.HostIPv4(1)},
		IP6: roce.IPv6{HopLimit: 64, FlowLabel: 0x12345, Src: roce.HostIPv6(2), Dst: roce.HostIPv6(1)},
		UDP: roce.UDP{SrcPort: 0xC123},
		BTH: roce.BTH{
			Opcode: op, SE: payload&1 != 0, MigReq: true, PKey: 0xFFFF, DestQP: 0x123456, AckReq: payload&2 != 0,
			PSN: roce.PSN(0xFFFF00 + payload).Add(0),
		},
		DETH:         roce.DETH{QKey: 0x11111111, SrcQP: 0x222222},
		RETH:         roce.RETH{VA: 0x1122334455667788, RKey: 0x99AABBCC, Length: 0x7FFFFFFF},
		AtomicETH:    roce.AtomicETH{VA: 0x0102030405060708, RKey: 0x10111213, SwapAdd: 0x2021222324252627, Compare: 0x3031323334353637},
		AETH:         roce.AETH{Syndrome: roce.RNRSyndrome(14), MSN: 0xABCDEF},
		AtomicAckETH: roce.AtomicAckETH{Orig: 0x4041424344454647},
		Imm:          roce.ImmDt{Imm: 0xDEADBEEF},
		IETH:         roce.IETH{RKey: 0xCAFEF00D},
	}
	if !v6 {
		p.IP6 = roce.IPv6{}
	} else {
		p.IP4 = roce.IPv4{}
	}
	b := make([]byte, payload)
	for i := range b {
		b[i] = byte(i*7 + payload)
	}
	p.SetPayload(b)
	return p
}

func frame(op roce.Opcode, v6 bool, payload int) []byte { return sample(op, v6, payload).Append(nil) }

// Every frame that Linux sent, good or a probe, through the MAC.
func TestLinuxFrames(t *testing.T) {
	paths, err := filepath.Glob("../../testdata/pcaps/*.pcap")
	require.NoError(t, err)
	require.Len(t, paths, 44)
	total := 0
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".pcap"), func(t *testing.T) {
			file, err := os.Open(path)
			require.NoError(t, err)
			defer file.Close()
			r, err := pcapgo.NewReader(file)
			require.NoError(t, err)
			var frames [][]byte
			for {
				f, _, err := r.ReadPacketData()
				if err != nil {
					require.EqualError(t, err, "EOF")
					break
				}
				copy(f, own[:])
				frames = append(frames, f)
			}
			got := run(t, setup{mac: true, throttle: uint64(len(frames))}, frames)
			compare(t, got, setup{mac: true}, frames)
			total += len(got.Got)
		})
	}
	require.Equal(t, 868+28, total, "golden frames, and probes and answers to them")
}

func TestOpcodesAndLengths(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		var frames [][]byte
		for op := range 256 {
			for _, n := range []int{0, 1, 3, 16, 37} {
				frames = append(frames, frame(roce.Opcode(op), v6, n))
			}
		}
		for n := range 301 {
			frames = append(frames, frame(roce.RCSendOnly, v6, n))
		}
		for _, mtu := range []int{256, 512, 1024, 2048, 4096} {
			for n := mtu - 4; n <= mtu; n++ {
				frames = append(frames, frame(roce.RCWriteOnlyImm, v6, n))
			}
		}
		for _, s := range []setup{{mac: true}, {}, {throttle: 1, depth: 300}} {
			compare(t, run(t, s, frames), s, frames)
		}
	}
}

// Lengths around every boundary with a right UDP checksum, and a wrong one.
func TestUDPChecksum(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		var frames [][]byte
		for n := range 200 {
			p := sample(roce.RCSendOnly, v6, n)
			p.UDP.Checksum = 1
			p.BTH.PadCnt = uint8(n & 3) // any is legal here, and odd lengths appear
			f := p.Append(nil)
			wrong := append([]byte{}, f...)
			wrong[p.L3()+map[bool]int{false: 26, true: 46}[v6]+n%2]++
			frames = append(frames, f, wrong)
		}
		got := run(t, setup{}, frames)
		compare(t, got, setup{}, frames)
		require.Equal(t, uint64(200), got.Stats.DropMalformed)
	}
}

// seal puts IPv4 checksum and ICRC right again.
func seal(f []byte) []byte {
	if f[12] == 8 {
		binary.BigEndian.PutUint16(f[24:], roce.IPv4Checksum(f[14:34]))
	}
	end := len(f) - 4
	binary.LittleEndian.PutUint32(f[end:], roce.ICRC(f[14:end]))
	return f
}

// Each fault has its counter, and the frame behind it comes through.
func TestFaults(t *testing.T) {
	v4 := func(change func(f []byte)) []byte {
		f := frame(roce.RCSendOnly, false, 100)
		change(f)
		return f
	}
	v6 := func(change func(f []byte)) []byte {
		f := frame(roce.RCSendOnly, true, 100)
		change(f)
		return f
	}
	tagged := sample(roce.RCSendOnly, false, 40)
	tagged.Tagged = true
	for _, c := range []struct {
		name  string
		want  port.RxStats
		frame []byte
	}{
		{"another MAC", port.RxStats{DropNotRoCE: 1}, v4(func(f []byte) { f[5]++ })},
		{"broadcast", port.RxStats{DropNotRoCE: 1}, v4(func(f []byte) { copy(f, "\xff\xff\xff\xff\xff\xff") })},
		{"ARP", port.RxStats{DropNotRoCE: 1}, v4(func(f []byte) { f[13] = 6 })},
		{"two tags", port.RxStats{DropNotRoCE: 1}, withTag(tagged.Append(nil), 9)},
		{"TCP", port.RxStats{DropNotRoCE: 1}, v4(func(f []byte) { f[23] = 6; seal(f) })},
		{"TCP over IPv6", port.RxStats{DropNotRoCE: 1}, v6(func(f []byte) { f[20] = 6; seal(f) })},
		{"another port", port.RxStats{DropNotRoCE: 1}, v4(func(f []byte) { f[37]++; seal(f) })},
		{"another port over IPv6", port.RxStats{DropNotRoCE: 1}, v6(func(f []byte) { f[57]++; seal(f) })},
		{"IPv4 version", port.RxStats{DropMalformed: 1}, v4(func(f []byte) { f[14] = 0x55; seal(f) })},
		{"IPv6 version", port.RxStats{DropMalformed: 1}, v6(func(f []byte) { f[14] = 0x70; seal(f) })},
		{"IPv4 options", port.RxStats{DropMalformed: 1}, v4(func(f []byte) { f[14] = 0x46; seal(f) })},
		{"IPv4 checksum", port.RxStats{DropMalformed: 1}, v4(func(f []byte) { f[24] ^= 4 })},
		{"more fragments", port.RxStats{DropMalformed: 1}, v4(func(f []byte) { f[20] = 0x20; seal(f) })},
		{"fragment offset", port.RxStats{DropMalformed: 1}, v4(func(f []byte) { f[21] = 1; seal(f) })},
		{"IPv4 longer than the frame", port.RxStats{DropMalformed: 1}, v4(func(f []byte) { f[16] = 1; seal(f) })},
		{"IPv4 shorter than its header", port.RxStats{DropMalformed: 1}, v4(func(f []byte) { f[17] = 19; seal(f) })},
		{"no room for UDP", port.RxStats{DropMalformed: 1}, v4(func(f []byte) { f[17] = 27; seal(f) })},
		{"IPv6 longer than the frame", port.RxStats{DropMalformed: 1}, v6(func(f []byte) { f[18] = 1; seal(f) })},
		{"IPv6 longest", port.RxStats{DropMalformed: 1}, v6(func(f []byte) { f[18] = 0xFF; seal(f) })},
		{"IPv6 without payload", port.RxStats{DropMalformed: 1}, v6(func(f []byte) { f[19] = 0; seal(f) })},
		{"UDP length", port.RxStats{DropMalformed: 1, RxPackets: 1}, v4(func(f []byte) { f[39]--; seal(f) })},
		{"UDP length over IPv6", port.RxStats{DropMalformed: 1, RxPackets: 1}, v6(func(f []byte) { f[59]++; seal(f) })},
		{"UDP checksum", port.RxStats{DropMalformed: 1, RxPackets: 1}, v4(func(f []byte) { f[41] = 1 })},
		{"no room for the BTH", port.RxStats{DropMalformed: 1, RxPackets: 1}, short(false, 11)},
		{"no room for the ICRC", port.RxStats{DropMalformed: 1, RxPackets: 1}, short(false, 15)},
		{"no room over IPv6", port.RxStats{DropMalformed: 1, RxPackets: 1}, short(true, 15)},
		{"no room for the RETH", port.RxStats{DropMalformed: 1, RxPackets: 1}, v4(func(f []byte) { f[42] = 0x0A; cut(f, 30); seal(f) })},
		{"no room for the pad", port.RxStats{DropMalformed: 1, RxPackets: 1}, padOnly()},
		{"ICRC", port.RxStats{DropICRC: 1, RxPackets: 1}, v4(func(f []byte) { f[len(f)-1] ^= 0x80 })},
		{"ICRC over IPv6", port.RxStats{DropICRC: 1, RxPackets: 1}, v6(func(f []byte) { f[80]++ })},
		{"TVer", port.RxStats{DropMalformed: 1, RxPackets: 1}, v4(func(f []byte) { f[43] |= 1; seal(f) })},
		{"TVer over IPv6", port.RxStats{DropMalformed: 1, RxPackets: 1}, v6(func(f []byte) { f[63] |= 8; seal(f) })},
		{"ICRC before TVer", port.RxStats{DropICRC: 1, RxPackets: 1}, v4(func(f []byte) { f[43] |= 1 })},
		{"CNP", port.RxStats{DropOther: 1, RxPackets: 1}, frame(roce.CNP, false, 16)},
		{"another MAC before all", port.RxStats{DropNotRoCE: 1}, v4(func(f []byte) { f[0]++; f[14]++ })},
	} {
		t.Run(c.name, func(t *testing.T) {
			good := frame(roce.RCSendOnlyImm, false, 50)
			frames := [][]byte{c.frame, good, c.frame, c.frame, good}
			got := run(t, setup{mac: true}, frames)
			compare(t, got, setup{mac: true}, frames)
			require.Len(t, got.Got, 2)
			w := c.want
			require.Equal(t, [5]uint64{3 * w.DropNotRoCE, 3 * w.DropMalformed, 3 * w.DropICRC, 3 * w.DropOther, 3*w.RxPackets + 2},
				[5]uint64{got.Stats.DropNotRoCE, got.Stats.DropMalformed, got.Stats.DropICRC, got.Stats.DropOther, got.Stats.RxPackets})
		})
	}
}

// cut sets the IP and UDP lengths so that n bytes follow the UDP header.
func cut(f []byte, n int) {
	if f[12] == 8 {
		binary.BigEndian.PutUint16(f[16:], uint16(28+n))
		binary.BigEndian.PutUint16(f[38:], uint16(8+n))
		return
	}
	binary.BigEndian.PutUint16(f[18:], uint16(8+n))
	binary.BigEndian.PutUint16(f[58:], uint16(8+n))
}

// short is a frame with n bytes behind the UDP header.
func short(v6 bool, n int) []byte {
	f := frame(roce.RCSendOnly, v6, 0)
	cut(f, n)
	return seal(f[:len(f)-16+n])
}

// padOnly claims more pad than there is payload.
func padOnly() []byte {
	p := sample(roce.RCSendOnly, false, 0)
	f := p.Append(nil)
	f[43] |= 0x20
	return seal(f)
}

// A wrong FCS, a runt and a frame given up count as such, whatever is in them.
func TestFCS(t *testing.T) {
	good, foreign := wire(frame(roce.RCSendOnly, false, 100)), wire(frame(roce.RCSendOnly, true, 100))
	bad := append([]byte{}, good...)
	bad[20]++
	foreign[0]++
	var in []port.EthBeat
	for _, f := range [][]byte{bad, good, foreign, good[:30], good} {
		in = append(in, beats(f)...)
	}
	got := runBeats(t, setup{mac: true}, in)
	require.Len(t, got.Got, 2)
	n := uint64(len(good) - 4)
	require.Equal(t, port.RxStats{RxPackets: 2, RxBytes: 2 * n, DropFCS: 3}, got.Stats)
}

func TestPortOff(t *testing.T) {
	bad := frame(roce.RCSendOnly, false, 10)
	bad[14]++
	got := run(t, setup{off: true, mac: true}, [][]byte{frame(roce.RCSendOnly, false, 10), bad})
	require.Empty(t, got.Got)
	require.Zero(t, got.Stats)
}

// With the smallest buffers and a consumer that comes late, frames are lost whole
// and counted, and what is delivered is right.
func TestOverflow(t *testing.T) {
	for _, s := range []setup{
		{params: pktrx.Params{LogBeats: 7}, from: 600},             // rx_buf fills
		{params: pktrx.Params{LogBeats: 7}, depth: 2, throttle: 3}, // Pkt fills
		{params: pktrx.Params{LogBeats: 7}, throttle: 5},
		{depth: 2, throttle: 9},
	} {
		t.Run(fmt.Sprintf("%+v", s), func(t *testing.T) {
			var frames [][]byte
			for i := range 400 {
				f := frame(roce.RCSendOnly, i%3 == 0, i*37%1500)
				binary.BigEndian.PutUint16(f[44+20*b2i(i%3 == 0):], uint16(i)) // P_Key tells which
				frames = append(frames, seal(f))
			}
			got := run(t, s, frames)
			require.Equal(t, uint64(400), got.Stats.RxPackets)
			require.NotZero(t, got.Stats.DropOverflow)
			require.Equal(t, 400, len(got.Got)+int(got.Stats.DropOverflow))
			require.Greater(t, len(got.Got), 20)
			last := -1
			for _, g := range got.Got {
				i := int(g.Pkt.PKey)
				require.Greater(t, i, last)
				last = i
				p, err := roce.ParseFrame(frames[i])
				require.NoError(t, err)
				require.Equal(t, string(p.Payload), string(g.Payload))
			}
		})
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// One frame of one beat in every cycle, and none is lost.
func TestMinimumFramesAtFullRate(t *testing.T) {
	var frames [][]byte
	for i := range 500 {
		frames = append(frames, frame([]roce.Opcode{roce.RCSendOnly, roce.RCAck}[i%2], false, 0))
	}
	got := run(t, setup{}, frames)
	require.Len(t, got.Got, 500)
	require.Equal(t, uint64(499), got.Got[499].At-got.Got[0].At)
	require.Equal(t, uint64(3+2), got.Got[0].At, "latency: put in cycle 2, at Eth in cycle 3")
}

// The read port gives a beat a cycle, also from one request to the next.
func TestReadRate(t *testing.T) {
	var frames [][]byte
	for range 20 {
		frames = append(frames, frame(roce.RCSendOnly, false, 64*5-1))
	}
	got := run(t, setup{from: 200}, frames)
	require.Len(t, got.Got, 20)
	require.Len(t, got.Data, 20*6) // bytes 54 to 372 of a frame
	require.Equal(t, uint64(20*6-1), got.Data[20*6-1]-got.Data[0])
	require.Equal(t, uint64(200+1+2), got.Data[0], "latency: put in cycle 200, at Read in cycle 201")
}

func TestNoAllocations(t *testing.T) {
	b := build(setup{mac: true, from: 1 << 40})
	k, err := hdl.Elaborate("bench", b, hdl.Options{})
	require.NoError(t, err)
	for range 500 {
		b.Wire.Push(beats(wire(frame(roce.RCAck, false, 0)))...)
		b.Wire.Push(beats(wire(frame(roce.RCWriteOnlyImm, true, 300)))...)
	}
	require.NoError(t, k.Run(20))
	require.Zero(t, testing.AllocsPerRun(2000, k.Step))
}
