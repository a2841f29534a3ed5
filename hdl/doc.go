// Package hdl is a two-phase clocked simulation kernel: modules of flip-flops
// joined by registered valid/ready streams, with block RAMs, levels, behavioural
// agents and testbench threads. It knows nothing of RDMA.
package hdl
