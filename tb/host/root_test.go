package host_test

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/pcie"
	"rnic/tb/agent"
	"rnic/tb/host"
)

// device is a NIC of the test's making: Up is what it sends, Down what it gets.
type device struct {
	Host *host.Host
	Up   agent.Source[pcie.Beat]
	Down agent.Sink[pcie.Beat]
	k    *hdl.Kernel
}

func newDevice(t testing.TB, o hdl.Options, p host.Params) *device {
	p.Seed = o.Seed
	d := &device{Host: host.New(p)}
	hdl.Connect(&d.Up.Out, &d.Host.RC.FromNIC, 2)
	hdl.Connect(&d.Host.RC.ToNIC, &d.Down.In, 2)
	var err error
	d.k, err = hdl.Elaborate("host", d, o)
	require.NoError(t, err)
	return d
}

// send queues a TLP.
func (d *device) send(h pcie.TLP, data []byte) {
	for first := true; first || len(data) > 0; first = false {
		b := pcie.Beat{Hdr: h, First: first}
		b.Len = uint8(copy(b.Data[:], data))
		data = data[b.Len:]
		b.Last = len(data) == 0
		d.Up.Push(b)
	}
}

func (d *device) write(addr uint64, data []byte) {
	d.send(pcie.Request(pcie.MWr, addr, len(data)), data)
}

func (d *device) read(tag pcie.Tag, addr uint64, n int) {
	h := pcie.Request(pcie.MRd, addr, n)
	h.Tag = tag
	d.send(h, nil)
}

// tlp is one that the device got.
type tlp struct {
	pcie.TLP
	data []byte
	at   uint64 // cycle of its first beat
}

func (d *device) got() (l []tlp) {
	for i, b := range d.Down.Got {
		if b.First {
			l = append(l, tlp{TLP: b.Hdr, at: d.Down.At[i]})
		}
		l[len(l)-1].data = append(l[len(l)-1].data, b.Data[:b.Len]...)
	}
	return l
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}

// TestUpRate: TLPs of 280 bytes follow each other at 63 bytes a cycle exactly.
func TestUpRate(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	const n = 630
	for i := range n {
		d.write(1<<32+uint64(i)*256, make([]byte, 256))
	}
	var at []uint64
	d.Host.RC.OnWrite = func(cycle, _ uint64, _ []byte) { at = append(at, cycle) }
	require.NoError(t, d.k.Run(10_000))
	require.Len(t, at, n)
	require.InDelta(t, (n-1)*280/63, at[n-1]-at[0], 1)
	require.EqualValues(t, n*280, d.Host.RC.Stats.UpBytes)
}

// TestDownRate: completions of 64 bytes cost 84.
func TestDownRate(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{Split: host.SplitRCB, Read: host.Constant(1_000_000)})
	for i := range 64 {
		d.read(pcie.Tag(i), uint64(i)*512, 512)
	}
	require.NoError(t, d.k.Run(10_000))
	l := d.got()
	require.Len(t, l, 512)
	require.InDelta(t, 511*84/63, l[511].at-l[0].at, 1)
	require.EqualValues(t, 512*84, d.Host.RC.Stats.DownBytes)
	require.Equal(t, 64, d.Host.RC.Stats.MaxReads)
	require.NoError(t, d.Host.RC.Outstanding())
}

// TestLatencies are exact: 250 ns are 63 cycles, 500 ns 125.
func TestLatencies(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{})
	var landed uint64
	d.Host.RC.OnWrite = func(cycle, _ uint64, _ []byte) { landed = cycle }
	d.write(0, []byte{1})
	d.read(3, 0, 1)
	require.NoError(t, d.k.Run(1000))
	// Put in cycle 0, taken in 1 and 2; a beat takes a cycle to the device.
	require.EqualValues(t, 1+63, landed)
	require.Len(t, d.got(), 1)
	require.EqualValues(t, 2+125+1, d.got()[0].at)
	require.Equal(t, []byte{1}, d.got()[0].data)
}

// TestReadOrder: a read sees the writes before it and none behind it.
func TestReadOrder(t *testing.T) {
	for seed := range uint64(10) {
		d := newDevice(t, hdl.Options{Seed: seed}, host.Params{
			Shuffle: true, Read: host.Uniform(1, 2_000_000), Write: host.Uniform(1, 2_000_000),
		})
		for i := range byte(200) {
			d.write(1<<32, []byte{i})
			d.read(pcie.Tag(i), 1<<32, 1)
		}
		require.NoError(t, d.k.Run(10_000))
		l := d.got()
		require.Len(t, l, 200)
		inOrder := true
		for i, c := range l {
			require.EqualValues(t, c.Tag, c.data[0])
			inOrder = inOrder && c.Tag == pcie.Tag(i)
		}
		require.False(t, inOrder)
	}
}

// TestSplits: completions end at multiples of 64 and give the data in order, each
// with the right count and address, whatever the order of the tags.
func TestSplits(t *testing.T) {
	for _, split := range []host.Split{host.SplitMax, host.SplitRCB, host.SplitRandom} {
		for _, payload := range []int{128, 256, 512} {
			tags := map[string]bool{}
			for seed := range uint64(3) {
				d := newDevice(t, hdl.Options{Seed: seed}, host.Params{
					Split: split, Shuffle: true, MaxPayload: payload, MaxReadRequest: 4096, Read: host.Constant(2_000_000),
				})
				data := pattern(8 * 4096)
				require.NoError(t, d.Host.Mem.Write(1<<33, data))
				var left, from [8]int
				for i := range left {
					off := i * 521 % 4096
					from[i], left[i] = i*4096+off, 4096-off
					d.read(pcie.Tag(i), 1<<33+uint64(from[i]), left[i])
				}
				require.NoError(t, d.k.Run(20_000))
				order := ""
				for _, c := range d.got() {
					i := c.Tag
					require.EqualValues(t, left[i], c.Count)
					require.EqualValues(t, from[i]&127, c.Lower)
					require.LessOrEqual(t, int(c.Len)*4, payload)
					require.Equal(t, data[from[i]:from[i]+len(c.data)], c.data)
					from[i] += len(c.data)
					left[i] -= len(c.data)
					require.True(t, left[i] == 0 || from[i]%64 == 0)
					order += string(rune(c.Tag))
				}
				require.Equal(t, [8]int{}, left)
				tags[order] = true
			}
			require.Len(t, tags, 3, "seeds that mix alike")
		}
	}
}

// TestFaultKinds: what the device sees of each fault.
func TestFaultKinds(t *testing.T) {
	for f, status := range map[host.Fault]pcie.Status{host.FaultUR: pcie.UnsupportedRequest, host.FaultCA: pcie.CompleterAbort} {
		d := newDevice(t, hdl.Options{}, host.Params{Split: host.SplitRCB, Fault: func(*pcie.TLP) host.Verdict { return host.Verdict{Fault: f} }})
		for i := range 100 {
			d.read(pcie.Tag(i), 0, 512)
		}
		require.NoError(t, d.k.Run(10_000))
		ended, partial := 0, 0
		for _, c := range d.got() {
			if c.Kind == pcie.Cpl {
				require.Equal(t, status, c.Status)
				ended++
			} else {
				partial++
			}
		}
		require.Equal(t, 100, ended)
		require.Positive(t, partial)
		require.NoError(t, d.Host.RC.Outstanding())
	}
	d := newDevice(t, hdl.Options{}, host.Params{})
	d.read(1, d.Host.Mem.Size()-4, 4)
	d.read(2, d.Host.Mem.Size(), 4)
	d.read(3, host.MSIBase, 4)
	d.read(4, host.BARBase, 4)
	require.NoError(t, d.k.Run(1000))
	for _, c := range d.got() {
		require.Equal(t, c.Tag == 1, c.Status == pcie.Success, "tag %d", c.Tag)
	}
}

// TestIllegalTLPs: the root complex refuses what the NIC must not send.
func TestIllegalTLPs(t *testing.T) {
	read := func(addr uint64, n int) pcie.TLP { return pcie.Request(pcie.MRd, addr, n) }
	write := func(addr uint64, n int) pcie.TLP { return pcie.Request(pcie.MWr, addr, n) }
	for _, c := range []struct {
		name string
		send func(d *device)
	}{
		{"read too long", func(d *device) { d.send(read(0, 516), nil) }},
		{"write too long", func(d *device) { d.send(write(0, 260), pattern(260)) }},
		{"write of a DW too much", func(d *device) { d.send(write(2, 256), pattern(256)) }},
		{"across 4 KiB", func(d *device) { d.send(read(4000, 200), nil) }},
		{"tag in use", func(d *device) { d.read(1, 0, 4); d.read(1, 0, 4) }},
		{"payload short", func(d *device) { d.send(write(0, 8), pattern(7)) }},
		{"payload long", func(d *device) { d.send(write(0, 8), pattern(9)) }},
		{"payload of a read", func(d *device) { d.send(read(0, 8), pattern(8)) }},
		{"byte enables", func(d *device) {
			h := write(0, 8)
			h.First = 5
			d.send(h, pattern(8))
		}},
		{"no first beat", func(d *device) { d.Up.Push(pcie.Beat{Hdr: read(0, 4), Last: true}) }},
		{"two first beats", func(d *device) {
			d.Up.Push(pcie.Beat{Hdr: write(0, 128), First: true, Len: 64}, pcie.Beat{Hdr: write(0, 128), First: true, Len: 64})
		}},
		{"short beat", func(d *device) { d.Up.Push(pcie.Beat{Hdr: write(0, 128), First: true, Len: 60}) }},
		{"unasked completion", func(d *device) {
			r := read(0, 4)
			d.send(pcie.Completion(&r, 0, 0, 4), pattern(4))
		}},
	} {
		d := newDevice(t, hdl.Options{}, host.Params{})
		c.send(d)
		var f *hdl.Fault
		require.ErrorAs(t, d.k.Run(1000), &f, c.name)
		require.Equal(t, "host.host.rc", f.Path)
	}
}

// TestStray: writes that hit nothing are counted and lost.
func TestStray(t *testing.T) {
	d := newDevice(t, hdl.Options{}, host.Params{Vectors: 4})
	d.write(d.Host.Mem.Size(), []byte{1})
	d.write(host.BARBase, []byte{1, 2})
	d.write(host.MSIBase, binary.LittleEndian.AppendUint32(nil, 4))
	d.write(host.MSIBase, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	h := pcie.Request(pcie.MWr, 0, 4)
	h.Poison = true
	d.send(h, pattern(4))
	require.NoError(t, d.k.Run(1000))
	require.EqualValues(t, 5, d.Host.RC.Stats.Stray)
	require.Zero(t, d.Host.RC.Stats.Writes+d.Host.RC.Stats.Messages)
}

// TestStrict: throttled on both sides, the machine does the same in any order of
// evaluation.
func TestStrict(t *testing.T) {
	hdltest.Identical(t, hdl.Options{Seed: 5}, func(o hdl.Options) (hdltest.Digester, any) {
		p := host.Params{Split: host.SplitRandom, Shuffle: true, Read: host.Uniform(1, 900_000)}
		p.Up.Seed, p.Down.Seed = 1, 2
		d := newDevice(t, o, p)
		for i := range 100 {
			d.write(uint64(i)*128, pattern(1+i))
			d.read(pcie.Tag(i), uint64(i)*4096+uint64(i), 1+i*5%500)
		}
		require.NoError(t, d.k.Run(20_000))
		require.NoError(t, d.Host.RC.Outstanding())
		return d.k, slices.Clone(d.Down.Got)
	})
}
