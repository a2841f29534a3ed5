package port

// The counters of each block, as registered levels to csr. Names are those of
// the counters page (abi.Counter); all wrap at 2^64.

// RxStats are pkt_rx's: frames at the MAC, and frames that reach no QP.
type RxStats struct {
	RxPackets, RxBytes         uint64 // RoCE frames with a good FCS, without FCS
	DropOverflow, DropFCS      uint64
	DropNotRoCE, DropMalformed uint64
	DropICRC                   uint64
	DropOther                  uint64 // congestion notifications: nothing acts on them
	RawFrames                  uint64 // frames given to RawQPN
}

// TxStats are pkt_tx's: frames that left, without FCS, and among them the
// acknowledgements.
type TxStats struct {
	TxPackets, TxBytes              uint64
	AcksSent, NaksSent, RnrNaksSent uint64
	RawFrames                       uint64 // frames of raw QPs; TxPackets does not count them
}

// RespStats are ack_gen's: what qpc's verdicts did.
type RespStats struct {
	DropBadQPN, DropBadTransport, DropBadState  uint64
	DropBadPKey, DropBadAddress, DropBadQKey    uint64
	DropOther                                   uint64
	DuplicateRequest, OutOfSequence             uint64
	OutOfBuffer                                 uint64 // RNR NAKs for want of a receive WQE
	RespLocalLengthError, RespLocalProtection   uint64
	RespRemoteAccess, RespRemoteInvalidRequest  uint64
	PacketSeqErr, RnrNakRetryErr                uint64 // NAKs received
	ImpliedNakSeqErr                            uint64 // answers received beyond one that is missing
	ReqRemoteInvalidRequest, ReqRemoteAccessErr uint64
	ReqRemoteOperational                        uint64
}

// SchedStats are wqe_sched's.
type SchedStats struct {
	WQEFetches, PushedWQEs, PushedIgnored uint64
}

// QPStats are qpc's: doorbells that were ignored, and ends of the ACK timer that no
// acknowledgement had overtaken.
type QPStats struct {
	BadPage, BadNumber uint64
	LocalAckTimeoutErr uint64
}

// CQStats are cq_writer's. Error counts CQEs whose status is not success. Dropped
// counts completions for a CQ and events for an event queue 0 that do not exist.
type CQStats struct {
	CQEs, Events, Msix           uint64
	ReqCQEError, RespCQEError    uint64
	Overruns, BadPage, BadNumber uint64
	Dropped                      uint64
}

// DmaStats are dma's. Errors counts read completions that failed.
type DmaStats struct {
	Reads, ReadBytes, Writes, WriteBytes, ReadErrors uint64
}

// AdminStats are admin's. Enabled: commands are taken. Failed: a ring could not
// be read or written, and no more commands are taken.
type AdminStats struct {
	Commands        uint64
	Enabled, Failed bool
}
