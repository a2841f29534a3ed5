package wqesched_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
	wqesched "rnic/rtl/wqe_sched"
)

// silent is a bench whose peer answers nothing before it is let to.
func silent(t *testing.T, p wqesched.Params) *bench {
	b := newBench(t, hdl.Options{}, p, 0)
	b.ackDelay = func() uint64 { return 1 << 20 }
	t.Cleanup(b.k.Close)
	return b
}

// lost loses all answers of QP 0 that are under way, and has it send again from the
// n-th PSN on. It returns what was sent before.
func (b *bench) lost(n uint32) int {
	b.acks = nil
	b.ackDelay = func() uint64 { return 30 }
	before := len(b.Pkt.Got)
	b.k.Go("rewind", func(*hdl.Thread) { b.rewind(0, b.qps[0].First.Add(n)) })
	return before
}

// TestAgain: a rewind to any PSN of three messages sends what follows again, and
// nothing is entered twice.
func TestAgain(t *testing.T) {
	for n := range uint32(14) {
		b := silent(t, wqesched.Params{})
		q := b.qp(6, roce.MTU256, 1<<10, 64)
		b.post(0, send(abi.OpWrite, 0, sge(1000)).remote(1, 2), false)          // 4 packets
		b.post(0, send(abi.OpRead, 0, sge(1500)).remote(0x10000, 0x500), false) // 6 responses
		b.post(0, nop(), false)
		b.post(0, send(abi.OpSendImm, 0, sge(600)), false) // 3 packets
		b.post(0, swap(abi.OpFetchAdd, 0, 7, 0, sge(8)), false)
		require.NoError(t, b.k.Run(500))
		require.Len(t, b.Pkt.Got, 4+1+3+1)
		before := b.lost(n)
		b.run(3000)
		b.check()
		again := b.Pkt.Got[before:]
		require.Equal(t, q.First.Add(n), again[0].PSN)
		require.EqualValues(t, 1, again[0].Gen)
		require.Equal(t, q.First.Add(13), again[len(again)-1].PSN)
		require.Len(t, b.Sent.Got, 5)
		require.Len(t, b.Post.Got, 2)
		require.Len(t, b.Ahead.Got, 2)
		if n >= 4 && n < 10 { // the READ asks for the rest
			require.Equal(t, port.Reth{VA: port.VA(0x10000 + 256*(n-4)), RKey: 0x500, Len: 1500 - 256*(n-4)}, again[0].Reth)
			require.Equal(t, q.First.Add(9), again[0].LastPSN)
			require.Len(t, again, 1+3+1)
		}
	}
}

// TestAgainUnheld: what holds a WQE that is to be started holds none that is sent
// again: no entry is left, of the QP or in the table, no credit, no READ may be
// started, and it is fenced.
func TestAgainUnheld(t *testing.T) {
	b := silent(t, wqesched.Params{Entries: 5})
	q := b.qp(6, roce.MTU1024, 64, 4)
	q.Limited, q.Credits, q.Depth = true, 1, 2
	b.qp(6, roce.MTU1024, 64, 4)
	b.post(1, send(abi.OpSend, 0, sge(8)), false)
	fenced := send(abi.OpSend, abi.WQEFence, sge(8))
	b.post(0, fenced, false)
	b.post(0, read(8), false)
	b.post(0, nop(), false)
	b.post(0, read(8), false)
	b.post(0, send(abi.OpWrite, 0, sge(8)).remote(1, 2), false)
	require.NoError(t, b.k.Run(500))
	require.Len(t, b.Pkt.Got, 1+3)
	require.Len(t, b.Sent.Got, 1+3+1)
	before := b.lost(0)
	require.NoError(t, b.k.Run(b.k.Cycle()+100))
	require.GreaterOrEqual(t, len(b.Pkt.Got), before+3)
	for i, p := range b.Pkt.Got[before : before+3] {
		require.Equal(t, q.First.Add(uint32(i)), p.PSN)
	}
	b.acks = append(b.acks, ack{at: b.k.Cycle(), qpn: 1, una: b.qps[1].Next, cqn: 1})
	b.run(3000)
	b.check()
}

// TestAgainStarved: a QP that waits for an entry of the table is activated to send
// again what the entries are of that it waits for.
func TestAgainStarved(t *testing.T) {
	b := silent(t, wqesched.Params{Entries: 1})
	b.qp(6, roce.MTU1024, 64, 4)
	b.post(0, send(abi.OpSend, 0, sge(8)), false)
	b.post(0, send(abi.OpSend, 0, sge(8)), false)
	require.NoError(t, b.k.Run(500))
	require.Len(t, b.Pkt.Got, 1)
	b.lost(0)
	b.run(3000)
	b.check()
	require.Len(t, b.Pkt.Got, 3)
}

// TestAgainPaused: in SQD what is entered is sent, and nothing is started.
func TestAgainPaused(t *testing.T) {
	b := silent(t, wqesched.Params{})
	q := b.qp(6, roce.MTU256, 3, 4)
	b.post(0, send(abi.OpSend, 0, sge(256)), false)
	b.post(0, send(abi.OpSend, 0, sge(1000)), false)
	b.post(0, send(abi.OpSend, 0, sge(256)), false)
	require.NoError(t, b.k.Run(500))
	require.Len(t, b.Pkt.Got, 3, "the window is shut")
	q.Paused = true
	before := b.lost(0)
	require.NoError(t, b.k.Run(b.k.Cycle()+1000))
	require.Len(t, b.Pkt.Got[before:], 5)
	require.Len(t, b.Sent.Got, 2)
	require.Empty(t, q.Live)
	q.Paused = false
	b.k.Go("resume", func(*hdl.Thread) { b.Activate.Push(port.Activate{}) })
	b.run(1000)
	b.check()
	require.Len(t, b.Sent.Got, 3)
}

// TestAgainFault: a faulty WQE was entered by a service from before the rewind, so
// its Fault was passed over; it is told again where it stands.
func TestAgainFault(t *testing.T) {
	for _, bad := range malformed {
		b := silent(t, wqesched.Params{})
		q := b.qp(6, roce.MTU256, 64, 16)
		b.post(0, send(abi.OpSend, 0, sge(600)), false)
		b.post(0, nop(), false)
		require.NoError(t, b.k.Run(500))
		b.post(0, bad.w, false)
		// The rewind comes while the service with the fault is open.
		put, early := b.Put.OnTake, true
		b.Put.OnTake = func(p port.SQPut) {
			if p.Fault && early {
				early = false
				b.again(0)
			}
			put(p)
		}
		b.acks = nil
		b.ackDelay = func() uint64 { return 30 }
		b.run(3000)
		require.True(t, q.Faulty, bad.name)
		require.True(t, q.Failed, bad.name)
		require.Len(t, b.Sent.Got, 3)
		require.Len(t, b.Pkt.Got, 6, "%s: the SEND twice", bad.name)
		last := b.Put.Got[len(b.Put.Got)-1]
		require.True(t, last.Fault)
		require.Equal(t, last.Entered, last.ExecIdx)
		require.Equal(t, last.EnteredPSN, last.NextPSN)
	}
}

// TestAgainChanged: the host overwrote a WQE before it was sent again. Where units
// and PSNs do not come out the message fails, at a PSN that was entered; where none
// is left, the service ends with Fault.
func TestAgainChanged(t *testing.T) {
	two := work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpNop, Units: 2}}
	bad := work{Units: 1, Ctrl: abi.WQEControl{Op: 77}}
	for _, c := range []struct {
		name    string
		entered int // of SEND of 3 packets, NOP, SEND of 2 packets, NOP, NOP, NOP
		at      int // the one that was changed
		by      work
		sent    int  // packets before the one that fails
		fault   bool // it ends with Fault
		from    uint32
	}{
		{"fewer packets, more behind it", 5, 0, send(abi.OpSend, 0, sge(8)), 3, false, 0},
		{"fewer packets at the end", 3, 2, send(abi.OpSend, 0, sge(8)), 3, false, 0},
		{"none, more behind it", 5, 2, nop(), 3, false, 0},
		{"none at the end", 3, 2, nop(), 3, false, 0},
		{"more packets", 5, 2, send(abi.OpSend, 0, sge(513)), 3, false, 0},
		{"more packets, of a WQE in the middle", 5, 0, send(abi.OpSend, 0, sge(256*5+1)), 0, false, 0},
		{"more units", 3, 2, send(abi.OpSend, 0, sge(300), sge(0), sge(0)), 3, false, 0},
		{"more units of none", 3, 2, two, 3, false, 0},
		{"malformed", 5, 0, bad, 0, false, 0},
		{"malformed, no packets before", 5, 1, bad, 3, false, 0},
		{"malformed at the end", 3, 2, bad, 3, false, 0},
		{"units beyond all", 4, 0, work{Units: 1, Ctrl: abi.WQEControl{Op: abi.OpNop, Units: 5}}, 0, false, 0},
		{"local, with packets", 5, 4, send(abi.OpSend, 0), 5, true, 0},
		{"local, malformed", 5, 4, bad, 5, true, 0},
		{"local, malformed, more behind it", 5, 3, bad, 5, true, 0},
		{"local, more units", 5, 4, two, 5, true, 0},
		{"ends where it goes on", 5, 0, send(abi.OpSend, 0, sge(512)), 0, false, 2},
		{"local where it goes on", 5, 0, nop(), 0, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := silent(t, wqesched.Params{Lines: 1})
			q := b.qp(6, roce.MTU256, 64, 16).place(0)
			b.qp(6, roce.MTU256, 64, 16)
			for _, w := range []work{send(abi.OpSend, 0, sge(600)), nop(), send(abi.OpSend, 0, sge(300)), nop(), nop(), nop()} {
				b.post(0, w, false)
			}
			q.Messages = c.entered
			require.NoError(t, b.k.Run(500))
			require.Len(t, b.Sent.Got, c.entered)
			q.Messages = 16
			b.k.Go("post", func(*hdl.Thread) { b.post(1, nop(), false) }) // takes the line
			require.NoError(t, b.k.Run(1000))
			w := q.Posted[c.at]
			c.by.Ctrl.Index = w.Idx
			if c.by.Ctrl.Units == 0 {
				c.by.Ctrl.Units = uint8(c.by.Units)
			}
			abi.WQEControlLayout.Encode(&c.by.Ctrl, q.Ring[abi.RingSlot(w.Idx, q.Log)][:])
			for i, e := range c.by.SGE {
				q.element(w.Idx, i, e)
			}
			before := b.lost(c.from)
			b.run(5000)
			require.True(t, q.Failed)
			again := b.Pkt.Got[before:]
			fault := false
			for _, p := range b.Put.Got {
				if p.Fault {
					fault = true
					require.Equal(t, p.Entered, p.ExecIdx)
				}
			}
			require.Equal(t, c.fault, fault)
			if c.fault {
				require.Len(t, again, c.sent)
			} else {
				require.Len(t, again, c.sent+1)
				p := again[c.sent]
				require.True(t, gaveUp(&p))
				require.True(t, p.PSN.Before(q.EnterPSN))
				require.Equal(t, p.PSN, p.LastPSN)
			}
			require.Len(t, b.Sent.Got, 6+1, "what was not entered is flushed")
			last := b.Put.Got[len(b.Put.Got)-1]
			require.Equal(t, q.PI, last.ExecIdx)
		})
	}
}

// TestAgainKeys: payload is sent from where the WQE says now.
func TestAgainKeys(t *testing.T) {
	b := silent(t, wqesched.Params{Lines: 1})
	q := b.qp(6, roce.MTU256, 64, 16)
	b.qp(6, roce.MTU256, 64, 16)
	b.post(0, send(abi.OpSend, 0, sge(600)), false)
	require.NoError(t, b.k.Run(500))
	b.k.Go("post", func(*hdl.Thread) { b.post(1, nop(), false) }) // takes the line
	require.NoError(t, b.k.Run(1000))
	q.change(&q.Posted[0])
	b.lost(1)
	b.run(1000)
	b.check()
	require.Len(t, b.Piece.Got, 5)
	for i, p := range b.Piece.Got {
		require.Equal(t, i >= 3, p.Key&changedKey != 0)
	}
}

// TestAgainOldService: a service that is open goes on as it was; the new generation
// starts after its Put.
func TestAgainOldService(t *testing.T) {
	for delay := range uint64(40) {
		b := silent(t, wqesched.Params{})
		q := b.qp(6, roce.MTU256, 1<<10, 64)
		for range 4 {
			b.post(0, send(abi.OpSend, 0, sge(1000)), false)
		}
		b.ackDelay = func() uint64 { return 30 }
		require.NoError(t, b.k.Run(20+delay))
		b.k.Go("rewind", func(*hdl.Thread) { b.rewind(0, q.Una) })
		b.run(3000)
		b.check()
		require.Len(t, b.Sent.Got, 4)
	}
}

// TestAgainOnChip: a WQE that was executed last, and those before it in its block,
// need not be read again, whether others came behind it or not.
func TestAgainOnChip(t *testing.T) {
	for place := range uint16(8) {
		for n := range 8 - place {
			b := silent(t, wqesched.Params{})
			b.qp(6, roce.MTU256, 64, 16).place(place)
			for range 1 + n {
				b.post(0, send(abi.OpSend, 0, sge(8)), false)
			}
			require.NoError(t, b.k.Run(500))
			reads := len(b.Read.Got)
			before := b.lost(0)
			b.run(1000)
			b.check()
			require.Len(t, b.Pkt.Got[before:], int(1+n))
			require.Len(t, b.Read.Got, reads)
		}
	}
}

// TestAgainFarBack: 48 units before the one to be executed are on chip, while the next
// line is, too.
func TestAgainFarBack(t *testing.T) {
	for place := range uint16(8) {
		b := silent(t, wqesched.Params{})
		q := b.qp(7, roce.MTU256, 1<<10, 64).place(place)
		for range 48 {
			b.post(0, send(abi.OpSend, 0, sge(8)), false)
		}
		require.NoError(t, b.k.Run(1000))
		q.Paused = true
		b.k.Go("post", func(*hdl.Thread) {
			for range 16 {
				b.post(0, send(abi.OpSend, 0, sge(8)), false)
			}
		})
		require.NoError(t, b.k.Run(2000))
		require.Len(t, b.Pkt.Got, 48)
		reads := len(b.Read.Got)
		b.lost(0)
		require.NoError(t, b.k.Run(2300))
		require.Len(t, b.Pkt.Got, 2*48)
		for _, r := range b.Read.Got[reads:] {
			unit := (uint16((r.Addr-q.Base)/64) - q.Posted[0].Idx) % 128
			require.GreaterOrEqual(t, unit, uint16(48), "it was executed before")
		}
		q.Paused = false
		b.k.Go("resume", func(*hdl.Thread) { b.Activate.Push(port.Activate{}) })
		b.run(2000)
		b.check()
	}
}

// TestKeptLines: lines that are kept for a rewind are a quarter of the pool, and
// give way.
func TestKeptLines(t *testing.T) {
	b := silent(t, wqesched.Params{Lines: 8})
	b.ackDelay = func() uint64 { return 30 }
	for i := range 12 {
		b.qp(6, roce.MTU256, 64, 16)
		b.k.Go("post", func(*hdl.Thread) { b.post(i, send(abi.OpSend, 0, sge(8)), false) })
		require.NoError(t, b.k.Run(b.k.Cycle()+200))
		b.run(1000)
		require.EqualValues(t, min(i+1, 2), b.Sched.Fetch.Q.Spent)
	}
	b.k.Go("all", func(*hdl.Thread) {
		for i := range b.qps {
			for range 12 {
				b.post(i, send(abi.OpSend, 0, sge(8)), false)
			}
		}
	})
	require.NoError(t, b.k.Run(b.k.Cycle()+200))
	b.run(5000)
	b.check()
	require.LessOrEqual(t, b.Sched.Fetch.Q.Spent, uint8(2))
}

// TestKeptLineGone: a line that was kept for a rewind is counted no more when another
// QP takes it, or when its own is reset.
func TestKeptLineGone(t *testing.T) {
	b := silent(t, wqesched.Params{Lines: 4})
	b.ackDelay = func() uint64 { return 30 }
	post := func(qpn, n int) {
		b.k.Go("post", func(*hdl.Thread) { b.post(qpn, send(abi.OpSend, 0, sge(n)), false) })
		require.NoError(t, b.k.Run(b.k.Cycle()+500))
	}
	for i := range 6 {
		b.qp(6, roce.MTU256, 1, 16)
		b.qps[i].place(0)
	}
	post(0, 8)
	require.EqualValues(t, 1, b.Sched.Fetch.Q.Spent)
	b.k.Go("reset", func(th *hdl.Thread) { b.reset(th, 0) })
	require.NoError(t, b.k.Run(b.k.Cycle()+500))
	require.Zero(t, b.Sched.Fetch.Q.Spent)
	post(0, 8)
	require.EqualValues(t, 1, b.Sched.Fetch.Q.Spent)
	b.ackDelay = func() uint64 { return 3000 }
	for i := 1; i < 6; i++ {
		post(i, 512) // its line is needed until the window opens again
	}
	require.Zero(t, b.Sched.Fetch.Q.Spent)
	b.run(20000)
	b.check()
}
