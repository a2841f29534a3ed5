package mac_test

import (
	"encoding/binary"
	"hash/crc32"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/mac"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// tagged cuts a frame that has a tag beside it.
func tagged(frame []byte, tci uint16) []port.EthBeat {
	bs := beats(frame)
	bs[0].VLAN, bs[0].TCI = true, tci
	return bs
}

// withTag is a frame with the tag among its bytes.
func withTag(frame []byte, tci uint16) []byte {
	w := append([]byte{}, frame[:12]...)
	w = binary.BigEndian.AppendUint16(append(w, 0x81, 0), tci)
	return append(w, frame[12:]...)
}

func TestTagsGoOut(t *testing.T) {
	var in []port.EthBeat
	var want [][]byte
	for n := 12; n <= 400; n++ {
		f := pattern(n, 20)
		in, want = append(in, tagged(f, uint16(n*211))...), append(want, wire(withTag(f, uint16(n*211))))
		if n%3 == 0 { // what is carried over is not another frame's
			in, want = append(in, beats(f)...), append(want, wire(f))
		}
	}
	got := transmit(t, mac.Params{}, 10000, in)
	require.Len(t, got, len(want))
	for i, f := range got {
		require.Equal(t, want[i], f.Frame, "frame %d", i)
		require.Equal(t, (len(want[i])+63)/64, f.Beats)
	}
}

// A frame given up stays so when the tag moves its end to a beat of its own.
func TestTaggedFrameGivenUp(t *testing.T) {
	for n := 120; n <= 130; n++ {
		f := pattern(n, 21)
		in := tagged(f, 7)
		in[len(in)-1].Bad = true
		got := transmit(t, mac.Params{}, 100, append(in, tagged(f, 7)...))
		require.Equal(t, ^crc32.ChecksumIEEE(withTag(f, 7)), binary.LittleEndian.Uint32(got[0].Frame[n+4:]))
		require.Equal(t, wire(withTag(f, 7)), got[1].Frame)
	}
}

// taken is a frame as RxOut should have it.
type taken struct {
	frame []byte
	vlan  bool
	tci   uint16
	bad   bool
}

// receiveTagged compares what comes from a wire that has a beat in every cycle.
func receiveTagged(t *testing.T, in []port.EthBeat, want []taken) {
	t.Helper()
	got := receive(t, mac.Params{}, in)
	require.Len(t, got, len(want))
	for i, w := range want {
		require.Equal(t, w, taken{got[i].Frame, got[i].VLAN, got[i].TCI, got[i].Bad}, "frame %d", i)
	}
}

func TestTagsComeIn(t *testing.T) {
	var in []port.EthBeat
	var want []taken
	for n := 56; n <= 400; n++ {
		f := pattern(n, 22)
		tci := uint16(n * 517)
		w := wire(withTag(f, tci))
		in, want = append(in, beats(w)...), append(want, taken{f, true, tci, false})
		if n%3 == 0 {
			in, want = append(in, beats(wire(pattern(max(n, 60), 23)))...), append(want, taken{frame: pattern(max(n, 60), 23)})
		}
		if n%5 == 0 {
			w = append([]byte{}, w...)
			w[16+n%(n-16)] ^= 4
			b := append([]byte{}, w[:12]...)
			in, want = append(in, beats(w)...), append(want, taken{append(b, w[16:len(w)-4]...), true, tci, true})
		}
	}
	receiveTagged(t, in, want)
}

// Only a type of 0x8100 right behind the addresses is a tag, and only the first one.
func TestWhatIsNoTag(t *testing.T) {
	plain := pattern(100, 24)
	var in []port.EthBeat
	var want []taken
	for _, kind := range []uint16{0x88a8, 0x8101, 0x0081, 0x8000} {
		f := append([]byte{}, plain...)
		binary.BigEndian.PutUint16(f[12:], kind)
		binary.BigEndian.PutUint16(f[16:], 0x8100)
		in, want = append(in, beats(wire(f))...), append(want, taken{frame: f})
	}
	in, want = append(in, beats(wire(withTag(withTag(plain, 5), 6)))...), append(want, taken{withTag(plain, 5), true, 6, false})
	receiveTagged(t, in, want)
}

// Runts with a tag, or a part of one, are Bad, and those that are too short to hold it
// stay as they are.
func TestTaggedRunts(t *testing.T) {
	for n := 5; n < 64; n++ {
		w := wireExact(withTag(pattern(80, 25), 9)[:n-4], n)
		got := receive(t, mac.Params{}, append(beats(w), beats(wire(pattern(60, 26)))...))
		require.True(t, got[0].Bad)
		require.Equal(t, n >= 20, got[0].VLAN, "%d bytes", n)
		if n < 20 {
			require.Equal(t, w[:n-4], got[0].Frame)
		}
		require.Equal(t, pattern(60, 26), got[1].Frame)
	}
}

// packets are frames with payloads around each boundary that a tag can move.
func packets(f func(p *roce.Packet)) {
	for _, v6 := range []bool{false, true} {
		for n := range 150 {
			p := &roce.Packet{
				Eth: roce.Ethernet{Dst: roce.HostMAC(3), Src: roce.HostMAC(2)}, V6: v6,
				Tagged: true, VLAN: roce.VLAN{PCP: uint8(n & 7), VID: uint16(n*27 + 1)},
				BTH: roce.BTH{Opcode: roce.UCSendOnly, PKey: 0xFFFF, DestQP: 17, PSN: roce.PSN(n)},
			}
			if v6 {
				p.IP6 = roce.IPv6{HopLimit: 64, Src: roce.HostIPv6(2), Dst: roce.HostIPv6(1)}
			} else {
				p.IP4 = roce.IPv4{DF: true, TTL: 64, Src: roce.HostIPv4(2), Dst: roce.HostIPv4(1)}
			}
			p.SetPayload(pattern(n, 27))
			f(p)
		}
	}
}

// A RoCE frame whose tag the MAC puts in is the tagged frame, ICRC included, as others
// read it.
func TestTaggedPackets(t *testing.T) {
	var in []port.EthBeat
	var want []*roce.Packet
	packets(func(p *roce.Packet) {
		bare := *p
		bare.Tagged = false
		in, want = append(in, tagged(bare.Append(nil), uint16(p.VLAN.PCP)<<13|p.VLAN.VID)...), append(want, p)
	})
	got := transmit(t, mac.Params{}, 3000, in)
	require.Len(t, got, len(want))
	for i, p := range want {
		f := got[i].Frame
		require.Equal(t, wire(p.Append(nil)), f)
		back, err := roce.ParseFrame(f[:len(f)-4])
		require.NoError(t, err)
		require.Equal(t, p.VLAN.VID, back.VLAN.VID)
		g := gopacket.NewPacket(f[:len(f)-4], layers.LayerTypeEthernet, gopacket.Default)
		q := g.Layer(layers.LayerTypeDot1Q).(*layers.Dot1Q)
		require.Equal(t, [2]uint16{uint16(p.VLAN.PCP), p.VLAN.VID}, [2]uint16{uint16(q.Priority), q.VLANIdentifier})
		u := g.Layer(layers.LayerTypeUDP).(*layers.UDP)
		require.Equal(t, layers.UDPPort(4791), u.DstPort)
	}
}

// What goes out with a tag comes in with it, whatever the lengths, and whatever the
// throttling of the consumer, in a mix with frames without.
func TestTagsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type sent struct {
			size int
			vlan bool
			tci  uint16
		}
		lengths := rapid.OneOf(rapid.IntRange(14, 4190), rapid.Custom(func(t *rapid.T) int {
			return 64*rapid.IntRange(1, 65).Draw(t, "beats") + rapid.IntRange(-10, 10).Draw(t, "off")
		}))
		frames := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sent {
			s := sent{size: lengths.Draw(t, "size"), vlan: rapid.Bool().Draw(t, "vlan")}
			if s.vlan {
				s.tci = rapid.Uint16().Draw(t, "tci")
			}
			return s
		}), 1, 8).Draw(t, "frames")
		seed := rapid.Uint64().Draw(t, "seed")
		got := hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []received) {
			var b struct {
				Source agent.Source[port.EthBeat]
				MAC    *mac.MAC
				Sink   agent.Sink[port.EthBeat]
				Level  level
			}
			b.MAC = mac.New(mac.Params{})
			b.Sink.Throttle.Seed = seed
			hdl.Connect(&b.Source.Out, b.MAC.TxIn(), 2)
			hdl.Connect(&b.MAC.Transmit.Tx, &b.MAC.Receive.Rx, 2)
			hdl.Connect(b.MAC.RxOut(), &b.Sink.In, 2)
			hdl.Wire(&b.Level.PortReg, &b.MAC.Loop.PortReg)
			k, err := hdl.Elaborate("bench", &b, o)
			require.NoError(t, err)
			for i, s := range frames {
				bs := beats(pattern(s.size, uint64(i)))
				bs[0].VLAN, bs[0].TCI = s.vlan, s.tci
				b.Source.Push(bs...)
			}
			require.NoError(t, k.Run(5000))
			return k, join(t, b.Sink.Got, b.Sink.At)
		})
		require.Len(t, got, len(frames))
		for i, s := range frames {
			want := pattern(s.size, uint64(i))
			least := 60
			if s.vlan {
				least = 56
			}
			if len(want) < least {
				want = append(want, make([]byte, least-len(want))...)
			}
			require.Equal(t, taken{want, s.vlan, s.tci, false}, taken{got[i].Frame, got[i].VLAN, got[i].TCI, got[i].Bad}, "frame %d", i)
		}
	})
}
