// Package csr is BAR0: registers, counters, doorbells, the push window and the
// MSI-X table.
//
//	MmioRx ─► decode ─┬─► registers ──► AdminReg, PortReg, GIDs (levels)
//	          │       ├─► QPBell, CQBell   doorbells
//	          │       ├─► Push             pushed WQEs, assembled in Windows
//	          │       └─► MSI-X table ◄──► Msix, MsixRes, MsixFire
//	          └─ reads ─► MmioCpl
//
// One access a cycle; an 8-byte write to a push window takes two. A doorbell
// shows on QPBell the cycle after it was taken. Reads are answered in order, at
// once.
//
// Invariants: each memory request is taken whatever it asks; one that means
// nothing changes nothing and is counted. Doorbells and pushed WQEs wait for
// room downstream and are never lost.
package csr

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/pcie"
	"rnic/rtl/port"
)

type state uint8

const (
	ready state = iota
	merge       // an 8-byte write waits for its push window
	skip        // the rest of a TLP that is too long
)

// Width is 2 bits.
func (state) Width() int { return 2 }

func (s state) String() string { return [...]string{"READY", "MERGE", "SKIP", "RESERVED"}[s&3] }

type regs struct {
	State  state
	Booted bool
	// Word holds the global registers that can be written, by offset / 4.
	Word      [128]uint32
	CyclesHi  uint32 // latched
	CounterHi uint32 // latched
	Vector    [abi.MSIXCount]vector
	Pending   uint16 // MSI-X vectors raised while masked
	Page      uint8  // merge: of the write
	Lane      uint8  // merge: which 8 bytes of the window, 0..7
	Bytes     uint64 // merge: the 8 bytes
	Stats     stats
}

// vector is an MSI-X table entry.
type vector struct {
	Addr    uint64
	Data    uint32
	Control uint32
}

// stats are the counters of the block itself.
type stats struct {
	Doorbells, PushIgnored, WriteIgnored, ReadUnmapped uint64
}

// window is the push window of a page: the lanes written so far, in order.
type window struct {
	Next uint8
	Data [abi.PushSize]byte
}

// Taps are the counters of the other blocks.
type Taps struct {
	Rx    hdl.Tap[port.RxStats]
	Tx    hdl.Tap[port.TxStats]
	Resp  hdl.Tap[port.RespStats]
	Sched hdl.Tap[port.SchedStats]
	QP    hdl.Tap[port.QPStats]
	CQ    hdl.Tap[port.CQStats]
	Dma   hdl.Tap[port.DmaStats]
	Admin hdl.Tap[port.AdminStats]
	Loop  hdl.Tap[uint64] // frames to the own address that the MAC lost
}

// CSR is the block. Its ports are described in the package comment.
type CSR struct {
	MmioRx   hdl.In[pcie.Beat]
	MmioCpl  hdl.Out[pcie.Beat]
	QPBell   hdl.Out[port.QPDoorbell]
	CQBell   hdl.Out[port.CQDoorbell]
	Push     hdl.Out[port.PushedWQE]
	Msix     hdl.In[port.MsixReq]
	MsixRes  hdl.Out[port.MsixRes]
	MsixFire hdl.Out[port.MsixFire]
	AdminReg hdl.Sig[port.AdminReg]
	PortReg  hdl.Sig[port.PortReg]
	GIDs     hdl.Sig[port.GIDTable]
	Taps     Taps

	Windows hdl.RAM[window]

	hdl.Regs[regs]
}

// New makes the block.
func New() *CSR {
	c := &CSR{}
	c.Windows.Init(abi.UARPages, hdl.ReadFirst)
	return c
}

// Eval takes one access of the host, and answers one MSI-X look-up.
func (c *CSR) Eval() {
	if !c.Q.Booted {
		c.boot()
		return
	}
	switch c.Q.State {
	case merge:
		c.merge()
	case skip:
		if c.MmioRx.Valid() && c.MmioRx.Take().Last {
			c.D.State = ready
		}
	case ready:
		if c.MmioRx.Valid() {
			c.access()
		}
	}
	c.lookup()
	c.fire()
}

// boot gives registers and vectors their reset values.
func (c *CSR) boot() {
	d := &c.D
	d.Booted = true
	for _, r := range writable {
		d.Word[r.Offset/4] = r.Reset
	}
	for i := range d.Vector {
		d.Vector[i].Control = maskBit
	}
	c.levels()
}

// access does what the TLP at the head of MmioRx asks.
func (c *CSR) access() {
	b := c.MmioRx.Head()
	switch {
	case b.Hdr.Kind == pcie.MRd:
		if c.MmioCpl.Ready() {
			c.read(&b.Hdr)
			c.MmioRx.Take()
		}
	case !b.Last:
		c.D.State = skip
		c.ignore()
		c.MmioRx.Take()
	case b.Hdr.Poison:
		c.ignore()
		c.MmioRx.Take()
	default:
		if c.write(b) {
			c.MmioRx.Take()
		}
	}
}

func (c *CSR) ignore() { c.D.Stats.WriteIgnored++ }
