package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// The answer to a READ request for the rest starts with first or only, or goes on as
// the one before would have.
func TestPartialREAD(t *testing.T) {
	for _, base := range bases {
		at := func(n uint32) roce.PSN { return base.Add(n) }
		lost := func() *Context { // the response 2 of 0 to 4
			x := flying(base, 5, 7)
			x.post(&port.ReadPost{Op: abi.OpRead, UnitIdx: 3, FirstPSN: base, LastPSN: at(4), Len: 5000})
			x.judge(answerOf(roce.RCReadRespFirst, base, 1024))
			x.judge(answerOf(roce.RCReadRespMiddle, at(1), 1024))
			v, _ := x.judge(answerOf(roce.RCReadRespMiddle, at(3), 1024))
			require.Equal(t, rewindAt(at(2), 1), v.Event)
			x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 1, Any: true, Oldest: 3, First: base, Last: at(4)})
			got := x.get(&port.SQGet{Packets: 16}, &env)
			require.Equal(t, []any{uint16(3), uint32(2048), at(2)}, []any{got.ExecIdx, got.Offset, got.NextPSN})
			x.put(&port.SQPut{ExecIdx: 5, NextPSN: at(5), Entered: 5, EnteredPSN: at(5)})
			return x
		}
		for _, run := range [][3]roce.Opcode{
			{roce.RCReadRespFirst, roce.RCReadRespMiddle, roce.RCReadRespLast},
			{roce.RCReadRespMiddle, roce.RCReadRespMiddle, roce.RCReadRespLast},
		} {
			x := lost()
			for i, op := range run {
				size := uint16(1024)
				if i == 2 {
					size = 5000 - 4096
				}
				v, _ := x.judge(answerOf(op, at(uint32(2+i)), size))
				require.Equal(t, port.RxPlace, v.Action, "%v", op)
				require.Equal(t, uint32(2+i)*1024, v.Offset)
			}
			require.Equal(t, x.Requester.Posted, x.Requester.Answered)
			require.Equal(t, at(5), x.Requester.Una)
		}
		x := lost()
		x.judge(answerOf(roce.RCReadRespMiddle, at(2), 1024))
		v, _ := x.judge(answerOf(roce.RCReadRespFirst, at(3), 1024))
		require.Equal(t, abi.StatusBadResp, v.Event.Status, "no other place")
		x = lost()
		ignored(t, x, answerOf(roce.RCReadRespFirst, base, 1024), "a response that was taken")

		// The last one alone.
		x = lost()
		x.judge(answerOf(roce.RCReadRespMiddle, at(2), 1024))
		x.judge(answerOf(roce.RCReadRespMiddle, at(3), 1024))
		x.retire(&port.Retire{Kind: port.RetireTimeout, Una: at(4)})
		x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 2, Any: true, Oldest: 3, First: base, Last: at(4)})
		x.again()
		v, _ = x.judge(answerOf(roce.RCReadRespOnly, at(4), 904))
		require.Equal(t, port.RxPlace, v.Action)
		require.True(t, v.SQ.Last)

		// From the beginning: it starts with first.
		x = flying(base, 5, 7)
		x.post(&port.ReadPost{Op: abi.OpRead, FirstPSN: base, LastPSN: at(4), Len: 5000})
		x.judge(answerOf(roce.RCReadRespMiddle, at(1), 1024))
		x.retire(&port.Retire{Kind: port.RetireRewind, Gen: 1, Any: true, First: base, Last: at(4)})
		x.again()
		v, _ = x.judge(answerOf(roce.RCReadRespMiddle, base, 1024))
		require.Equal(t, abi.StatusBadResp, v.Event.Status)
	}
}
