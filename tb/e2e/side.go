package e2e

import (
	"errors"
	"math/rand/v2"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
)

// bufferSize is the bytes of a side's buffer and its region.
const bufferSize = 1 << 20

// Seen is a frame that passed a port.
type Seen struct {
	Ps  int64  // of its last bit
	Tx  bool   // it left the host
	Len int    // bytes, without FCS
	All []byte // the frame itself, without FCS
	roce.Packet
	Err error // why it is no RoCE packet
}

// Side is one host of a scene, as its script sees it.
type Side struct {
	*tb.Host
	Bus  *host.Bus
	Dev  *driver.Device
	PD   *driver.PD
	Buf  *driver.Buffer
	MR   *driver.MR // all of Buf, with local write
	Seen []Seen     // what passed the port, in order

	// What is to be expected of the port at the end: frames that the MAC turns round,
	// frames of a RAW_PACKET QP.
	Loops, Raw bool

	scene   *Scene
	peer    *Side
	script  func()
	started hdl.Event
	err     error
	rest    *tb.Rest
	cqs     []*driver.CQ
	qps     []*driver.QP
}

func newSide(s *Scene, h *tb.Host) *Side {
	d := &Side{Host: h, scene: s}
	h.Tap(d.frame)
	h.Go("script", func(t *hdl.Thread, bus *host.Bus) {
		d.Bus = bus
		for {
			for d.script == nil {
				t.Wait(&d.started, 0)
			}
			d.script()
			d.script = nil
		}
	})
	return d
}

// frame records a frame of the port.
func (d *Side) frame(f tb.Frame) {
	data := append([]byte(nil), f.Data...)
	p, err := roce.ParseFrame(data)
	if err == nil && f.BadFCS {
		err = errFCS
	}
	d.Seen = append(d.Seen, Seen{Ps: f.TimePs, Tx: f.Tx, Len: len(data), All: data, Packet: p, Err: err})
}

func (d *Side) begin(fn func()) {
	d.script = fn
	d.started.Notify()
}

// Do has the host's thread run fn, and returns when it has. fn must not fail the
// test.
func (d *Side) Do(fn func()) {
	d.scene.t.Helper()
	d.begin(fn)
	d.scene.run(func() bool { return d.script == nil })
}

// try has the host do something that must work.
func (d *Side) try(fn func() error) {
	d.scene.t.Helper()
	d.Do(func() { d.err = fn() })
	require.NoError(d.scene.t, d.err)
}

// open opens the device and makes domain, buffer and region.
func (d *Side) open() {
	c, k := d.scene.o.Driver, uint8(d.Index)
	c.MAC, c.IPv4, c.GID = roce.HostMAC(k), roce.HostIPv4(k), roce.HostIPv6(k)
	if d.Dev, d.err = driver.Open(d.Bus, c); d.err != nil {
		return
	}
	if d.PD, d.err = d.Dev.AllocPD(); d.err != nil {
		return
	}
	if d.Buf, d.err = d.Dev.AllocBuffer(bufferSize, 0); d.err != nil {
		return
	}
	d.MR, d.err = d.PD.RegMR(d.Buf, abi.AccessLocalWrite)
}

// CQ makes a completion queue.
func (d *Side) CQ(entries int) (c *driver.CQ) {
	d.scene.t.Helper()
	d.try(func() (err error) {
		c, err = d.Dev.CreateCQ(entries, driver.CQOptions{Vector: len(d.cqs) % d.Dev.Config.Vectors})
		return err
	})
	d.cqs = append(d.cqs, c)
	return c
}

// Await waits for n completions of a queue, by arming it and sleeping until its
// interrupt, for up to 100 ms each.
func (d *Side) Await(c *driver.CQ, n int) []driver.WC {
	d.scene.t.Helper()
	wcs := make([]driver.WC, n)
	got := 0
	d.Do(func() {
		for d.err = nil; got < n && d.err == nil; {
			var k int
			k, d.err = c.Wait(wcs[got:], d.Bus.Now()+100_000_000_000)
			if k == 0 {
				break
			}
			got += k
		}
	})
	require.NoError(d.scene.t, d.err)
	require.Equal(d.scene.t, n, got, "completions of CQ %d of %s: %v", c.Number(), d.K.Name(), wcs[:got])
	return wcs
}

// demandNoCompletions demands that no CQ has a completion left.
func (d *Side) demandNoCompletions() {
	d.scene.t.Helper()
	for _, c := range d.cqs {
		d.DemandNone(c)
	}
}

// closeQueues destroys QPs and CQs.
func (d *Side) closeQueues() error {
	for _, q := range d.qps {
		if err := q.Destroy(); err != nil && !errors.Is(err, driver.ErrInvalid) {
			return err // not one that the test destroyed
		}
	}
	for _, c := range d.cqs {
		if err := c.Destroy(); err != nil {
			return err
		}
	}
	return nil
}

// Events are the asynchronous events since the last call.
func (d *Side) Events() (events []driver.AsyncEvent) {
	d.scene.t.Helper()
	d.try(func() (err error) {
		events, err = d.Dev.AsyncEvents()
		return err
	})
	return events
}

// Fill writes n bytes that seed decides to an offset of the buffer.
func (d *Side) Fill(off, n int, seed uint64) {
	_, err := d.Buf.WriteAt(Bytes(n, seed), int64(off))
	require.NoError(d.scene.t, err)
}

// Read returns n bytes at an offset of the buffer.
func (d *Side) Read(off, n int) []byte {
	b := make([]byte, n)
	_, err := d.Buf.ReadAt(b, int64(off))
	require.NoError(d.scene.t, err)
	return b
}

// Demand demands that the buffer holds bytes at an offset.
func (d *Side) Demand(off int, want []byte) {
	d.scene.t.Helper()
	got := d.Read(off, len(want))
	for i := range want {
		if got[i] != want[i] {
			d.scene.t.Fatalf("%s: byte %d of %d at %d is %#02x, not %#02x", d.K.Name(), i, len(want), off, got[i], want[i])
		}
	}
}

// Bytes are n bytes that seed decides.
func Bytes(n int, seed uint64) []byte {
	rng := rand.New(rand.NewPCG(seed, 0xb17e5))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}
