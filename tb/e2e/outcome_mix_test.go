package e2e_test

import (
	"fmt"
	"testing"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// ahead is a good operation in front of one that fails, and what it does.
type ahead struct {
	name   string
	takes  bool // a receive
	wr     func(w *world) driver.SendWR
	effect func(w *world)
}

var aheads = []ahead{
	{"SEND", true, func(w *world) driver.SendWR { return w.op(1, abi.OpSend, 0, 100) },
		func(w *world) { copy(w.b, w.a[:100]) }},
	{"long SEND", true, func(w *world) driver.SendWR { return w.op(1, abi.OpSend, 0, 3000) },
		func(w *world) { copy(w.b, w.a[:3000]) }},
	{"SEND_INV", true, func(w *world) driver.SendWR {
		wr := w.op(1, abi.OpSendInv, 0, 100)
		wr.Imm = uint32(region(w.t, w.s.B, w.s.B.PD, 0, 8, all).RKey)
		return wr
	}, func(w *world) { copy(w.b, w.a[:100]) }},
	{"WRITE", false, func(w *world) driver.SendWR { return w.op(1, abi.OpWrite, 0, 3000) },
		func(w *world) { copy(w.b[farAt:], w.a[:3000]) }},
	{"WRITE_IMM", true, func(w *world) driver.SendWR { return w.op(1, abi.OpWriteImm, 0, 3000) },
		func(w *world) { copy(w.b[farAt:], w.a[:3000]) }},
	{"READ", false, func(w *world) driver.SendWR { return w.op(1, abi.OpRead, 20_000, 100) },
		func(w *world) { copy(w.a[20_000:], w.b[farAt:farAt+100]) }},
	{"long READ", false, func(w *world) driver.SendWR { return w.op(1, abi.OpRead, 20_000, farSize) },
		func(w *world) { copy(w.a[20_000:], w.b[farAt:farAt+farSize]) }},
	{"FETCH_ADD", false, func(w *world) driver.SendWR {
		wr := w.op(1, abi.OpFetchAdd, 20_000, 8)
		wr.SwapAdd = 5
		return wr
	}, func(w *world) {
		copy(w.a[20_000:20_008], w.b[farAt:])
		add(w.b[farAt:], 5)
	}},
}

// fault is an operation that fails, as work request 2.
type fault struct {
	name   string
	wr     func(w *world) driver.SendWR
	sent   abi.WCStatus
	vendor abi.VendorErr
	b      abi.WCStatus // of the receive that it takes; SUCCESS: it takes none
	bErr   bool
	event  abi.EventType
}

// bad is a work request 2 with another key at the peer.
func bad(op abi.WQEOp, n int, remote bool) func(w *world) driver.SendWR {
	return func(w *world) driver.SendWR {
		wr := w.op(2, op, 40_000, n)
		if remote {
			wr.RKey ^= 0x20
		} else {
			wr.SGEs[0].LKey ^= 0x20
		}
		wr.Signaled = false
		return wr
	}
}

var faults = []fault{
	{"WRITE, remote key", bad(abi.OpWrite, 3000, true), abi.StatusRemAccess, abi.VendorNAKAccess, 0, true, abi.EventQPAccessErr},
	{"READ, remote key", bad(abi.OpRead, 3000, true), abi.StatusRemAccess, abi.VendorNAKAccess, 0, true, abi.EventQPAccessErr},
	{"FETCH_ADD, remote key", bad(abi.OpFetchAdd, 8, true), abi.StatusRemAccess, abi.VendorNAKAccess, 0, true, abi.EventQPAccessErr},
	{"WRITE_IMM, remote key", bad(abi.OpWriteImm, 8, true), abi.StatusRemAccess, abi.VendorNAKAccess, abi.StatusLocAccess, true, 0},
	{"WRITE, local key", bad(abi.OpWrite, 3000, false), abi.StatusLocProt, abi.VendorLKeyUnknown, 0, false, 0},
	{"READ, local key", bad(abi.OpRead, 3000, false), abi.StatusLocProt, abi.VendorLKeyUnknown, 0, false, 0},
	{"COMPARE_SWAP, local key", bad(abi.OpCompareSwap, 8, false), abi.StatusLocProt, abi.VendorLKeyUnknown, 0, false, 0},
	{"FETCH_ADD of 9 bytes", bad(abi.OpFetchAdd, 9, false), abi.StatusLocLen, abi.VendorWQELength, 0, false, 0},
	{"misaligned", func(w *world) driver.SendWR {
		wr := w.op(2, abi.OpFetchAdd, 40_000, 8)
		wr.RemoteAddr++
		return wr
	}, abi.StatusRemInvReq, abi.VendorNAKInvalid, 0, true, abi.EventQPReqErr},
	{"SEND too long", func(w *world) driver.SendWR { return w.op(2, abi.OpSend, 40_000, 4097) },
		abi.StatusRemInvReq, abi.VendorNAKInvalid, abi.StatusLocLen, true, 0},
}

// TestOutcomesBehind: each fault behind each operation that goes well, all posted at
// once: that one is done, with all its effects, then the fault, then flushes; and the
// READ behind it writes nothing.
func TestOutcomesBehind(t *testing.T) {
	var rows []outcome
	for _, g := range aheads {
		for _, f := range faults {
			o := outcome{
				name:  g.name + ", then " + f.name,
				recvs: func(w *world) []driver.RecvWR { return w.B.Recvs(0, 4096, 11, 12, 13) },
				sends: func(w *world) []driver.SendWR {
					return []driver.SendWR{g.wr(w), f.wr(w), w.op(3, abi.OpRead, 50_000, 1000), w.op(4, abi.OpSend, 0, 10)}
				},
				sent: then(e2e.OK(1), e2e.All(f.sent, 2), e2e.Flushed(3, 4)), vendor: f.vendor, aErr: true,
				bErr: f.bErr, event: f.event,
			}
			id := uint64(11)
			if g.takes {
				o.received = e2e.OK(id)
				id++
			}
			from := 4096 * int(id-11)
			if f.b != abi.StatusSuccess {
				o.received = then(o.received, e2e.All(f.b, id))
				id++
			}
			for ; f.bErr && id <= 13; id++ {
				o.received = then(o.received, e2e.Flushed(id))
			}
			o.effect = func(w *world) {
				g.effect(w)
				if f.b == abi.StatusLocLen {
					copy(w.b[from:], w.a[40_000:40_000+4096])
				}
			}
			if !f.bErr { // the SEND behind may have arrived
				o.recvs = func(w *world) []driver.RecvWR { return w.B.Recvs(0, 4096, 11) }
				o.sends = func(w *world) []driver.SendWR {
					return []driver.SendWR{g.wr(w), f.wr(w), w.op(3, abi.OpRead, 50_000, 1000), w.op(4, abi.OpRead, 60_000, 8)}
				}
			}
			rows = append(rows, o)
		}
	}
	outcomes(t, rows)
}

// TestOutcomesTooLong: more than 2^31 bytes in all, with keys that are good or not.
func TestOutcomesTooLong(t *testing.T) {
	var rows []outcome
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendInv, abi.OpWrite, abi.OpWriteImm, abi.OpRead} {
		for _, lengths := range [][]uint32{{1 << 31, 1}, {1<<31 + 1}, {^uint32(0)}, {^uint32(0), ^uint32(0), 2}, {1 << 31, 1 << 31}} {
			rows = append(rows, outcome{
				name:  fmt.Sprintf("%v of %v bytes", op, lengths),
				recvs: two,
				sends: func(w *world) []driver.SendWR {
					wr := w.op(1, op, 0, 0)
					wr.SGEs = nil
					for _, n := range lengths {
						wr.SGEs = append(wr.SGEs, driver.SGE{Addr: w.A.MR.Addr, Length: n, LKey: w.A.MR.LKey})
					}
					return []driver.SendWR{wr, w.op(2, abi.OpWrite, 0, 8)}
				},
				sent: failed(abi.StatusLocLen), vendor: abi.VendorWQELength, aErr: true,
			})
		}
	}
	outcomes(t, rows)
}
