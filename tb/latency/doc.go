// Package latency follows one message through two hosts, from the CPU's doorbell
// to the completions in both memories, and says in which block each cycle went.
//
//	CPU ─MMIO─► dma ► csr ► qpc ► wqe_sched ► pkt_tx ► mac ─wire─► mac ► pkt_rx ► ack_gen ► scatter ► dma ─► payload, CQE
//	    └──M──┘└───────────────── T ───────────────────┘└──L──┘└──────────────────── X ───────────────────┘└─W─┘
//
// and of a READ or an atomic also the way back, from responder ► pkt_tx at the peer
// to scatter ► dma at home.
//
// Nothing is computed from a model: a stage lasts from the cycle in which its
// stream moved to that of the next stage's, so that the stages add up to the
// whole exactly. M, L and W are the latencies of the bench: a register access,
// the wire, a posted write. T+X is what the two NICs take, without the read round
// trips for WQE and payload and without the serialisation of the frame.
package latency
