package wqesched

import (
	"rnic/roce"
	"rnic/rtl/port"
)

// changed tells whether a WQE that has its entry is not the one that was entered:
// the units and PSNs up to Entered and EnteredPSN do not come out. That the host may
// have changed anything else is nobody's business: the message is sent as it is now.
func changed(c *port.SQCtx, w *wqe, at *progress) bool {
	units, psns := at.Entered-at.Idx, at.EnteredPSN.Diff(at.PSN)
	last := uint16(w.Units) == units
	switch kindOf(c, w) {
	case kindSend, kindRead:
		if at.Offset > 0 && at.Offset >= w.Len {
			return true
		}
		n := packetsOf(w.Len-at.Offset, mtuShift(c))
		return uint16(w.Units) > units || n > psns || last && n != psns
	case kindFault: // nothing is entered behind one
		return !last || psns > 0
	}
	return uint16(w.Units) > units || at.Offset > 0 || last && psns > 0
}

// badKey is an L_Key that no region has: the index is beyond the table.
const badKey = 0xffffff00

// revoked deals with a WQE that was overwritten while its message was in progress,
// or before it was sent again: one byte is asked for under a key that does not exist.
// So the message fails as one whose memory went away, and pkt_tx reports it. Where
// all PSNs that were entered have been sent there is none that such a packet could
// have: the service ends with Fault.
func (x *Exec) revoked(s *service, at *progress) {
	if at.PSN == at.EnteredPSN {
		at.Idx, at.Offset = at.Entered, 0
		at.Fault, at.Stop, at.Outcome = true, true, idle
		return
	}
	if at.shut() {
		at.noPacket()
		return
	}
	x.Pkt.Put(port.TxPkt{QPN: s.Ctx.QPN, Gen: s.Ctx.Gen, Opcode: opcodeOf(s.Ctx.Type, roce.RCSendMiddle), Unacked: unacked(s.Ctx.Type),
		PSN: at.PSN, LastPSN: at.PSN, Len: 1, NumPieces: 1, WQEIdx: at.Idx})
	x.Piece.Put(port.TxPiece{Key: badKey, Len: 1})
	at.sent(1)
	at.Stop, at.Outcome = true, idle
}
