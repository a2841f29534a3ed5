package wqesched

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// progress is how far the open service has come.
type progress struct {
	Idx        uint16 // WQE to execute, or being executed
	Offset     uint32 // bytes of its message before PSN
	PSN        roce.PSN
	Entered    uint16   // the first WQE without an entry in the outstanding table
	EnteredPSN roce.PSN // of its first packet
	Window     uint16   // packets that may still be sent
	Budget     uint8    // and in this service
	Entries    uint8    // of the outstanding table that may still be taken
	Used       uint8    // taken
	Requests   uint8    // of these, those that go to the wire
	Credited   uint8    // and of these, those that take a receive WQE of the peer
	Credits    uint16   // that may still be started
	Reads      uint8    // READs and atomics that may still be started
	Reading    bool     // one is outstanding
	Told       uint16   // bytes of the packet at Offset that were described
	Asked      bool     // mpt has the memory operation at Idx
	Beats      uint8    // and of its pages
	Mem        port.MemRes
	Fault      bool
	Stop       bool // blocked: what is left of the service is passed over
	Outcome    outcome
}

// entered tells whether WQE Idx has its entry in the outstanding table: its message
// is in progress, or it is sent again.
func (at *progress) entered() bool { return at.Idx != at.Entered }

// alone tells whether nothing of the QP is in flight.
func (at *progress) alone(c *port.SQCtx) bool { return c.Idle && at.PSN == c.NextPSN }

// shut tells whether no packet may be sent.
func (at *progress) shut() bool { return at.Window == 0 || at.Budget == 0 }

// sent counts a packet that takes n PSNs.
func (at *progress) sent(n uint32) {
	at.PSN = at.PSN.Add(n)
	at.Window -= uint16(min(n, uint32(at.Window)))
	at.Budget--
}

// noPacket stops the service: at the budget there is another turn, at the window
// there is nothing to do before it opens.
func (at *progress) noPacket() {
	at.Stop, at.Outcome = true, idle
	if at.Window > 0 {
		at.Outcome = more
	}
}
