// Package mac is the Ethernet MAC: padding, FCS and pacing on the way out, FCS
// check and length checks on the way in. Captures and the packet pipelines see
// frames without FCS, the wire sees them with it.
//
//	pkt_tx ──TxIn──► Transmit: pad to 60, FCS, link rate ──Tx──► wire
//	pkt_rx ◄─RxOut── Receive: FCS, runts, jabber ◄──────────Rx── wire
//
// Ports
//   - Transmit.TxIn: whole frames without pad and FCS; Transmit.Tx: the wire.
//   - Receive.Rx: the wire; Receive.RxOut: frames without FCS, Bad on the last
//     beat of one whose FCS or length is wrong.
//
// Transmit cuts through: it does not store a frame. Its producer guarantees a
// beat in every cycle from the first of a frame to the last, as fast as they are
// taken; pkt_tx does, for it starts a frame only when all of it is there. Should
// a beat be missing when the wire is free for it, the frame is spoiled with a
// wrong FCS, as an underrun is on a real wire. A beat leaves when the one before
// it has been sent at the link rate; a frame is followed by 20 bytes of gap and
// preamble. A link faster than the data path (64 bytes a cycle) is paced by the
// gaps alone.
//
// Receive keeps up with 64 bytes a cycle, and never holds the wire up if its
// consumer never holds it up.
//
// Latency: Transmit 1 cycle; Receive 1 cycle for a frame of one beat, else 2.
// Initiation interval: 1 cycle a beat; in Transmit one more when the FCS crosses
// into a beat of its own.
//
// Invariants: Tx frames are 64 bytes or more. A frame longer than MaxFrame is cut
// in the beat where that shows, and Bad; the rest of it goes nowhere. Every frame
// on RxOut ends in one beat with Last, and has no empty beat.
package mac
