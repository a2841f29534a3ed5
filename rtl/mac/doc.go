// Package mac is the Ethernet MAC: 802.1Q tag, padding, FCS and pacing on the way out,
// FCS check, length checks and tag on the way in; and the loop for frames to the own
// address. Captures see frames without FCS, the packet pipelines see them without FCS
// and tag, the wire sees them with both.
//
//	pkt_tx ──TxIn──► Transmit: tag, pad to 60, FCS, link rate ──Tx──► wire
//	                    │ own address
//	                    ▼
//	                  Loop: store of whole frames
//	                    │ between frames of the wire
//	                    ▼
//	pkt_rx ◄─RxOut── Receive: FCS, runts, jabber, tag ◄─────────Rx── wire
//
// Ports
//   - Transmit.TxIn (MAC.TxIn): whole frames without pad, tag and FCS; Transmit.Tx: the
//     wire.
//   - Receive.Rx: the wire; Receive.RxOut (MAC.RxOut): frames without FCS and tag, Bad on
//     the last beat of one whose FCS or length is wrong.
//   - Loop.PortReg: the own address; Receive.Losses: frames of the loop that were lost.
//
// The tag of a frame is beside its first beat on TxIn and RxOut. One with VLAN set gets
// a type of 0x8100 and TCI behind the addresses. On the way in only that type, right
// behind the addresses, is a tag, and only the first one; a frame too short to hold it stays
// as it is. A tagged frame of 64 bytes is legal, and has 56 without FCS and tag.
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
// A frame for the own address never reaches the wire, nor needs it. It comes back as it
// would from there: padded, a tag among its bytes taken out, cut and Bad if it is too
// long. Loop has room for two of the longest frames (132 beats for a MaxFrame of 4216), and
// hands one on only when it is whole, then a beat a cycle. Receive begins to take it when
// it is between two frames of the wire. Beats of the wire that come until its end wait in a
// store of one longest frame (66 beats); as the loop takes at most that many cycles, and
// then waits until the store is empty, it cannot overflow. So no frame of the wire is lost or held up, only delayed, and frames
// never interleave.
//
// The loop cannot block the sender for ever: pkt_rx always takes. A wire that leaves no
// cycle free (beats at 64 bytes a cycle) holds a frame of the loop up for 4,096 beats;
// then it is lost, and counted.
//
// Latency: Transmit 1 cycle; Receive 1 cycle for a frame of one beat, else 2; with tag
// and without. The loop: the beats of a frame and 4 cycles. Initiation interval: 1 cycle a
// beat, on each of the three ways; in Transmit one more when tag or FCS cross into a beat
// of their own.
//
// Storage besides the registers: the two stores, 198 beats in all.
//
// Invariants: Tx frames are 64 bytes or more. A frame longer than MaxFrame is cut
// in the beat where that shows, and Bad; the rest of it goes nowhere. Every frame
// on RxOut ends in one beat with Last, and has no empty beat.
package mac
