package driver

import (
	"encoding/binary"
	"fmt"

	"rnic/abi"
)

// Device is an open NIC as one thread sees it.
type Device struct {
	Attr   abi.DeviceMailbox // what QUERY_DEVICE tells
	Config Config            // with the defaults filled in

	*device
	bus  Bus
	page uint8 // doorbell page of what is made through this handle
}

// device is what all handles of a NIC share.
type device struct {
	caps     abi.Caps
	pages    int // doorbell pages
	lastPage int
	admin    adminQueue
	eqs      []*eventQueue // by EQN, and MSI-X vector
	async    []AsyncEvent
	latched  bool // a thread is between the two halves of a counter

	gids [abi.NumGIDs][16]byte // as in the port's registers
	mtu  abi.MTU               // of the port
	raw  *qp                   // that gets what is not RoCE, or nil

	pds, cqns, qpns, keys numbers
	ahns, srqns           numbers
	keyLow                []uint8 // by key index: low byte of the last key
	entries               extents // page entries of the device
	nextVA                uint64
	cqs                   []*cq  // by CQN
	qps                   []*qp  // by QPN
	mws                   []*mw  // by key index
	mrs                   []*mr  // by key index
	ahs                   []*ah  // by AHN
	srqs                  []*srq // by SRQN
	buffers               map[*Buffer]struct{}
	made                  uint32 // QPs that the driver has chosen a PSN for
	closing, closed       bool
}

// On returns the device as the thread of another Bus sees it, with the next
// doorbell page; the pages are used in turn.
func (d *Device) On(bus Bus) *Device {
	d.lastPage = (d.lastPage + 1) % d.pages
	return &Device{Attr: d.Attr, Config: d.Config, device: d.device, bus: bus, page: uint8(d.lastPage)}
}

// write32 posts a register write.
func (d *Device) write32(off, v uint32) error {
	var b [4]byte
	binary.LittleEndian.PutUint32(b[:], v)
	return d.bus.Write(off, b[:])
}

// Counter reads a counter of the device.
func (d *Device) Counter(c abi.Counter) (uint64, error) {
	if c >= abi.NumCounters {
		return 0, fmt.Errorf("counter %d: %w", c, ErrInvalid)
	}
	return d.read64(abi.CounterAddr(c))
}

// Cycles reads the device's clock, that of WC.Timestamp.
func (d *Device) Cycles() (uint64, error) { return d.read64(abi.RegCyclesLo) }

// read64 reads two registers of which the low one latches the high one. The latch
// is one for all, so threads take turns.
func (d *Device) read64(off uint32) (uint64, error) {
	for d.latched {
		d.bus.Spend(pollInterval)
	}
	if err := d.open(); err != nil {
		return 0, fmt.Errorf("read %#x: %w", off, err)
	}
	d.latched = true
	defer func() { d.latched = false }()
	lo, err := d.bus.Read32(off)
	if err != nil {
		return 0, err
	}
	hi, err := d.bus.Read32(off + 4)
	return uint64(hi)<<32 | uint64(lo), err
}

// bell is the announcement of a queue's index. Only one thread at a time writes
// it, so that an older index never follows a newer one.
type bell struct {
	rung uint16 // index announced last
	busy bool
	buf  [8]byte
}

// ring announces *index, and whatever it has become meanwhile.
func (d *Device) ring(b *bell, page uint8, kind abi.DoorbellKind, number uint32, index *uint16) error {
	if b.busy {
		return nil
	}
	b.busy = true
	var err error
	for b.rung != *index && err == nil {
		i := *index
		err = d.doorbell(b, page, abi.Doorbell{Number: number, Kind: kind, Index: i})
		if err == nil {
			b.rung = i
		}
	}
	b.busy = false
	return err
}

func (d *Device) doorbell(b *bell, page uint8, v abi.Doorbell) error {
	binary.LittleEndian.PutUint64(b.buf[:], v.Pack())
	return d.bus.Write(abi.DoorbellAddr(page), b.buf[:])
}
