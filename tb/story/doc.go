// Package story makes one model of a run: every work request with the stages that it
// passed and what it waited for, every packet with what caused it and what became of it,
// every QP with its states and retries, and where the time of each host went. Each
// statement names a cycle and a signal, with the value that the waveforms have there.
//
//	kernel a ── observer ── side a ─┐
//	           taps, faults         ├── Finish ── Story ── story.json
//	kernel b ── observer ── side b ─┘
//
// The Recorder watches ports, and reads contexts and memory as a debugger does: it never
// changes anything, so that a run with it has the digest of the same run without.
//
// # IDs
//
// IDs of packets and of work requests ascend at each host; host_a has the even ones and
// host_b the odd ones. So they are known at once, in OnPacket and OnWR, and are unique, but
// not dense. A packet is numbered by its place among the frames that its host sent.
//
// # Bounds
//
// Of packets and of work requests the newest Options.Limit are kept, half of them a host;
// the rest is counts in forgotten. Series of a QP have
// 8,192 points, of which every other one goes when there are more, and its events 4,096.
// Beyond 131,072 stretches of one kind, the shares of time take short gaps for what is
// around them.
//
// # Beyond the schema that was agreed
//
//   - Story has limit and forgotten: how many are kept, and counts of those that are not.
//   - Story has unended: how many work requests of send queues have not ended; a WR has
//     needs: packets of its message in requests.
//   - A packet that qpc let through and scatter or responder could not do has the fate
//     "refused: WHY (NAK)"; one that came again has the arrival of each copy in its why.
//   - What was to follow and did not has no beat of its own; it is told where the last thing
//     before it was: a packet that asks for an answer which never leaves, a PSN that pkt_tx
//     was asked for and that never leaves, in the why of the NAK that misses it, and a
//     doorbell that qpc never gets, in the events of its QP.
//   - The failure of a run that its user ended is "interrupted in cycle N".
//   - A packet has why: events, each with a signal, that led to its cause and its fate.
//   - The "name" of an enum wider than 8 bits is in the signal with _name behind, as in waves.
//   - Stages are in order of time, and those that did not happen, or that the driver has
//     not told (polled), are missing. waits have ps besides: that of their cycle.
//   - A WR of queue "rq" is a receive: its packets are those that came for it.
package story
