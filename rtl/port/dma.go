package port

import "rnic/abi"

// ReadReq asks dma for Len bytes of host memory at Addr: any alignment, 1 byte
// to 128 KiB. The bytes come back in order as ReadBeats of that client, the
// first byte in lane Shift (0..63) of the first beat, Last on the final one.
// Requests of one client are answered in order. The client has room for all of
// the answer.
type ReadReq struct {
	Addr  BusAddr
	Len   uint32
	Shift uint8
}

// ReadBeat is a beat of host memory. Err, on the last beat of a request, says
// that one of its completions was an error, was poisoned, or never came; the
// data is then void.
type ReadBeat struct {
	Beat
	Err bool
}

// WriteReq announces Len bytes (1 byte to 4 KiB) for host memory at Addr. The
// data follows on the client's Beat stream, its first byte in lane Shift of the
// first beat. Notify asks for a WriteDone when the last TLP of the request has
// entered the posted queue: whatever enters that queue later can't pass it.
type WriteReq struct {
	Addr   BusAddr
	Len    uint32
	Shift  uint8
	Notify bool
}

// WriteDone answers each WriteReq that had Notify, in order.
type WriteDone struct{}

// MptReq asks mpt to check and translate Len bytes (0..4096) at VA under Key.
// Access holds the abi.Access bits that the use needs (0: local read). Range, if
// it is larger than Len, is how many bytes from VA on must be inside the region.
// With Invalidate nothing is translated: the key is made invalid if it exists in
// the domain and may be (SEND with invalidate). QPN is that of the QP on whose behalf
// it is: a window of type 2 is for that which bound it. A window's key is good for
// remote access alone.
type MptReq struct {
	QPN    QPN
	Key    Key
	VA     VA
	Len    uint16
	Range  uint32
	PD     PD
	Access uint8

	Invalidate bool
}

// MptStatus is the outcome of a lookup.
type MptStatus uint8

// Lookup outcomes, in the order of the checks.
const (
	MptOK MptStatus = iota
	MptBadKey
	MptBadPD
	MptBadAccess
	MptBadBounds
)

// Width is 3 bits.
func (MptStatus) Width() int { return 3 }

func (s MptStatus) String() string {
	if int(s) < len(mptStatusNames) {
		return mptStatusNames[s]
	}
	return "RESERVED"
}

var mptStatusNames = [...]string{"OK", "BAD_KEY", "BAD_PD", "BAD_ACCESS", "BAD_BOUNDS"}

// Vendor is the reason that a CQE gives for the outcome: of an L_Key, or of an R_Key.
func (s MptStatus) Vendor(remote bool) abi.VendorErr {
	local, far := abi.VendorLKeyUnknown, abi.VendorRKeyUnknown
	switch s {
	case MptOK:
		return abi.VendorNone
	case MptBadPD:
		local, far = abi.VendorLKeyPD, abi.VendorRKeyPD
	case MptBadAccess:
		local, far = abi.VendorLKeyAccess, abi.VendorRKeyAccess
	case MptBadBounds:
		local, far = abi.VendorLKeyBounds, abi.VendorRKeyBounds
	}
	if remote {
		return far
	}
	return local
}

// MptRes is one or two runs of bus addresses: a range of at most 4096 bytes
// crosses at most one page boundary. Len1 is 0 when the first run is all.
//
// With Fence it answers nothing: it is a marker behind the answers from before the
// change of a key.
type MptRes struct {
	Status       MptStatus
	Fence        Fence
	Addr0, Addr1 BusAddr
	Len0, Len1   uint16
}

// MemOp is a BIND_MW, LOCAL_INV or FAST_REG: wqe_sched to mpt, when all earlier WQEs of
// the QP are done and before any later one begins. Of FAST_REG NumPages addresses
// follow as Beats, 8 of 64 bits each, little-endian.
type MemOp struct {
	Op       abi.WQEOp
	QPN      QPN
	PD       PD
	Key      Key // BIND_MW, FAST_REG: as it is to be from now on; LOCAL_INV: the one that ends
	Region   Key // BIND_MW: L_Key of the region
	VA       VA
	Length   uint64
	Access   abi.AccessFlags
	LogPage  uint8
	NumPages uint8
}

// MemRes answers MemOp, in order. With another Status than SUCCESS nothing has changed.
type MemRes struct {
	Status abi.WCStatus // SUCCESS or MW_BIND_ERR
	Vendor abi.VendorErr
}

// KeyEnded says that nothing is read any more by a key that SEND with invalidate has
// ended: mpt to scatter, once and in order for each MptReq with Invalidate that was
// answered with MptOK. It is always taken.
type KeyEnded struct{}

// Read clients of dma.
const (
	ReadAdmin = iota
	ReadSQ
	ReadRQ
	ReadTx
	ReadAtomic
	ReadClients
)

// Write clients of dma.
const (
	WriteAdmin = iota
	WriteRx
	WriteCQ
	WriteAtomic
	WriteClients
)
