package accept_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/accept"
)

const (
	readOp = roce.RCReadRequest
	respF  = roce.RCReadRespFirst
	respM  = roce.RCReadRespMiddle
	respL  = roce.RCReadRespLast
	respO  = roce.RCReadRespOnly
)

// ready posts receives of 600 bytes from offset 8192 on, long enough before.
func (s *script) ready(n int) *script {
	for i := range n {
		s.recv(uint64(i+1), 8192+600*i, 600)
	}
	return s.at(200)
}

// put writes the pattern of data to memory.
func (s *script) put(at, off, n int) *script {
	copy(s.mem[at:], data2(off, n))
	return s
}

// fetch is a READ of n bytes at offset off of the region.
func fetch(off, n uint32) func(*roce.Packet) { return reth(base+uint64(off), key, n) }

// add is a FETCH_ADD of 3 to the word at an offset.
func add(off uint64) func(*roce.Packet) {
	return func(p *roce.Packet) { p.AtomicETH = roce.AtomicETH{VA: base + off, RKey: key, SwapAdd: 3} }
}

// old is what an atomic returns.
func old(v uint64, msn roce.MSN) func(*roce.Packet) {
	return func(p *roce.Packet) { p.AtomicAckETH.Orig, p.AETH.MSN = v, msn }
}

func (s *script) word(off int) uint64   { return binary.NativeEndian.Uint64(s.mem[off:]) }
func (s *script) set(off int, v uint64) { binary.NativeEndian.PutUint64(s.mem[off:], v) }
func quiet(p *roce.Packet)              { p.BTH.AckReq = false }
func kept(depth int) func(*accept.Connection) {
	return func(c *accept.Connection) { c.DestRdAtomic = depth }
}

func TestAcknowledgements(t *testing.T) {
	demand(t, []rule{
		{"a WRITE of more than 2^31 bytes", "", func(s *script) {
			s.gets(roce.RCWriteFirst, 7, 512, fetch(0, 1<<31+512)).sends(ackOp, 7, 0, nak(roce.NAKInvalidRequest, 0))
		}, nil},
		{"a WRITE that leaves nothing for its last packet", "", func(s *script) {
			s.gets(roce.RCWriteFirst, 7, 512, fetch(0, 512)).sends(ackOp, 7, 0, nak(roce.NAKInvalidRequest, 0))
		}, nil},
		{"each its own", "", func(s *script) {
			s.ready(2).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1)).gets(only, 8, 5).sends(ackOp, 8, 0, ok(2))
		}, nil},
		{"merged", "", func(s *script) { s.ready(2).gets(only, 7, 5).gets(only, 8, 5).sends(ackOp, 8, 0, ok(2)) }, nil},
		{"late, with the present MSN", "", func(s *script) {
			s.ready(2).gets(only, 7, 5).gets(only, 8, 5).sends(ackOp, 7, 0, ok(2)).sends(ackOp, 8, 0, ok(2))
		}, nil},
		{"of what has not come", "PSN 000008 is expected", func(s *script) { s.ready(2).gets(only, 7, 5).sends(ackOp, 8, 0, ok(1)) }, nil},
		{"twice", "nothing has come since", func(s *script) { s.ready(2).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1)).sends(ackOp, 7, 0, ok(1)) }, nil},
		{"back", "was acknowledged before", func(s *script) {
			s.ready(2).gets(only, 7, 5).gets(only, 8, 5).sends(ackOp, 8, 0, ok(2)).sends(ackOp, 7, 0, ok(2))
		}, nil},
		{"MSN too large", "MSN 2, between 1 and 1", func(s *script) { s.ready(2).gets(only, 7, 5).sends(ackOp, 7, 0, ok(2)) }, nil},
		{"MSN too small", "MSN 0, between 1 and 1", func(s *script) { s.ready(2).gets(only, 7, 5).sends(ackOp, 7, 0, ok(0)) }, nil},
		{"missing", "no answer for PSN 000007: ACK", func(s *script) {
			s.ready(1).gets(only, 7, 5).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 5).settles()
		}, nil},
		{"not asked for, and none", "", func(s *script) {
			s.ready(1).gets(only, 7, 5, quiet).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 5).settles()
		}, nil},
		{"credits", "", func(s *script) { s.ready(3).gets(only, 7, 5).sends(ackOp, 7, 0, aeth(roce.ACKSyndrome(2), 1)) }, nil},
		{"more credits than receives", "3 credits with MSN 1, 2 receives", func(s *script) {
			s.ready(3).gets(only, 7, 5).sends(ackOp, 7, 0, aeth(roce.ACKSyndrome(3), 1))
		}, nil},
		{"unsolicited, with new credits", "", func(s *script) {
			s.ready(1).gets(only, 7, 5).sends(ackOp, 7, 0, aeth(roce.ACKSyndrome(0), 1)).recv(2, 0, 9).sends(ackOp, 7, 0, aeth(roce.ACKSyndrome(1), 1))
		}, nil},
		{"AckReq in an answer", "with AckReq", func(s *script) {
			s.ready(1).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1), func(p *roce.Packet) { p.BTH.AckReq = true })
		}, nil},
		{"a duplicate", "", func(s *script) {
			s.ready(1).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1)).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1))
		}, nil},
		{"a duplicate carried out again", "between 1 and 1", func(s *script) {
			s.ready(2).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1)).gets(only, 7, 5).sends(ackOp, 7, 0, ok(2))
		}, nil},
		{"a duplicate without an answer", "no answer for PSN 000007: ACK", func(s *script) {
			s.ready(1).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1)).gets(only, 7, 5).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 5).settles()
		}, nil},
		{"of a packet with a wrong ICRC", "PSN 000007 is expected", func(s *script) {
			f := packet(2, 1, qpn, only, 7, 5, nil)
			f[14+20+8+12+3] ^= 1
			s.ready(1).Frame(s.now, false, false, f)
			s.sends(ackOp, 7, 0, ok(1))
		}, nil},
		{"to a QP that nobody has", "no QP is connected to", func(s *script) {
			s.ready(1).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1), func(p *roce.Packet) { p.BTH.DestQP++ })
		}, nil},
	})
}

func TestNaks(t *testing.T) {
	seq, access, inv := nak(roce.NAKSequence, 0), nak(roce.NAKRemoteAccess, 0), nak(roce.NAKInvalidRequest, 0)
	write := func(s *script, va uint64, k uint32) *script { return s.gets(roce.RCWriteOnly, 7, 5, reth(va, k, 5)) }
	demand(t, []rule{
		{"sequence", "", func(s *script) {
			s.ready(2).gets(only, 8, 5).sends(ackOp, 7, 0, seq).gets(only, 9, 5).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1))
			s.gets(only, 9, 5).sends(ackOp, 8, 0, nak(roce.NAKSequence, 1))
		}, nil},
		{"sequence, twice for one gap", "nothing asks for it", func(s *script) {
			s.ready(2).gets(only, 8, 5).sends(ackOp, 7, 0, seq).gets(only, 9, 5).sends(ackOp, 7, 0, seq)
		}, nil},
		{"sequence, wrong PSN", "NAK_SEQUENCE for PSN 000007 is due", func(s *script) { s.ready(2).gets(only, 8, 5).sends(ackOp, 8, 0, seq) }, nil},
		{"sequence without a gap", "nothing asks for it", func(s *script) { s.ready(2).gets(only, 7, 5).sends(ackOp, 8, 0, nak(roce.NAKSequence, 1)) }, nil},
		{"sequence, missing", "no answer for PSN 000007: NAK", func(s *script) { s.gets(only, 8, 5).settles() }, nil},
		{"ACK behind a gap", "PSN 000007 is expected", func(s *script) { s.ready(2).gets(only, 8, 5).sends(ackOp, 8, 0, ok(1)) }, nil},
		{"RNR", "", func(s *script) {
			s.gets(only, 7, 5).sends(ackOp, 7, 0, rnr(0)).gets(only, 8, 5).ready(2).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1))
		}, nil},
		{"RNR with a receive", "nothing asks for it", func(s *script) { s.ready(1).gets(only, 7, 5).sends(ackOp, 7, 0, rnr(0)) }, nil},
		{"RNR with a receive posted just now", "", func(s *script) { s.recv(1, 0, 9).gets(only, 7, 5).sends(ackOp, 7, 0, rnr(0)) }, nil},
		{"no RNR with a receive posted just now", "", func(s *script) { s.recv(1, 0, 9).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1)) }, nil},
		{"ACK without a receive", "PSN 000007 is expected", func(s *script) { s.gets(only, 7, 5).at(5000).sends(ackOp, 7, 0, ok(1)) }, nil},
		{"RNR, wrong timer", "is due first", func(s *script) { s.gets(only, 7, 5).sends(ackOp, 7, 0, aeth(roce.RNRSyndrome(2), 0)) }, nil},
		{"sequence NAK in an RNR wait", "nothing asks for it", func(s *script) {
			s.gets(only, 7, 5).sends(ackOp, 7, 0, rnr(0)).gets(only, 8, 5).sends(ackOp, 7, 0, seq)
		}, nil},
		{"RNR, missing", "no answer for PSN 000007: NAK", func(s *script) { s.gets(only, 7, 5).at(5000).settles() }, nil},
		{"remote access", "", func(s *script) { write(s, base, 0x999).sends(ackOp, 7, 0, access) }, nil},
		{"remote access, ACK instead", "PSN 000007 is expected", func(s *script) { write(s, base, 0x999).sends(ackOp, 7, 0, ok(1)) }, nil},
		{"remote access, wrong code", "NAK_REMOTE_ACCESS for PSN 000007 is due", func(s *script) { write(s, base, 0x999).sends(ackOp, 7, 0, inv) }, nil},
		{"remote access without a reason", "nothing asks for it", func(s *script) { write(s, base, key).sends(ackOp, 7, 0, access) }, nil},
		{"beyond the region", "", func(s *script) { write(s, base+1<<16-4, key).sends(ackOp, 7, 0, access) }, nil},
		{"over the end of addresses", "", func(s *script) { write(s, 1<<64-4, key).sends(ackOp, 7, 0, access) }, nil},
		{"no bytes, any key", "", func(s *script) { s.gets(roce.RCWriteOnly, 7, 0, reth(1, 2, 0)).sends(ackOp, 7, 0, ok(1)) }, nil},
		{"anything after a fatal NAK", "it has sent a fatal NAK", func(s *script) {
			write(s, base, 0x999).sends(ackOp, 7, 0, access).gets(only, 7, 5).sends(ackOp, 7, 0, rnr(0))
		}, nil},
		{"middle without first", "", func(s *script) { s.ready(1).gets(middle, 7, 512).sends(ackOp, 7, 0, inv) }, nil},
		{"middle without first, access error", "is due first", func(s *script) { s.ready(1).gets(middle, 7, 512).sends(ackOp, 7, 0, access) }, nil},
		{"short first", "", func(s *script) { s.ready(1).gets(first, 7, 100).sends(ackOp, 7, 0, inv) }, nil},
		{"WRITE longer than announced", "", func(s *script) { s.gets(roce.RCWriteOnly, 7, 6, reth(base, key, 5)).sends(ackOp, 7, 0, inv) }, nil},
		{"SEND longer than the receive", "", func(s *script) {
			s.ready(1).gets(first, 7, 512).gets(last, 8, 100).sends(ackOp, 8, 0, inv).completes(1, abi.StatusLocLen, abi.WCRecv, 0).settles()
		}, nil},
		{"SEND longer than the receive, success", "due is LOC_LEN_ERR", func(s *script) {
			s.ready(1).gets(first, 7, 512).gets(last, 8, 100).completes(1, 0, abi.WCRecv, 612)
		}, nil},
		{"atomic misaligned, with a bad key", "", func(s *script) {
			s.gets(roce.RCFetchAdd, 7, 0, add(4), func(p *roce.Packet) { p.AtomicETH.RKey = 1 }).sends(ackOp, 7, 0, inv)
		}, nil},
		{"no READs allowed", "", func(s *script) { s.gets(readOp, 7, 0, fetch(0, 8)).sends(ackOp, 7, 0, inv) }, kept(0)},
		{"disabled", "", func(s *script) { write(s, base, key).sends(ackOp, 7, 0, inv) }, func(c *accept.Connection) { c.Access = 0 }},
	})
}

func TestReadResponses(t *testing.T) {
	ask := func(s *script) *script { return s.gets(readOp, 7, 0, fetch(0, 1100)) }
	demand(t, []rule{
		{"three", "", func(s *script) {
			ask(s).sends(respF, 7, 512, ok(1)).sends(respM, 8, 0, data(512, 512)).sends(respL, 9, 0, data(1024, 76), ok(1)).settles()
		}, nil},
		{"wrong byte", "byte 512 of the READ at 0x10000", func(s *script) { ask(s).sends(respF, 7, 512, ok(1)).sends(respM, 8, 512) }, nil},
		{"wrong opcode", "RC_READ_RESP_FIRST of 512 bytes is due", func(s *script) { ask(s).sends(respM, 7, 512) }, nil},
		{"wrong length", "of 512 bytes is due", func(s *script) { ask(s).sends(respF, 7, 500, ok(1)) }, nil},
		{"one left out", "PSN 000008 is due first", func(s *script) { ask(s).sends(respF, 7, 512, ok(1)).sends(respL, 9, 0, data(1024, 76), ok(1)) }, nil},
		{"not asked for", "nothing asks for it", func(s *script) { s.sends(respO, 7, 8, ok(1)) }, nil},
		{"one missing", "no answer for PSN 000008: READ response", func(s *script) { ask(s).sends(respF, 7, 512, ok(1)).settles() }, nil},
		{"passed by an ACK", "the answer of PSN 000007 is due first", func(s *script) { ask(s.ready(1)).gets(only, 10, 5).sends(ackOp, 10, 0, ok(2)) }, nil},
		{"mixed with an ACK", "the answer of PSN 000008 is due first", func(s *script) {
			ask(s.ready(1)).gets(only, 10, 5).sends(respF, 7, 512, ok(1)).sends(ackOp, 10, 0, ok(2))
		}, nil},
		{"acknowledges what is before", "", func(s *script) {
			s.ready(1).gets(only, 7, 5).gets(readOp, 8, 0, fetch(0, 8)).sends(respO, 8, 8, ok(2)).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 5).settles()
		}, nil},
		{"what a WRITE before it has written", "", func(s *script) {
			s.gets(roce.RCWriteOnly, 7, 8, reth(base+600, key, 8)).gets(readOp, 8, 0, fetch(600, 8)).put(600, 0, 8).sends(respO, 8, 8, ok(2)).settles()
		}, nil},
		{"a duplicate of the rest", "", func(s *script) {
			ask(s).sends(respF, 7, 512, ok(1)).sends(respM, 8, 0, data(512, 512)).sends(respL, 9, 0, data(1024, 76), ok(1))
			s.gets(readOp, 8, 0, fetch(512, 588)).sends(respF, 8, 0, data(512, 512), ok(1)).sends(respL, 9, 0, data(1024, 76), ok(1)).settles()
		}, nil},
		{"a duplicate without an answer", "no answer for PSN 000007", func(s *script) {
			s.gets(readOp, 7, 0, fetch(0, 8)).sends(respO, 7, 8, ok(1)).gets(readOp, 7, 0, fetch(0, 8)).settles()
		}, nil},
		{"more duplicates than the depth, one left out", "", func(s *script) {
			s.ready(1).gets(readOp, 7, 0, fetch(0, 8)).sends(respO, 7, 8, ok(1)).gets(only, 8, 5).sends(ackOp, 8, 0, ok(2))
			s.gets(readOp, 7, 0, fetch(0, 8)).gets(readOp, 7, 0, fetch(0, 8)).gets(only, 8, 5)
			s.sends(respO, 7, 8, ok(2)).sends(ackOp, 8, 0, ok(2)).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 5).settles()
		}, kept(1)},
		{"one that was left out, asked for again", "", func(s *script) {
			s.gets(readOp, 7, 0, fetch(0, 8)).sends(respO, 7, 8, ok(1)).gets(readOp, 7, 0, fetch(0, 8)).gets(readOp, 7, 0, fetch(0, 8))
			s.sends(respO, 7, 8, ok(1)).gets(readOp, 7, 0, fetch(0, 8)).sends(respO, 7, 8, ok(1)).settles()
		}, kept(1)},
		{"a duplicate that is none", "nothing asks for it", func(s *script) {
			s.gets(readOp, 7, 0, fetch(0, 8)).sends(respO, 7, 8, ok(1)).gets(readOp, 7, 0, fetch(8, 8)).sends(respO, 7, 0, data(8, 8), ok(1))
		}, nil},
		{"a duplicate too old", "nothing asks for it", func(s *script) {
			for i := range uint32(3) {
				s.gets(readOp, roce.PSN(7+i), 0, fetch(0, 8)).sends(respO, roce.PSN(7+i), 8, ok(roce.MSN(i+1)))
			}
			s.gets(readOp, 7, 0, fetch(0, 8)).sends(respO, 7, 8, ok(3))
		}, nil},
	})
}

func TestAtomics(t *testing.T) {
	atomic := roce.RCAtomicAck
	one := func(s *script) *script {
		v := s.word(64)
		s.gets(roce.RCFetchAdd, 7, 0, add(64)).set(64, v+3)
		return s.sends(atomic, 7, 0, ok(1), old(v, 1))
	}
	demand(t, []rule{
		{"one", "", func(s *script) { one(s).settles() }, nil},
		{"wrong value", "the atomics have no order", func(s *script) {
			s.gets(roce.RCFetchAdd, 7, 0, add(64)).sends(atomic, 7, 0, ok(1), old(s.word(64)+1, 1)).set(64, s.word(64)+3)
			s.settles()
		}, nil},
		{"not done", "the atomics have no order", func(s *script) {
			s.gets(roce.RCFetchAdd, 7, 0, add(64)).sends(atomic, 7, 0, ok(1), old(s.word(64), 1)).settles()
		}, nil},
		{"done twice", "the atomics have no order", func(s *script) {
			one(s).set(64, s.word(64)+3)
			s.settles()
		}, nil},
		{"both the same", "the atomics have no order", func(s *script) {
			v := s.word(64)
			s.gets(roce.RCFetchAdd, 7, 0, add(64)).gets(roce.RCFetchAdd, 8, 0, add(64)).set(64, v+3)
			s.sends(atomic, 7, 0, ok(1), old(v, 1)).sends(atomic, 8, 0, ok(2), old(v, 2)).settles()
		}, nil},
		{"a duplicate", "", func(s *script) {
			v := s.word(64)
			one(s).gets(roce.RCFetchAdd, 7, 0, add(64)).sends(atomic, 7, 0, ok(1), old(v, 1)).settles()
		}, nil},
		{"a duplicate done again", "returns 0x", func(s *script) {
			v := s.word(64)
			one(s).gets(roce.RCFetchAdd, 7, 0, add(64)).sends(atomic, 7, 0, ok(1), old(v+3, 1))
		}, nil},
		{"compare and swap that finds another value", "", func(s *script) {
			s.gets(roce.RCCmpSwap, 7, 0, add(64)).sends(atomic, 7, 0, ok(1), old(s.word(64), 1)).settles()
		}, nil},
	})
}

func TestReceives(t *testing.T) {
	come := func(s *script) *script { return s.ready(2).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1)) }
	demand(t, []rule{
		{"right", "", func(s *script) { come(s).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 5).settles() }, nil},
		{"not in memory", "byte 4 of the message of receive 0x1", func(s *script) {
			come(s).put(8192, 0, 4)
			s.mem[8192+4] = 0x55
			s.completes(1, 0, abi.WCRecv, 5)
		}, nil},
		{"too early", "has not come in full", func(s *script) { s.ready(1).gets(first, 7, 512).completes(1, 0, abi.WCRecv, 512) }, nil},
		{"made too early", "the message came in cycle 1210", func(s *script) {
			come(s).completes(1, 0, abi.WCRecv, 5, func(c *accept.Completion) { c.Made = 1209 })
		}, nil},
		{"another receive", "due is 0x1", func(s *script) { come(s).completes(2, 0, abi.WCRecv, 5) }, nil},
		{"wrong length", "with 6 bytes, due 5", func(s *script) { come(s).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 6) }, nil},
		{"wrong opcode", "as RECV_RDMA_WITH_IMM", func(s *script) { come(s).completes(1, 0, abi.WCRecvWithImm, 5) }, nil},
		{"immediate", "", func(s *script) {
			s.ready(1).gets(roce.RCWriteOnlyImm, 7, 5, reth(base, key, 5)).put(0, 0, 5)
			s.completes(1, 0, abi.WCRecvWithImm, 5, func(c *accept.Completion) { c.Flags, c.Imm = abi.CQEWithImm, 0x1234 })
		}, nil},
		{"wrong immediate", "with immediate or key 0x1235", func(s *script) {
			s.ready(1).gets(roce.RCWriteOnlyImm, 7, 5, reth(base, key, 5)).put(0, 0, 5)
			s.completes(1, 0, abi.WCRecvWithImm, 5, func(c *accept.Completion) { c.Flags, c.Imm = abi.CQEWithImm, 0x1235 })
		}, nil},
		{"a WRITE before it is not in memory", "byte 0 of the WRITE of PSN 000007 is not in memory at 0x11000", func(s *script) {
			s.ready(1).gets(roce.RCWriteOnly, 7, 5, reth(base+4096, key, 5)).gets(only, 8, 5).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 5)
		}, nil},
		{"a WRITE is never in memory", "is not in memory", func(s *script) {
			s.gets(roce.RCWriteOnly, 7, 5, reth(base+4096, key, 5)).sends(ackOp, 7, 0, ok(1)).settles()
		}, nil},
		{"a WRITE that another follows", "", func(s *script) {
			s.gets(roce.RCWriteOnly, 7, 5, reth(base+4096, key, 5)).gets(roce.RCWriteOnly, 8, 0, data(9, 3), reth(base+4096, key, 3))
			s.put(4096, 0, 5).put(4096, 9, 3).sends(ackOp, 8, 0, ok(2)).settles()
		}, nil},
		{"from another", "the peer is 0x9", func(s *script) {
			come(s).put(8192, 0, 5).completes(1, 0, abi.WCRecv, 5, func(c *accept.Completion) { c.SrcQPN = 8 })
		}, nil},
		{"missing", "no completion of receive 0x1", func(s *script) { come(s).settles() }, nil},
		{"flushed without a reason", "for which there is no reason", func(s *script) { s.ready(1).completes(1, abi.StatusWRFlush, abi.WCRecv, 0) }, nil},
		{"flushed after a fatal NAK", "", func(s *script) {
			s.ready(1).gets(roce.RCWriteOnly, 7, 5, reth(base, 1, 5)).sends(ackOp, 7, 0, nak(roce.NAKRemoteAccess, 0)).completes(1, abi.StatusWRFlush, abi.WCRecv, 0)
		}, nil},
	})
}

// TestInvalidate: the key is invalid from the completion on.
func TestInvalidate(t *testing.T) {
	inv := func(p *roce.Packet) { p.IETH.RKey = key }
	s := newScript().ready(1).gets(roce.RCSendOnlyInv, 7, 5, inv).sends(ackOp, 7, 0, ok(1)).put(8192, 0, 5)
	s.completes(1, 0, abi.WCRecv, 5, func(c *accept.Completion) { c.Flags, c.Imm = abi.CQEWithInv, key })
	s.at(inside+1).gets(readOp, 8, 0, fetch(0, 8)).sends(respO, 8, 8, ok(2))
	require.Len(t, s.Errors(), 1)
	require.ErrorContains(t, s.Errors()[0], "NAK_REMOTE_ACCESS for PSN 000008 is due first")
}

// TestCounters: a counter that is one off is refused, each of them.
func TestCounters(t *testing.T) {
	run := func() *script {
		s := newScript().three().gets(ackOp, 0xffffff, 0, nak(roce.NAKSequence, 0)).gets(ackOp, 0xffffff, 0, rnr(0))
		s.gets(only, 8, 5).sends(ackOp, 7, 0, nak(roce.NAKSequence, 0)).gets(only, 7, 5).sends(ackOp, 7, 0, rnr(0))
		s.ready(1).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1)).gets(only, 7, 5).sends(ackOp, 7, 0, ok(1))
		s.Frame(s.now, false, true, nil)
		return s
	}
	right := map[abi.Counter]uint64{
		abi.TxPackets: 7, abi.RxPackets: 6, abi.AcksSent: 2, abi.NaksSent: 1, abi.RNRNaksSent: 1, abi.RxDropBadFCS: 1,
		abi.DuplicateRequest: 1, abi.OutOfSequence: 1, abi.OutOfBuffer: 1, abi.PacketSeqErr: 1, abi.RNRNakRetryErr: 1,
		abi.TxBytes: run().Counts().TxBytes, abi.RxBytes: run().Counts().RxBytes,
	}
	for _, c := range append([]abi.Counter{abi.NumCounters}, abi.ImpliedNakSeqErr, abi.LocalAckTimeoutErr, abi.RxDropBadICRC,
		abi.TxPackets, abi.RxPackets, abi.TxBytes, abi.RxBytes, abi.AcksSent, abi.NaksSent, abi.RNRNaksSent, abi.RxDropBadFCS,
		abi.DuplicateRequest, abi.OutOfSequence, abi.OutOfBuffer, abi.PacketSeqErr, abi.RNRNakRetryErr) {
		s := run()
		require.NoError(t, s.Counters(func(r abi.Counter) (uint64, error) {
			if r == c {
				return right[r] + 1, nil
			}
			return right[r], nil
		}))
		if c == abi.NumCounters {
			require.Empty(t, s.Errors())
			continue
		}
		require.Len(t, s.Errors(), 1, c)
		require.ErrorContains(t, s.Errors()[0], "counter "+c.String())
	}
}
