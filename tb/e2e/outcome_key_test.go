package e2e_test

import (
	"fmt"
	"testing"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// target is a remote address and key that B must refuse.
type target struct {
	name string
	of   func(w *world, op abi.WQEOp, n uint64) (va uint64, key abi.Key)
}

// right is what an operation needs of a region.
func right(op abi.WQEOp) abi.AccessFlags {
	switch op {
	case abi.OpRead:
		return abi.AccessRemoteRead
	case abi.OpCompareSwap, abi.OpFetchAdd:
		return abi.AccessRemoteAtomic
	}
	return abi.AccessRemoteWrite
}

var badTargets = []target{
	{"key of no region", func(w *world, _ abi.WQEOp, _ uint64) (uint64, abi.Key) { return w.far.Addr, 0x77700 }},
	{"key beyond the table", func(w *world, _ abi.WQEOp, _ uint64) (uint64, abi.Key) { return w.far.Addr, 0xffffff00 }},
	{"other low byte", func(w *world, _ abi.WQEOp, _ uint64) (uint64, abi.Key) { return w.far.Addr, w.far.RKey ^ 0x40 }},
	{"another domain's region", func(w *world, _ abi.WQEOp, _ uint64) (uint64, abi.Key) {
		m := region(w.t, w.s.B, otherPD(w.t, w.s.B), farAt, farSize, all)
		return m.Addr, m.RKey
	}},
	{"deregistered", func(w *world, _ abi.WQEOp, _ uint64) (uint64, abi.Key) {
		m := region(w.t, w.s.B, w.s.B.PD, farAt, farSize, all)
		w.s.B.Do(func() { _ = m.Dereg() })
		return m.Addr, m.RKey
	}},
	{"too far", func(w *world, _ abi.WQEOp, n uint64) (uint64, abi.Key) {
		return (w.far.Addr + farSize - n + 8) &^ 7, w.far.RKey
	}},
	{"too early", func(w *world, _ abi.WQEOp, _ uint64) (uint64, abi.Key) { return w.far.Addr - 8, w.far.RKey }},
	{"up to the end of addresses", func(w *world, _ abi.WQEOp, n uint64) (uint64, abi.Key) { return -n &^ 7, w.far.RKey }},
	{"round the end of addresses", func(w *world, _ abi.WQEOp, _ uint64) (uint64, abi.Key) {
		return ^uint64(7), w.far.RKey
	}},
	{"no permission", func(w *world, op abi.WQEOp, _ uint64) (uint64, abi.Key) {
		m := region(w.t, w.s.B, w.s.B.PD, farAt, farSize, all&^right(op))
		return m.Addr, m.RKey
	}},
	{"no permission but local write", func(w *world, _ abi.WQEOp, _ uint64) (uint64, abi.Key) {
		m := region(w.t, w.s.B, w.s.B.PD, farAt, farSize, abi.AccessLocalWrite)
		return m.Addr, m.RKey
	}},
}

// aim has a work request go to a target, unsignalled.
func aim(w *world, wr driver.SendWR, x target) driver.SendWR {
	n := uint64(0)
	for _, s := range wr.SGEs {
		n += uint64(s.Length)
	}
	wr.RemoteAddr, wr.RKey = x.of(w, wr.Op, n)
	wr.Signaled = false
	return wr
}

// TestOutcomesRemoteKey (B026, B139, B141, B147): addresses and keys that the
// peer must not reach. Both QPs fail, nothing changes, and an event tells where no
// receive can. The work requests are unsignalled: errors complete anyway.
func TestOutcomesRemoteKey(t *testing.T) {
	var rows []outcome
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd} {
		for i, x := range badTargets {
			n := [...]int{1000, 1, 3000}[i%3]
			if op >= abi.OpCompareSwap {
				n = 8
			}
			if x.name == "round the end of addresses" && n == 1 {
				n = 1000
			}
			o := outcome{
				name:  fmt.Sprintf("%v, %s", op, x.name),
				recvs: two,
				sends: func(w *world) []driver.SendWR {
					return []driver.SendWR{aim(w, w.op(1, op, 0, n), x), w.op(2, abi.OpSend, 0, 8)}
				},
				sent: failed(abi.StatusRemAccess), vendor: abi.VendorNAKAccess, aErr: true, bErr: true,
				received: e2e.Flushed(11, 12), event: abi.EventQPAccessErr,
			}
			if op == abi.OpWriteImm && n <= 1024 { // the packet that takes the receive is the bad one
				o.received, o.event = then(e2e.All(abi.StatusLocAccess, 11), e2e.Flushed(12)), 0
			}
			rows = append(rows, o)
		}
	}
	outcomes(t, rows)
}

// TestOutcomesLocalKey (B065): gather and scatter lists that A must refuse.
func TestOutcomesLocalKey(t *testing.T) {
	lists := append(badKeys(t), sges{"no local write", func(d *e2e.Side) []driver.SGE {
		m := region(t, d, d.PD, 0, 4096, 0)
		return []driver.SGE{m.SGE(0, 1000)}
	}, abi.VendorLKeyAccess})
	var rows []outcome
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpSendInv, abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd} {
		atomic := op >= abi.OpCompareSwap
		for _, l := range lists {
			if l.name == "no local write" && op < abi.OpRead || atomic && (l.name == "second element" || l.name == "one byte too early") {
				continue
			}
			o := outcome{
				name:  fmt.Sprintf("%v, %s", op, l.name),
				recvs: two,
				sends: func(w *world) []driver.SendWR {
					wr := w.op(1, op, 0, 0)
					wr.SGEs, wr.Signaled = l.list(w.s.A), false
					if atomic { // the last 8 of its bytes
						g := &wr.SGEs[0]
						g.Addr, g.Length = g.Addr+uint64(g.Length)-8, 8
						wr.SwapAdd, wr.Compare = 7, 1
					}
					return []driver.SendWR{wr, w.op(2, abi.OpWrite, 0, 8)}
				},
				sent: failed(abi.StatusLocProt), vendor: l.vendor, aErr: true,
			}
			if op == abi.OpRead || atomic { // the key is looked at when the answer is there
				o.sends = alone(o.sends)
				o.sent = e2e.All(abi.StatusLocProt, 1)
			}
			if op == abi.OpFetchAdd {
				o.effect = func(w *world) { add(w.b[farAt:], 7) }
			}
			rows = append(rows, o)
			if op < abi.OpWrite || op == abi.OpWriteImm {
				continue
			}
			both := o // and a bad key at B
			both.name += ", and remote key"
			both.effect = nil
			both.sends = func(w *world) []driver.SendWR {
				wrs := o.sends(w)
				wrs[0].RKey ^= 0x40
				return wrs
			}
			if op != abi.OpWrite { // remote first
				both.sent, both.vendor, both.bErr, both.received = e2e.All(abi.StatusRemAccess, 1), abi.VendorNAKAccess, true, e2e.Flushed(11, 12)
				both.event = abi.EventQPAccessErr
			}
			rows = append(rows, both)
		}
	}
	outcomes(t, rows)
}

// alone is the first of the work requests.
func alone(f func(w *world) []driver.SendWR) func(w *world) []driver.SendWR {
	return func(w *world) []driver.SendWR { return f(w)[:1] }
}

// TestOutcomesReceive: the receive is too short, or not to be written. Both QPs
// fail; what the completion tells, no event does.
func TestOutcomesReceive(t *testing.T) {
	var rows []outcome
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpSendInv} {
		for _, l := range badKeys(t) {
			rows = append(rows, outcome{
				name: fmt.Sprintf("%v, %s", op, l.name),
				recvs: func(w *world) []driver.RecvWR {
					return []driver.RecvWR{{ID: 11, SGEs: l.list(w.s.B)}, w.B.RecvWR(12, 0, 4096)}
				},
				sends: func(w *world) []driver.SendWR {
					wr := w.op(1, op, 0, 1000)
					wr.Signaled, wr.Imm = false, uint32(w.far.RKey)
					return []driver.SendWR{wr, w.op(2, abi.OpSend, 0, 8)}
				},
				sent: failed(abi.StatusRemOp), vendor: abi.VendorNAKOperational, aErr: true, bErr: true,
				received: then(e2e.All(abi.StatusLocProt, 11), e2e.Flushed(12)),
				more: func(w *world, _, _ []driver.WC) { // the key of SEND_INV is still good
					w.again(w.op(3, abi.OpRead, 0, 8))
				},
			})
		}
		for _, n := range []int{4097, 5000, 9000} {
			rows = append(rows, outcome{
				name:  fmt.Sprintf("%v of %d bytes, too long", op, n),
				recvs: two,
				sends: func(w *world) []driver.SendWR {
					wr := w.op(1, op, 0, n)
					wr.Signaled, wr.Imm = false, uint32(w.far.RKey)
					return []driver.SendWR{wr, w.op(2, abi.OpSend, 0, 8)}
				},
				sent: failed(abi.StatusRemInvReq), vendor: abi.VendorNAKInvalid, aErr: true, bErr: true,
				received: then(e2e.All(abi.StatusLocLen, 11), e2e.Flushed(12)),
				effect:   func(w *world) { copy(w.b, w.a[:4096]) },
			})
		}
	}
	outcomes(t, rows)
}
