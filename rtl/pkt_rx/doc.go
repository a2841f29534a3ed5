// Package pktrx takes frames from the MAC, checks all that can be checked without
// a queue pair, and keeps the good ones in rx_buf until scatter has placed them.
// No byte of a frame goes further before its ICRC is known to be right.
//
//	            ┌─ parse beat 0: MAC, IP, UDP ─┐
//	            ├─ headers, checksum, ICRC ────┤ frame register
//	mac ──Eth──►│                              ▼
//	            │                            judge ──Pkt──► ack_gen
//	            └──► rx_buf (ring of beats) ◄──┘ commit or roll back
//	                    │        ▲
//	                    ▼ Data   │ Read, Free
//	                 scatter ────┘
//
// Ports
//   - Eth: frames without FCS, Bad on the last beat of a wrong one.
//   - Pkt: good frames in arrival order, connected PktDepth deep: it is the queue
//     of frames that wait for their verdict.
//   - Read, Data: bytes of rx_buf, as they lie there. Free: the oldest frame.
//   - PortReg: own MAC address, the raw QP, and whether the port is on; Stats: counters.
//
// Checks, the first that fails counts, and the frame leaves no trace but that:
//
//	FCS or length (Bad)                          drop_fcs
//	destination MAC, type, protocol, UDP port    drop_not_roce
//	IP version, options, checksum, fragment,
//	lengths of IP, UDP and payload, UDP checksum drop_malformed
//	ICRC                                         drop_icrc
//	transport version                            drop_malformed
//	congestion notification                      drop_other
//	no room in rx_buf or Pkt                     drop_overflow
//
// In detail the order is that of roce.ParseFrame, which goes from header to
// header. Unknown opcodes pass, with what follows the BTH as payload: the QP judges them.
// An AtomicAckETH's value comes as Reth.Swap. Beats behind the end of the IP packet
// are not stored. The tag comes beside the frame, from the MAC; rx_bytes counts it.
//
// If there is a raw QP it gets, whole, each frame with a good FCS of at most 4,096 bytes
// that is multicast or broadcast, or for the own address and not RoCE: its headers, as far
// as they are there, do not name UDP port 4791. One that does is RoCE, and dropped if
// anything else of it is wrong. A later part of a fragmented datagram has no UDP header,
// and so is raw. Longer frames count as drop_not_roce.
//
// Latency: 2 cycles from the last beat at Eth to Pkt; 2 cycles from Read to the
// first Data, then a beat a cycle. Initiation interval: 1 cycle a beat, also
// between frames.
//
// Invariants: Eth is always taken; a frame that is dropped holds no beat of rx_buf
// after it was judged; Pkt has one entry for each frame that rx_buf holds.
package pktrx
