package port

import "rnic/abi"

// PushedWQE is one 64-byte unit written to the push window of a UAR page: csr
// to wqe_sched. The doorbell of the same WQE follows as a QPDoorbell on its own;
// wqe_sched uses the unit when a line for it is free, and forgets it otherwise:
// the WQE is in host memory too.
type PushedWQE struct {
	QPN  QPN
	Idx  uint16 // unit index in the ring
	Data [BeatBytes]byte
}

// AdminReg is what csr holds for admin.
type AdminReg struct {
	Enable   bool
	SQBase   BusAddr
	CQBase   BusAddr
	LogSize  uint8
	PI       uint16
	Vector   uint8
	VectorOn bool
}

// PortReg is what csr holds for the packet pipelines.
type PortReg struct {
	Enable bool
	MAC    [6]byte
	IPv4   [4]byte
	GID0   [16]byte // IPv6
	MTU    uint16   // bytes
	PKey   uint16   // P_Key index 0, the only one
	RawQPN QPN      // that frames which are not RoCE go to, 0: none
	// TimeUnit is the number of cycles that stand for 4.096 us.
	TimeUnit uint32
}

// GIDTable is what csr holds for qpc: the port's addresses; one of zeros is none.
type GIDTable struct {
	GID [abi.NumGIDs][16]byte // IPv4: ::ffff:a.b.c.d
}

// MRAdmin is an operation of admin on mpt. Register: the page addresses follow
// as PageBeats, if MR.Kind has some. Each beat carries 8 addresses of 64 bits,
// little-endian. EndQP: the life of QPN ends; its windows of type 2 are bound no more.
type MRAdmin struct {
	Dereg bool
	EndQP bool
	QPN   QPN
	Index uint32
	MR    abi.MRMailbox
}

// MRAdminRes answers MRAdmin, after its last page for a registration.
type MRAdminRes struct {
	Status   abi.AdminStatus
	Syndrome uint8
}
