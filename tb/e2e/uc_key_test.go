package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestUCBothKeys: a WRITE of UC whose keys are bad at both ends: the local one counts,
// nothing leaves, the send queue fails alone.
func TestUCBothKeys(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpWriteImm} {
		for _, l := range badKeys(t) {
			t.Run(fmt.Sprintf("%v, %s", op, l.name), func(t *testing.T) {
				w := reachUC(t)
				w.B.Recv(two(w)...)
				wr := w.op(1, op, 0, 0)
				wr.SGEs, wr.Signaled, wr.RKey = l.list(w.s.A), false, wr.RKey^0x40
				w.A.Send(wr, w.op(2, abi.OpSend, 0, 8))
				wcs := w.A.Sent(failed(abi.StatusLocProt)...)
				require.Equal(t, l.vendor, wcs[0].VendorErr)
				w.A.DemandState(abi.QPSQE)
				w.B.DemandState(abi.QPRTS)
				require.Empty(t, w.s.A.Requests(0))
				require.Empty(t, w.s.B.Faults())
				w.s.B.Demand(0, w.b)
			})
		}
	}
}

// TestUCImmediate: WRITE_IMM takes a receive and looks at nothing of it, whatever its
// length; byte_len is what was written.
func TestUCImmediate(t *testing.T) {
	for _, n := range []int{1, 7, 1024, 1025, 5000} {
		w := reachUC(t)
		w.B.Recv(driver.RecvWR{ID: 11, SGEs: []driver.SGE{{Addr: 3, Length: 2, LKey: 0xbad00}}}, w.B.RecvWR(12, 0, 10))
		wr := w.op(1, abi.OpWriteImm, 3, n)
		wr.Imm, wr.RemoteAddr = 0x11223344, wr.RemoteAddr+1
		w.A.Send(wr)
		require.Equal(t, abi.WCWrite, w.A.Sent(e2e.OK(1)...)[0].Opcode)
		wc := w.B.Received(e2e.OK(11)...)[0]
		require.Equal(t, abi.WCRecvWithImm, wc.Opcode)
		require.Equal(t, abi.CQEWithImm, wc.Flags)
		require.EqualValues(t, 0x11223344, wc.Imm)
		require.EqualValues(t, n, wc.ByteLen)
		copy(w.b[farAt+1:], w.a[3:3+n])
		w.s.B.Demand(0, w.b)
		w.s.Close()
	}
}

// TestAttributesOfTypes (B005, B055, B085): values that an attribute can't have, in the
// transition of each type that needs it. It is refused, and nothing has changed.
func TestAttributesOfTypes(t *testing.T) {
	type row struct {
		name  string
		attr  abi.QPAttr
		spoil func(a *driver.QPAttr)
	}
	rows := []row{
		{"port 0", abi.AttrPort, func(a *driver.QPAttr) { a.Port = 0 }},
		{"port 2", abi.AttrPort, func(a *driver.QPAttr) { a.Port = 2 }},
		{"P_Key of index 1", abi.AttrPKeyIndex, func(a *driver.QPAttr) { a.PKeyIndex = 1 }},
		{"rights that there are not", abi.AttrAccessFlags, func(a *driver.QPAttr) { a.Access = 0x80 }},
		{"path_mtu 0", abi.AttrPathMTU, func(a *driver.QPAttr) { a.PathMTU = 0 }},
		{"path_mtu 6", abi.AttrPathMTU, func(a *driver.QPAttr) { a.PathMTU = 6 }},
		{"path_mtu above the port's", abi.AttrPathMTU, func(a *driver.QPAttr) { a.PathMTU = abi.MTU4096 }},
		{"dest_qpn of 25 bits", abi.AttrDestQPN, func(a *driver.QPAttr) { a.DestQPN |= 1 << 24 }},
		{"rq_psn of 25 bits", abi.AttrRQPSN, func(a *driver.QPAttr) { a.RQPSN |= 1 << 24 }},
		{"sq_psn of 25 bits", abi.AttrSQPSN, func(a *driver.QPAttr) { a.SQPSN |= 1 << 24 }},
		{"min_rnr_timer 32", abi.AttrMinRNRTimer, func(a *driver.QPAttr) { a.MinRNRTimer = 32 }},
		{"timeout 32", abi.AttrTimeout, func(a *driver.QPAttr) { a.Timeout = 32 }},
		{"retry_cnt 8", abi.AttrRetryCnt, func(a *driver.QPAttr) { a.RetryCnt = 8 }},
		{"rnr_retry 8", abi.AttrRNRRetry, func(a *driver.QPAttr) { a.RNRRetry = 8 }},
		{"max_rd_atomic 17", abi.AttrMaxRdAtomic, func(a *driver.QPAttr) { a.MaxRdAtomic = 17 }},
		{"max_dest_rd_atomic 17", abi.AttrMaxDestRdAtomic, func(a *driver.QPAttr) { a.MaxDestRdAtomic = 17 }},
		{"no address", abi.AttrAV, func(a *driver.QPAttr) { a.AV.DGID = [16]byte{} }},
		{"GID that there is not", abi.AttrAV, func(a *driver.QPAttr) { a.AV.SGIDIndex = 9 }},
		{"address of the other family", abi.AttrAV, func(a *driver.QPAttr) { a.AV.SGIDIndex = 0 }},
		{"port of no entropy", abi.AttrAV, func(a *driver.QPAttr) { a.AV.UDPSPort = 4791 }},
	}
	for _, typ := range fourTypes {
		t.Run(typ.String(), func(t *testing.T) {
			o := quick
			o.Driver.MTU = abi.MTU1024
			s := e2e.New(t, o)
			w := newWalker(t, s, typ, nil)
			tried := map[string]bool{}
			for _, x := range qpTransitions[typ] {
				if x.from == abi.QPSQE {
					continue
				}
				w.bring(x.from)
				for _, r := range rows {
					if (x.required|x.also)&r.attr == 0 {
						continue
					}
					good := w.attr
					r.spoil(&w.attr)
					w.refused(x.from, x.to, abi.AttrState|x.required|r.attr)
					w.attr = good
					tried[r.name] = true
				}
				require.NoError(t, w.modify(x.from, x.to, abi.AttrState|x.required), "and without them it goes")
			}
			require.Len(t, tried, map[abi.QPType]int{abi.QPTypeRC: len(rows), abi.QPTypeUC: 14, abi.QPTypeUD: 4, abi.QPTypeRaw: 2}[typ])
		})
	}
}
