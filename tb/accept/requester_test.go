package accept_test

import (
	"testing"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/accept"
)

const (
	first  = roce.RCSendFirst
	middle = roce.RCSendMiddle
	last   = roce.RCSendLast
	only   = roce.RCSendOnly
	ackOp  = roce.RCAck
)

// three is a SEND of three packets: 0xfffffe, 0xffffff, 0.
func (s *script) three() *script {
	return s.post(1, abi.OpSend, 1100).sends(first, 0xfffffe, 512).sends(middle, 0xffffff, 0, data(512, 512)).sends(last, 0, 0, data(1024, 76))
}

func (s *script) free() *script { // an unsolicited ACK lifts the limit of credits
	return s.gets(ackOp, 0xfffffd, 0, ok(0))
}

func unsignaled(w *accept.SendWR) { w.Signaled = false }

func TestRequests(t *testing.T) {
	demand(t, []rule{
		{"a message over the end of the PSNs", "", func(s *script) {
			s.three().gets(ackOp, 0, 0, ok(1)).completes(1, 0, abi.WCSend, 0).settles()
		}, nil},
		{"PSN left out", "PSNs are consecutive", func(s *script) {
			s.post(1, abi.OpSend, 1100).sends(first, 0xfffffe, 512).sends(last, 0, 0, data(1024, 76))
		}, nil},
		{"nothing posted", "nothing is posted", func(s *script) { s.sends(only, 0xfffffe, 5) }, nil},
		{"one more than posted", "nothing is posted", func(s *script) { s.free().post(1, abi.OpSend, 5).sends(only, 0xfffffe, 5).sends(only, 0xffffff, 5) }, nil},
		{"wrong byte", "byte 512 of work request 0x1 is wrong", func(s *script) {
			s.post(1, abi.OpSend, 1100).sends(first, 0xfffffe, 512).sends(middle, 0xffffff, 512)
		}, nil},
		{"short", "with 500 bytes, due 512", func(s *script) { s.post(1, abi.OpSend, 1100).sends(first, 0xfffffe, 500) }, nil},
		{"wrong opcode", "RC_SEND_ONLY is due", func(s *script) { s.post(1, abi.OpSend, 5).sends(roce.RCWriteOnly, 0xfffffe, 5, reth(0x5000, 0x77, 5)) }, nil},
		{"wrong RETH", "posted 0x5000 by 0x77", func(s *script) { s.post(1, abi.OpWrite, 5).sends(roce.RCWriteOnly, 0xfffffe, 5, reth(0x5001, 0x77, 5)) }, nil},
		{"wrong immediate", "immediate", func(s *script) {
			s.post(1, abi.OpSendImm, 5).sends(roce.RCSendOnlyImm, 0xfffffe, 5, func(p *roce.Packet) { p.Imm.Imm++ })
		}, nil},
		{"wrong operand", "posted", func(s *script) {
			s.post(1, abi.OpFetchAdd, 8).sends(roce.RCFetchAdd, 0xfffffe, 0, func(p *roce.Packet) { p.AtomicETH = roce.AtomicETH{VA: 0x5000, RKey: 0x77, SwapAdd: 4} })
		}, nil},
		{"no AckReq", "without AckReq", func(s *script) {
			s.post(1, abi.OpSend, 5).sends(only, 0xfffffe, 5, func(p *roce.Packet) { p.BTH.AckReq = false })
		}, nil},
		{"SE not asked for", "SE true", func(s *script) {
			s.post(1, abi.OpSend, 5).sends(only, 0xfffffe, 5, func(p *roce.Packet) { p.BTH.SE = true })
		}, nil},
		{"AckReq more often", "", func(s *script) {
			s.post(1, abi.OpSend, 600).sends(first, 0xfffffe, 512, func(p *roce.Packet) { p.BTH.AckReq = true })
		}, nil},
		{"pad that is not 0", "pad", func(s *script) {
			s.post(1, abi.OpSend, 5).sends(only, 0xfffffe, 5, func(p *roce.Packet) { p.Pad[1] = 1 })
		}, nil},
		{"depth", "more than 2 READs", func(s *script) {
			for i := range 3 {
				s.post(uint64(i), abi.OpRead, 8).sends(roce.RCReadRequest, roce.PSN(0xfffffe).Add(uint32(i)), 0, reth(0x5000, 0x77, 8))
			}
		}, nil},
		{"depth again free", "", func(s *script) {
			for i := range 3 {
				psn := roce.PSN(0xfffffe).Add(uint32(i))
				s.post(uint64(i), abi.OpRead, 8).sends(roce.RCReadRequest, psn, 0, reth(0x5000, 0x77, 8))
				s.gets(roce.RCReadRespOnly, psn, 8, ok(roce.MSN(i+1)))
			}
		}, nil},
		{"fence", "a fenced work request passes 1", func(s *script) {
			s.free().post(1, abi.OpRead, 8).post(2, abi.OpSend, 5, func(w *accept.SendWR) { w.Fence = true })
			s.sends(roce.RCReadRequest, 0xfffffe, 0, reth(0x5000, 0x77, 8)).sends(only, 0xffffff, 5)
		}, nil},
		{"fence kept", "", func(s *script) {
			s.free().post(1, abi.OpRead, 8).post(2, abi.OpSend, 5, func(w *accept.SendWR) { w.Fence = true })
			s.sends(roce.RCReadRequest, 0xfffffe, 0, reth(0x5000, 0x77, 8)).gets(roce.RCReadRespOnly, 0xfffffe, 8, ok(1)).sends(only, 0xffffff, 5)
		}, nil},
		{"no credits yet", "receive WQE 2 is taken, credits reach to 1", func(s *script) {
			s.post(1, abi.OpSend, 5).post(2, abi.OpSend, 5).sends(only, 0xfffffe, 5).sends(only, 0xffffff, 5)
		}, nil},
		{"credits used up", "receive WQE 5 is taken, credits reach to 4", func(s *script) {
			s.post(1, abi.OpSend, 5).sends(only, 0xfffffe, 5).gets(ackOp, 0xfffffe, 0, aeth(roce.ACKSyndrome(2), 1))
			s.post(2, abi.OpWrite, 5).sends(roce.RCWriteOnly, 0xffffff, 5, reth(0x5000, 0x77, 5)) // takes none
			for i := range 4 {
				s.post(uint64(i+3), abi.OpSend, 5).sends(only, roce.PSN(i), 5)
			}
		}, nil},
		{"a work request begins in SQD", "begins in SQD", func(s *script) {
			s.post(1, abi.OpSend, 5).Drain(s.now, qpn)
			s.at(inside+1).sends(only, 0xfffffe, 5)
		}, nil},
		{"one that has begun goes on in SQD", "", func(s *script) {
			s.post(1, abi.OpSend, 600).sends(first, 0xfffffe, 512).Drain(s.now, qpn)
			s.at(inside+1).sends(last, 0xffffff, 0, data(512, 88))
		}, nil},
		{"after RESET", "no QP is connected to", func(s *script) {
			s.post(1, abi.OpSend, 5).Stop(s.now, qpn, true)
			s.Stopped(s.now, qpn)
			s.at(2001).sends(only, 0xfffffe, 5)
		}, nil},
		{"in the MAC at a RESET", "", func(s *script) {
			s.post(1, abi.OpSend, 5).Stop(s.now, qpn, true)
			s.Stopped(s.now, qpn)
			s.at(1990).sends(only, 0xfffffe, 5)
		}, nil},
		{"in ERR", "sent in RESET or ERR", func(s *script) {
			s.post(1, abi.OpSend, 5).Stop(s.now, qpn, false)
			s.Stopped(s.now, qpn)
			s.at(inside+1).sends(only, 0xfffffe, 5)
		}, nil},
	})
}

func TestRetries(t *testing.T) {
	again := func(s *script) *script { return s.sends(first, 0xfffffe, 512) }
	from1 := func(s *script) *script {
		return s.sends(middle, 0xffffff, 0, data(512, 512)).sends(last, 0, 0, data(1024, 76))
	}
	seq := nak(roce.NAKSequence, 0)
	demand(t, []rule{
		{"again without a cause", "without a cause", func(s *script) { again(s.three()) }, nil},
		{"after a NAK", "", func(s *script) {
			from1(s.three().gets(ackOp, 0xffffff, 0, seq)).gets(ackOp, 0, 0, ok(1)).completes(1, 0, abi.WCSend, 0).settles()
		}, nil},
		{"after a NAK from a wrong PSN", "asks for ffffff", func(s *script) { again(s.three().gets(ackOp, 0xffffff, 0, seq)) }, nil},
		{"after a NAK beyond its PSN", "asks for ffffff", func(s *script) { s.three().gets(ackOp, 0xffffff, 0, seq).sends(last, 0, 0, data(1024, 76)) }, nil},
		{"twice after one NAK", "without a cause", func(s *script) { from1(from1(s.three().gets(ackOp, 0xffffff, 0, seq))) }, nil},
		{"changed", "byte 512 of work request 0x1 is wrong", func(s *script) {
			s.three().gets(ackOp, 0xffffff, 0, seq).sends(middle, 0xffffff, 512)
		}, nil},
		{"a NAK that is not obeyed", "in spite of the NAK PSN sequence error for PSN fffffe", func(s *script) {
			s.post(1, abi.OpSend, 1100).sends(first, 0xfffffe, 512).gets(ackOp, 0xfffffe, 0, seq)
			s.at(inside).sends(middle, 0xffffff, 0, data(512, 512))
		}, nil},
		{"a packet that was on its way", "", func(s *script) {
			s.post(1, abi.OpSend, 1100).sends(first, 0xfffffe, 512).gets(ackOp, 0xfffffe, 0, seq)
			s.at(inside-20).sends(middle, 0xffffff, 0, data(512, 512))
			from1(again(s))
		}, nil},
		{"what is acknowledged is left out", "", func(s *script) {
			s.three().at(ackTimer)
			again(s).gets(ackOp, 0xffffff, 0, ok(0)).sends(last, 0, 0, data(1024, 76))
		}, nil},
		{"what is not acknowledged is left out", "without a cause", func(s *script) {
			again(s.three().at(ackTimer)).sends(last, 0, 0, data(1024, 76))
		}, nil},
		{"timeout", "", func(s *script) { again(s.three().at(ackTimer - 20)) }, nil},
		{"timeout too early", "without a cause", func(s *script) { again(s.three().at(ackTimer - 60)) }, nil},
		{"timeout begins anew with progress", "without a cause", func(s *script) {
			s.three().at(inside+10+ackTimer/2).gets(ackOp, 0xfffffe, 0, ok(0))
			from1(s.at(ackTimer / 2))
		}, nil},
		{"no timer", "without a cause", func(s *script) { again(s.three().at(100 * ackTimer)) }, func(c *accept.Connection) { c.Timeout = 0 }},
		{"timeout with nothing outstanding", "without a cause", func(s *script) { again(s.three().gets(ackOp, 0, 0, ok(1)).at(ackTimer)) }, nil},
		{"retry_cnt", "sent again 3 times without progress, retry_cnt is 2", func(s *script) {
			for s.three(); len(s.Errors()) == 0; {
				again(s.at(ackTimer))
			}
		}, nil},
		{"progress restores retry_cnt", "", func(s *script) {
			s.three()
			for range 2 {
				again(s.at(ackTimer))
			}
			from1(s).gets(ackOp, 0xfffffe, 0, ok(0))
			for range 2 {
				from1(s.at(ackTimer))
			}
		}, nil},
		{"exhausted", "", func(s *script) {
			s.three()
			for range 2 {
				again(s.at(ackTimer))
			}
			s.at(ackTimer).completes(1, abi.StatusRetryExc, abi.WCSend, 0).settles()
		}, nil},
		{"exhausted too early", "for which there is no reason", func(s *script) {
			again(s.three().at(ackTimer)).at(ackTimer).completes(1, abi.StatusRetryExc, abi.WCSend, 0)
		}, nil},
		{"exhausted before the timer", "for which there is no reason", func(s *script) {
			s.three()
			for range 2 {
				again(s.at(ackTimer))
			}
			s.at(ackTimer/2).completes(1, abi.StatusRetryExc, abi.WCSend, 0)
		}, nil},
		{"RNR NAK", "", func(s *script) {
			from1(again(s.three().gets(ackOp, 0xfffffe, 0, rnr(0)).at(rnrWait))).gets(ackOp, 0, 0, ok(1)).completes(1, 0, abi.WCSend, 0).settles()
		}, nil},
		{"RNR NAK, too early", "in the wait that the RNR NAK", func(s *script) {
			again(s.three().gets(ackOp, 0xfffffe, 0, rnr(0)).at(rnrWait - 40))
		}, nil},
		{"a timeout is no way round an RNR wait", "in the wait", func(s *script) {
			s.three().at(ackTimer/2).gets(ackOp, 0xfffffe, 0, rnr(0))
			again(s.at(ackTimer))
		}, nil},
		{"NAK in an RNR wait", "in the wait", func(s *script) {
			again(s.three().gets(ackOp, 0xfffffe, 0, rnr(0)).gets(ackOp, 0xfffffe, 0, seq).at(inside + 10))
		}, nil},
		{"rnr_retry", "sent again 2 times after RNR NAKs, rnr_retry is 1", func(s *script) {
			for s.three(); len(s.Errors()) == 0; {
				again(s.gets(ackOp, 0xfffffe, 0, rnr(0)).at(rnrWait))
			}
		}, nil},
		{"rnr_retry exhausted", "", func(s *script) {
			again(s.three().gets(ackOp, 0xfffffe, 0, rnr(0)).at(rnrWait)).gets(ackOp, 0xfffffe, 0, rnr(0))
			s.completes(1, abi.StatusRNRRetryExc, abi.WCSend, 0).settles()
		}, nil},
		{"rnr_retry exhausted too early", "for which there is no reason", func(s *script) {
			s.three().gets(ackOp, 0xfffffe, 0, rnr(0)).completes(1, abi.StatusRNRRetryExc, abi.WCSend, 0)
		}, nil},
		{"rnr_retry 7", "", func(s *script) {
			s.three()
			for range 20 {
				again(s.gets(ackOp, 0xfffffe, 0, rnr(0)).at(rnrWait))
			}
		}, func(c *accept.Connection) { c.RNRRetry = 7 }},
		{"a wait does not touch retry_cnt", "", func(s *script) {
			again(s.three().at(ackTimer))
			again(s.gets(ackOp, 0xfffffe, 0, rnr(0)).at(rnrWait))
			again(s.at(ackTimer))
		}, nil},
		{"ghosts", "", func(s *script) {
			s.three().gets(ackOp, 0, 0, ok(1)).gets(ackOp, 0xfffffe, 0, seq).gets(ackOp, 100, 0, ok(1)).completes(1, 0, abi.WCSend, 0).settles()
		}, nil},
		{"again after a ghost", "without a cause", func(s *script) {
			again(s.three().gets(ackOp, 0, 0, ok(1)).gets(ackOp, 0xfffffe, 0, seq))
		}, nil},
	})
}

func TestReads(t *testing.T) {
	// A READ of 1,100 bytes, 0xfffffe to 0, and a SEND of PSN 1 behind it.
	begin := func(s *script) *script {
		s.free().post(1, abi.OpRead, 1100).post(2, abi.OpSend, 5, unsignaled).post(3, abi.OpSend, 5)
		return s.sends(roce.RCReadRequest, 0xfffffe, 0, reth(0x5000, 0x77, 1100)).sends(only, 1, 5).sends(only, 2, 5)
	}
	rest := reth(0x5000+512, 0x77, 1100-512)
	bring := func(s *script, off, n int) { copy(s.mem[4096+off:], data2(off, n)) }
	demand(t, []rule{
		{"answered", "", func(s *script) {
			begin(s).gets(roce.RCReadRespFirst, 0xfffffe, 0, data(0, 512), ok(1)).gets(roce.RCReadRespMiddle, 0xffffff, 0, data(512, 512))
			s.gets(roce.RCReadRespLast, 0, 0, data(1024, 76), ok(1)).gets(ackOp, 2, 0, ok(3))
			bring(s, 0, 1100)
			s.completes(1, 0, abi.WCRead, 1100).completes(3, 0, abi.WCSend, 0).settles()
		}, nil},
		{"not in memory", "byte 1024 of 0x1 in memory", func(s *script) {
			begin(s).gets(roce.RCReadRespFirst, 0xfffffe, 0, data(0, 512), ok(1)).gets(roce.RCReadRespMiddle, 0xffffff, 0, data(512, 512))
			s.gets(roce.RCReadRespLast, 0, 0, data(1024, 76), ok(1))
			bring(s, 0, 1024)
			s.completes(1, 0, abi.WCRead, 1100)
		}, nil},
		{"completes too early", "whose answer came in cycle 0", func(s *script) {
			begin(s).gets(roce.RCReadRespFirst, 0xfffffe, 0, data(0, 512), ok(1)).completes(1, 0, abi.WCRead, 1100)
		}, nil},
		{"the rest is asked for after an implied NAK", "", func(s *script) {
			begin(s).gets(roce.RCReadRespFirst, 0xfffffe, 0, data(0, 512), ok(1)).gets(ackOp, 1, 0, ok(2))
			s.sends(roce.RCReadRequest, 0xffffff, 0, rest).sends(only, 1, 5).sends(only, 2, 5)
			s.gets(roce.RCReadRespFirst, 0xffffff, 0, data(512, 512), ok(2)).gets(roce.RCReadRespLast, 0, 0, data(1024, 76), ok(2)).gets(ackOp, 2, 0, ok(3))
			bring(s, 0, 1100)
			s.completes(1, 0, abi.WCRead, 1100).completes(3, 0, abi.WCSend, 0).settles()
		}, nil},
		{"all is asked for again", "asks for ffffff", func(s *script) {
			begin(s).gets(roce.RCReadRespFirst, 0xfffffe, 0, data(0, 512), ok(1)).gets(ackOp, 1, 0, ok(2))
			s.at(inside+1).sends(roce.RCReadRequest, 0xfffffe, 0, reth(0x5000, 0x77, 1100))
		}, nil},
		{"the rest at a wrong address", "due 588 at 0x5200", func(s *script) {
			begin(s).gets(roce.RCReadRespFirst, 0xfffffe, 0, data(0, 512), ok(1)).gets(ackOp, 1, 0, ok(2))
			s.sends(roce.RCReadRequest, 0xffffff, 0, reth(0x5000, 0x77, 588))
		}, nil},
		{"an ACK does not answer a READ", "whose answer came in cycle 0", func(s *script) {
			begin(s).gets(ackOp, 2, 0, ok(3)).completes(1, 0, abi.WCRead, 1100)
		}, nil},
		{"nor what is behind it", "completion of 0x2 (SUCCESS) before that of 0x1", func(s *script) {
			s.free().post(1, abi.OpRead, 8, unsignaled).post(2, abi.OpSend, 5)
			s.sends(roce.RCReadRequest, 0xfffffe, 0, reth(0x5000, 0x77, 8)).sends(only, 0xffffff, 5).gets(ackOp, 0xffffff, 0, ok(2))
			s.completes(2, 0, abi.WCSend, 0)
		}, nil},
		{"a response of the wrong kind", "", func(s *script) {
			begin(s).gets(roce.RCReadRespMiddle, 0xfffffe, 512).completes(1, abi.StatusBadResp, abi.WCRead, 0)
			s.completes(2, abi.StatusWRFlush, abi.WCSend, 0).completes(3, abi.StatusWRFlush, abi.WCSend, 0).settles()
		}, nil},
		{"a response with a NAK in it", "", func(s *script) {
			begin(s).gets(roce.RCReadRespFirst, 0xfffffe, 0, data(0, 512), aeth(0x63, 1)).completes(1, abi.StatusBadResp, abi.WCRead, 0)
			s.completes(2, abi.StatusWRFlush, abi.WCSend, 0).completes(3, abi.StatusWRFlush, abi.WCSend, 0).settles()
		}, nil},
		{"a response with a reserved syndrome is none", "whose answer came in cycle 0", func(s *script) {
			s.free().post(1, abi.OpRead, 8).sends(roce.RCReadRequest, 0xfffffe, 0, reth(0x5000, 0x77, 8))
			s.gets(roce.RCReadRespOnly, 0xfffffe, 8, aeth(0x80, 1)).completes(1, 0, abi.WCRead, 8)
		}, nil},
		{"a short response", "", func(s *script) {
			begin(s).gets(roce.RCReadRespFirst, 0xfffffe, 500).completes(1, abi.StatusLocLen, abi.WCRead, 0)
		}, nil},
	})
}

// data2 is the pattern of data.
func data2(off, n int) []byte {
	var p roce.Packet
	data(off, n)(&p)
	return p.Payload
}

func TestSendCompletions(t *testing.T) {
	one := func(s *script) *script { return s.post(1, abi.OpSend, 5).sends(only, 0xfffffe, 5) }
	demand(t, []rule{
		{"before the ACK", "whose answer came in cycle 0", func(s *script) { one(s).completes(1, 0, abi.WCSend, 0) }, nil},
		{"made before the ACK", "made in cycle 1011", func(s *script) {
			one(s).gets(ackOp, 0xfffffe, 0, ok(1)).completes(1, 0, abi.WCSend, 0, func(c *accept.Completion) { c.Made = 1011 })
		}, nil},
		{"twice", "which is not outstanding", func(s *script) {
			one(s).gets(ackOp, 0xfffffe, 0, ok(1)).completes(1, 0, abi.WCSend, 0).completes(1, 0, abi.WCSend, 0)
		}, nil},
		{"out of order", "completion of 0x2 (SUCCESS) before that of 0x1", func(s *script) {
			one(s.free()).post(2, abi.OpSend, 5).sends(only, 0xffffff, 5).gets(ackOp, 0xffffff, 0, ok(2)).completes(2, 0, abi.WCSend, 0)
		}, nil},
		{"not signalled", "which is not signalled", func(s *script) {
			s.post(1, abi.OpSend, 5, unsignaled).sends(only, 0xfffffe, 5).gets(ackOp, 0xfffffe, 0, ok(1)).completes(1, 0, abi.WCSend, 0)
		}, nil},
		{"wrong opcode", "as RDMA_WRITE", func(s *script) { one(s).gets(ackOp, 0xfffffe, 0, ok(1)).completes(1, 0, abi.WCWrite, 0) }, nil},
		{"missing", "no completion of 0x1", func(s *script) { one(s).gets(ackOp, 0xfffffe, 0, ok(1)).settles() }, nil},
		{"fatal NAK", "", func(s *script) {
			one(s).gets(ackOp, 0xfffffe, 0, nak(roce.NAKRemoteAccess, 0)).post(2, abi.OpSend, 5)
			s.completes(1, abi.StatusRemAccess, abi.WCSend, 0).completes(2, abi.StatusWRFlush, abi.WCSend, 0).settles()
		}, nil},
		{"fatal NAK, wrong status", "ends in REM_INV_REQ_ERR", func(s *script) {
			one(s).gets(ackOp, 0xfffffe, 0, nak(roce.NAKRemoteAccess, 0)).completes(1, abi.StatusRemInvReq, abi.WCSend, 0)
		}, nil},
		{"fatal NAK of another", "ends in REM_ACCESS_ERR", func(s *script) {
			one(s.free()).post(2, abi.OpSend, 5).sends(only, 0xffffff, 5).gets(ackOp, 0xffffff, 0, nak(roce.NAKRemoteAccess, 1))
			s.completes(1, abi.StatusRemAccess, abi.WCSend, 0)
		}, nil},
		{"goes on after a fatal NAK", "a packet is sent after REM_ACCESS_ERR", func(s *script) {
			one(s.free()).post(2, abi.OpSend, 5).gets(ackOp, 0xfffffe, 0, nak(roce.NAKRemoteAccess, 0)).at(inside+1).sends(only, 0xffffff, 5)
		}, nil},
		{"flushed without a reason", "ends in WR_FLUSH_ERR, for which there is no reason", func(s *script) { one(s).completes(1, abi.StatusWRFlush, abi.WCSend, 0) }, nil},
		{"success behind a flush", "behind a work request that failed", func(s *script) {
			one(s.free()).post(2, abi.OpSend, 5).sends(only, 0xffffff, 5).gets(ackOp, 0xffffff, 0, ok(2)).Stop(s.now, qpn, false)
			s.completes(1, abi.StatusWRFlush, abi.WCSend, 0).completes(2, 0, abi.WCSend, 0)
		}, nil},
		{"LOC_PROT without a reason", "for which there is no reason", func(s *script) { one(s).completes(1, abi.StatusLocProt, abi.WCSend, 0) }, nil},
		{"LOC_PROT", "", func(s *script) {
			s.post(1, abi.OpSend, 5, func(w *accept.SendWR) { w.SGEs[0].LKey = 9 }).completes(1, abi.StatusLocProt, abi.WCSend, 0)
		}, nil},
		{"sends what it may not read", "that the NIC may not read", func(s *script) {
			s.post(1, abi.OpSend, 5, func(w *accept.SendWR) { w.SGEs[0].LKey = 9 }).sends(only, 0xfffffe, 5)
		}, nil},
		{"asked for again in ERR", "", func(s *script) {
			one(s).Stop(s.now, qpn, false)
			s.gets(ackOp, 0xfffffe, 0, nak(roce.NAKSequence, 0)).completes(1, abi.StatusRetryExc, abi.WCSend, 0).settles()
		}, nil},
		{"flushed in ERR", "", func(s *script) {
			one(s).Stop(s.now, qpn, false)
			s.Stopped(s.now, qpn)
			s.completes(1, abi.StatusWRFlush, abi.WCSend, 0).settles()
		}, nil},
	})
}
