// Package hdl is a two-phase clocked simulation kernel: modules of flip-flops
// joined by registered valid/ready streams, with block RAMs, levels, behavioural
// agents and testbench threads. It knows nothing of RDMA.
//
// # A module
//
// A module is a struct of parameters, ports and one flat struct of registers:
//
//	type Stage struct {
//		Depth int // parameter
//
//		In  hdl.In[Beat]
//		Out hdl.Out[Beat]
//
//		hdl.Regs[stageRegs] // Q: present state, D: next state
//	}
//
// Its Eval is the always_comb. It reads Q, the heads of its Ins, the Data of its
// RAMs and its Taps; it writes D, which equals Q when it starts, and calls Put,
// Take, Set, Read and Write. It keeps no other state and touches no other module.
//
//	            +----------- Eval ------------+
//	In.Head --->|  Q, heads, RAM data, levels |---> Out.Put, In.Take
//	RAM.Data -->|        ->  D, puts, takes   |---> RAM.Read/Write, Sig.Set
//	            +-----------------------------+
//	                 Q <= D at the edge
//
// # Every boundary is registered
//
// A stream is a register slice at least two deep. Whether it is valid or ready, and
// its head, depend on present state only. A beat takes one cycle a hop, at full
// rate. So no combinational path crosses a module boundary, there are no delta
// cycles and no levelising, and the order of evaluation cannot matter.
//
// A cycle is: Eval of each module that is awake; the edge; then agents in
// elaboration order and threads in the order in which they were added. Those see
// settled state, of the cycle that the edge began, and what they put and take
// commits with that cycle's own edge, together with the modules'.
//
// # Idleness is proved
//
// A module whose Eval left D equal to Q and moved nothing would do the same again.
// It sleeps until one of its streams moves, a level that it taps changes, its RAM
// answers, or a WakeAt of its own comes due. Eval must then be a function of what it
// reads: of the passing of time (Now) a sleeper learns by WakeAt only. With
// everything asleep the kernel jumps to the next deadline; with no deadline and
// work left over it reports a Deadlock and who waits on which port.
//
// # Strict mode
//
// Options.Strict evaluates every module every cycle in random order, and faults a
// sleeping one that moves; it checks values against the widths of their types when
// they enter a register, stream, level or RAM; it overwrites slots of streams once
// taken, and checks what a Next or WriteNext left unset by their widths. State,
// outputs, digests and jumps are those of the fast mode; hdltest.Identical demands
// that of any scenario.
//
// # Widths and names
//
// A named integer type has its width in bits from a method Width, and the names of
// its values, as an enum, from String; a bool is one bit, other integers have the
// width of their Go type, [N]byte is 8N bits in order. The hierarchy is that of Go
// fields in snake case: nic_a.wqe_sched.state, rx_0.buf.in.head.psn.
//
// # Several kernels
//
// One kernel runs one host. A World runs several in lock step, in parallel, by
// windows as long as the least latency of the Links between them; the result does
// not depend on how many processors there are.
//
// # What was measured
//
// On a design of 22 modules and 8 FIFOs with 512-bit streams and random stalls
// (bench/kernel, where its figures are) a cycle takes two thirds of the time
// that Verilator takes at full load, 0.06 at 5 % activity. On a ring of 50 modules with 56 bytes of
// registers and 32-byte payload, all active, a cycle costs 11.5 ns a module, 4.5 of
// which are its own Eval; moving 64-byte beats with hardly any registers, 7.8 ns. With
// one module in fifty active it is 31 ns a cycle in all, with one in a thousand 17.
// A step allocates nothing. The ring cost 17.5 ns a module in the plain form: registers
// compared and copied by Go's == and = in a pass of their own, streams generic
// throughout and committed from a list of interfaces. What made the difference:
//
//   - Committing each module right after its Eval: 6 % faster than in a second pass,
//     and possible because Q is private to its module.
//   - Comparing and copying D by words, masked where the type has padding, in the
//     loop itself: 6 % faster than by a call. From 16 words on, bytes.Equal and copy
//     are faster.
//   - Finding what moved by a bit a stream, whose bookkeeping is no generic code, so
//     that the edge makes no call through an interface.
//   - Waking through a word held in a register while it stays the same, instead of
//     read-modify-write in memory: 9 % at full load; both ends of a stream by one
//     mask: another 3 %.
//   - Wrapping a stream's ring by conditional moves. With two places and random stalls
//     a branch is mispredicted every other time: 17 % of the design above.
//   - Loops over 64 modules or streams that call nothing but Eval, so that what they
//     need stays in registers: 6 %.
//   - Put and Take check misuse by a compare and a panic with a one-word value: a
//     call there would keep them from being inlined.
//   - Filling the free slot in place (Next) instead of passing a beat by value
//     (Put): 7.8 against 10.1 ns for 64 bytes.
//
// What made none: waking a module only if what it can see of a stream changed (4 %
// fewer evaluations), unrolling the commit, a loop of its own for modules without
// registers (3 % where most have none), words of RAM copied in a loop, profile-guided
// optimisation, GOAMD64=v3. A third of the design's time at full load is mispredicted
// branches of modules that stall at random: without stalls it does 1.33 times the
// beats in 0.83 of the time.
//
// Strict mode costs 3 times as much, digests 2.7, an observer that does nothing 2.3;
// a thread's sleep and wake 95 ns. The benchmarks of this package repeat these.
package hdl
