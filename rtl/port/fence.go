package port

// Fence names those who wait until all accesses are over that were translated before a
// key changed, a bit each. mpt puts it as a marker behind the answers that saw the old
// key, in MptRes. pkt_tx and scatter hand it back when what was before it is over: the
// data of its reads has come; its writes, and those of its atomics, have entered the
// posted queue (WriteReq). 0: no marker.
//
// A read counts until its data is here. On PCIe a posted write must be able to pass a
// read request (PCI Express Base, 2.4.1): the host could see the CQE, and give the memory
// a new content or none, before a read that was only asked for gets there.
type Fence uint8

// Who waits.
const (
	FenceMem   Fence = 1 << iota // a memory operation of a send queue
	FenceInv                     // a SEND with invalidate
	FenceAdmin                   // a command of the driver
)

// Width is 3 bits.
func (Fence) Width() int { return 3 }
