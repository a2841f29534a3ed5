package e2e_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestWriteLengths (B090): packets of a WRITE in order that have another length than
// they may. Nothing of the message's wrong packet is written.
func TestWriteLengths(t *testing.T) {
	type packet struct {
		op roce.Opcode
		n  int
	}
	for _, c := range []struct {
		name    string
		length  uint32
		packets []packet
	}{
		{"short first", 3000, []packet{{roce.RCWriteFirst, 1020}}},
		{"long first", 3000, []packet{{roce.RCWriteFirst, 1028}}},
		{"padded first", 3000, []packet{{roce.RCWriteFirst, 1023}}},
		{"first is all", 1024, []packet{{roce.RCWriteFirst, 1024}}},
		{"short middle", 3000, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteMiddle, 1000}}},
		{"long middle", 5000, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteMiddle, 2048}}},
		{"middle is all", 2048, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteMiddle, 1024}}},
		{"empty last", 1025, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteLast, 0}}},
		{"long last", 2100, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteLast, 1076}}},
		{"sum too short", 2000, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteLast, 975}}},
		{"sum too long", 2000, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteLast, 977}}},
		{"last before its time", 3000, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteLast, 1000}}},
		{"long only", 1025, []packet{{roce.RCWriteOnly, 1025}}},
		{"only of less than it says", 8, []packet{{roce.RCWriteOnly, 7}}},
		{"only of more than it says", 7, []packet{{roce.RCWriteOnly, 8}}},
		{"empty only that says more", 8, []packet{{roce.RCWriteOnly, 0}}},
		{"more than 2^31", 1<<31 + 1, []packet{{roce.RCWriteFirst, 1024}}},
		{"all ones", ^uint32(0), []packet{{roce.RCWriteFirst, 1024}}},
		{"a SEND goes on", 3000, []packet{{roce.RCWriteFirst, 1024}, {roce.RCSendMiddle, 1024}}},
		{"another first", 3000, []packet{{roce.RCWriteFirst, 1024}, {roce.RCWriteFirst, 1024}}},
		{"READ between", 3000, []packet{{roce.RCWriteFirst, 1024}, {roce.RCReadRequest, 0}}},
		{"READ of more than 2^31", 1<<31 + 1, []packet{{roce.RCReadRequest, 0}}},
		{"READ with payload", 8, []packet{{roce.RCReadRequest, 8}}},
		{"atomic with payload", 8, []packet{{roce.RCFetchAdd, 8}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
			var ps []roce.Packet
			for i, x := range c.packets {
				q := w.B.Forge(x.op, w.B.FirstPSN().Add(uint32(i)), e2e.Bytes(x.n, 9))
				q.BTH.AckReq = i == len(c.packets)-1
				q.RETH = roce.RETH{VA: w.far.Addr, RKey: uint32(w.far.RKey), Length: c.length}
				q.AtomicETH = roce.AtomicETH{VA: w.far.Addr, RKey: uint32(w.far.RKey), SwapAdd: 1}
				ps = append(ps, q)
			}
			w.s.B.Arrive(ps...)
			answers := w.s.B.Answers(0)
			require.Equal(t, 1, len(answers))
			require.Equal(t, roce.NAKSyndrome(roce.NAKInvalidRequest), answers[0].AETH.Syndrome)
			require.Equal(t, ps[len(ps)-1].BTH.PSN, answers[0].BTH.PSN)
			require.Empty(t, responses(w.s.B))
			if len(ps) > 1 {
				copy(w.b[farAt:], e2e.Bytes(1024, 9))
			}
			w.B.Demand(0, w.b)
			w.B.DemandState(abi.QPErr)
			events := w.s.B.Events()
			require.Equal(t, 1, len(events))
			require.Equal(t, abi.EventQPReqErr, events[0].Type)
		})
	}
}

// TestRightsTogether (B141): an access needs all of its rights, any one is not
// enough, and needs no other.
func TestRightsTogether(t *testing.T) {
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead, abi.OpFetchAdd} {
		for bits := range abi.AccessFlags(16) {
			if bits&^all != 0 || bits&abi.AccessLocalWrite == 0 && bits&(abi.AccessRemoteWrite|abi.AccessRemoteAtomic) != 0 {
				continue
			}
			w := reach(t, driver.QPConfig{}, driver.ConnectOptions{})
			m := region(t, w.s.B, w.s.B.PD, farAt, farSize, bits)
			wr := w.op(1, op, 0, 8)
			wr.RKey = m.RKey
			w.A.Send(wr)
			if bits&right(op) != 0 {
				w.A.Sent(e2e.OK(1)...)
			} else {
				w.A.Sent(e2e.All(abi.StatusRemAccess, 1)...)
				require.Equal(t, abi.EventQPAccessErr, w.s.B.Events()[0].Type)
			}
			w.s.Close()
		}
	}
	require.True(t, slices.Contains([]abi.AccessFlags{1, 2, 4, 8}, abi.AccessRemoteAtomic), "the loop has all rights")
}
