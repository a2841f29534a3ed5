package random_test

import (
	"rnic/abi"
	"rnic/tb/random"
)

// operation notes what a message does.
func operation(note func(string, bool), m *random.Message, p *random.Pair) {
	n := len(m.Data)
	for op := abi.OpSend; op <= abi.OpNop; op++ {
		switch op {
		case abi.OpLocalInv, abi.OpBindMW, abi.OpFastReg:
			continue
		}
		note(op.String(), m.Op == op)
		note("fenced "+op.String(), m.Op == op && m.Fence)
	}
	note("READ of nothing", m.Op == abi.OpRead && n == 0)
	note("WRITE of nothing", m.Op == abi.OpWrite && n == 0)
	note("WRITE_IMM of nothing", m.Op == abi.OpWriteImm && n == 0)
	note("inline WRITE", m.Op == abi.OpWrite && m.Inline)
	note("READ to 16 SGEs", m.Op == abi.OpRead && len(m.Src) == 16)
	note("long READ", m.Op == abi.OpRead && n > 20_000)
	note("unsignalled READ", m.Op == abi.OpRead && !m.Completes)
	note("addition to a shared word", m.Shared)
	note("addition to a private word", m.Op == abi.OpFetchAdd && !m.Shared)
	for _, e := range p.Ends {
		note("no READs", e.RdAtomic == 0)
		note("one READ at a time", e.RdAtomic == 1)
		note("16 READs at a time", e.RdAtomic == 16)
		note("peer takes no more", e.DestRdAtomic < 16)
	}
}
