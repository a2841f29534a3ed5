package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/e2e"
)

// TestFatalRequests (B018, B090): packets in order that may not be. Each is
// answered by NAK invalid request with its PSN, ends the QP, and the receive that
// its message holds; without one, an event tells.
func TestFatalRequests(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	full := e2e.Bytes(1024, 1)
	type packet struct {
		op   roce.Opcode
		data []byte
	}
	first := packet{roce.RCSendFirst, full}
	for _, c := range []struct {
		name    string
		packets []packet // the last one is the wrong one
		vendor  abi.VendorErr
		holds   bool // a receive
	}{
		{"middle of nothing", []packet{{roce.RCSendMiddle, full}}, abi.VendorRecvSequence, false},
		{"last of nothing", []packet{{roce.RCSendLast, full}}, abi.VendorRecvSequence, false},
		{"last with immediate of nothing", []packet{{roce.RCSendLastImm, full}}, abi.VendorRecvSequence, false},
		{"middle behind only", []packet{{roce.RCSendOnly, full}, {roce.RCSendMiddle, full}}, abi.VendorRecvSequence, false},
		{"only in a message", []packet{first, {roce.RCSendOnly, full}}, abi.VendorRecvSequence, true},
		{"first in a message", []packet{first, first}, abi.VendorRecvSequence, true},
		{"WRITE middle in a SEND", []packet{first, {roce.RCWriteMiddle, full}}, abi.VendorRecvSequence, true},
		{"WRITE last in a SEND", []packet{first, {roce.RCWriteLast, full}}, abi.VendorRecvSequence, true},
		{"READ in a SEND", []packet{first, {roce.RCReadRequest, nil}}, abi.VendorRecvSequence, true},
		{"short first", []packet{{roce.RCSendFirst, full[:1020]}}, abi.VendorRecvLength, true},
		{"padded first", []packet{{roce.RCSendFirst, full[:1023]}}, abi.VendorRecvLength, true},
		{"empty first", []packet{{roce.RCSendFirst, nil}}, abi.VendorRecvLength, true},
		{"long first", []packet{{roce.RCSendFirst, e2e.Bytes(1028, 1)}}, abi.VendorRecvLength, true},
		{"short middle", []packet{first, {roce.RCSendMiddle, full[:4]}}, abi.VendorRecvLength, true},
		{"long middle", []packet{first, {roce.RCSendMiddle, e2e.Bytes(2048, 1)}}, abi.VendorRecvLength, true},
		{"empty last", []packet{first, {roce.RCSendLast, nil}}, abi.VendorRecvLength, true},
		{"long last", []packet{first, {roce.RCSendLast, e2e.Bytes(1025, 1)}}, abi.VendorRecvLength, true},
		{"long only", []packet{{roce.RCSendOnly, e2e.Bytes(1025, 1)}}, abi.VendorRecvLength, true},
		{"longest only", []packet{{roce.RCSendOnlyImm, e2e.Bytes(4096, 1)}}, abi.VendorRecvLength, true},
		{"last with invalidate of nothing", []packet{{roce.RCSendLastInv, full}}, abi.VendorRecvSequence, false},
		{"WRITE of more than it says", []packet{{roce.RCWriteOnly, full}}, abi.VendorRecvLength, false},
		{"WRITE first of more than it says", []packet{{roce.RCWriteFirst, full}}, abi.VendorRecvLength, false},
		{"WRITE with immediate of more than it says", []packet{{roce.RCWriteOnlyImm, full}}, abi.VendorRecvLength, true},
		{"WRITE middle of nothing", []packet{{roce.RCWriteMiddle, full}}, abi.VendorRecvSequence, false},
		{"reserved 0x15", []packet{{0x15, full}}, abi.VendorRecvOp, false},
		{"reserved 0x18", []packet{{0x18, nil}}, abi.VendorRecvOp, false},
		{"reserved 0x1f", []packet{{0x1f, full[:7]}}, abi.VendorRecvOp, false},
		{"reserved in a SEND", []packet{first, {0x1f, full}}, abi.VendorRecvOp, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ca := driver.QPConfig{MaxSend: 4, MaxRecv: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
			p := s.Join(s.A.QP(ca), s.B.QP(ca), driver.ConnectOptions{})
			p.B.Fill(0, 8192, 2)
			p.B.Recv(p.B.RecvWR(10, 0, 4096), p.B.RecvWR(11, 4096, 2048), p.B.RecvWR(12, 6144, 2048))
			from, before, other := len(s.B.Seen), s.B.Faults(), s.A.Faults()
			var ps []roce.Packet
			for i, x := range c.packets {
				q := p.B.Forge(x.op, p.B.FirstPSN().Add(uint32(i)), x.data)
				q.BTH.AckReq = i == len(c.packets)-1
				ps = append(ps, q)
			}
			behind := p.B.Forge(roce.RCSendOnly, p.B.FirstPSN().Add(uint32(len(ps))), full)
			s.B.Arrive(append(ps, behind)...)

			want, msn := []e2e.Done{}, 0
			if c.packets[0].op == roce.RCSendOnly && len(c.packets) > 1 {
				want, msn = e2e.OK(10), 1
			}
			if c.holds {
				want = append(want, e2e.Done{ID: 10, Status: abi.StatusLocQPOp})
			}
			for i := len(want); i < 3; i++ {
				want = append(want, e2e.Flushed(uint64(10+i))...)
			}
			wcs := p.B.Received(want...)
			if c.holds {
				require.Equal(t, c.vendor, wcs[0].VendorErr)
			}
			answers := s.B.Answers(from)
			require.Equal(t, 1, len(answers))
			require.Equal(t, roce.NAKSyndrome(roce.NAKInvalidRequest), answers[0].AETH.Syndrome)
			require.Equal(t, ps[len(ps)-1].BTH.PSN, answers[0].BTH.PSN)
			require.EqualValues(t, msn, answers[0].AETH.MSN)

			events := s.B.Events()
			if c.holds {
				require.Empty(t, events)
			} else {
				require.Equal(t, 1, len(events))
				require.Equal(t, abi.EventQPReqErr, events[0].Type)
				require.Equal(t, p.B.QP.Number(), events[0].Number)
				require.EqualValues(t, c.vendor, events[0].Syndrome)
			}
			errors := uint64(0)
			for _, w := range want {
				if w.Status != abi.StatusSuccess {
					errors++
				}
			}
			require.Equal(t, e2e.Faults{
				abi.RespRemoteInvalidRequest: 1, abi.NaksSent: 1, abi.RespCQEError: errors, abi.RxDropBadState: 1,
			}, s.B.Faults().Since(before))
			require.Equal(t, e2e.Faults{abi.RxDropOther: 1}, s.A.Faults().Since(other), "a NAK of what it has not sent")
			p.B.DemandState(abi.QPErr)
			p.A.DemandState(abi.QPRTS)
			m := p.B.Query()
			require.Equal(t, c.vendor, m.LastVendor)
			p.B.Demand(4096, e2e.Bytes(8192, 2)[4096:])
			p.B.Send(p.B.SendWR(1, 0, 8)) // the send queue has failed with it
			p.B.Sent(e2e.Flushed(1)...)
		})
	}
}
