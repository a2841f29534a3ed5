package responder_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/roce"
	"rnic/rtl/port"
	"rnic/rtl/responder"
)

// packet is a packet with its piece.
type packet struct {
	pkt   port.TxPkt
	piece port.TxPiece
}

// answer is a job with the packets that it stands for.
type answer struct {
	ack     bool // may be replaced by the next one, if that is ack too
	done    bool // a responder resource comes free
	again   bool // of a duplicate
	packets []packet
}

// expand is what a job stands for. r is the result of an atomic.
func expand(j port.Job, r port.AtomicRes) answer {
	base := port.TxPkt{QPN: j.QPN, Resp: true, Opcode: roce.RCAck, PSN: j.PSN, Syndrome: j.Syndrome, MSN: j.MSN}
	a := answer{done: j.Kind != port.JobAck, again: j.Again}
	switch {
	case j.Kind == port.JobAck:
		a.ack = j.Syndrome < 32
	case j.Kind == port.JobNone, j.Again && r.Err:
		return a
	case j.Kind == port.JobAtomic:
		base.Opcode, base.Reth.Swap, base.Unread = roce.RCAtomicAck, r.Value, r.Err
	default:
		base.Again = j.Again
		for off := uint32(0); off == 0 || off < j.Len; off += uint32(j.MTU) {
			p := packet{pkt: base}
			first, last := off == 0, off+uint32(j.MTU) >= j.Len
			p.pkt.PSN = j.PSN.Add(uint32(len(a.packets)))
			switch {
			case first && last:
				p.pkt.Opcode = roce.RCReadRespOnly
			case first:
				p.pkt.Opcode = roce.RCReadRespFirst
			case last:
				p.pkt.Opcode = roce.RCReadRespLast
			default:
				p.pkt.Opcode, p.pkt.Syndrome, p.pkt.MSN = roce.RCReadRespMiddle, 0, 0
			}
			if j.Len > 0 {
				p.pkt.Len, p.pkt.NumPieces = uint16(min(uint32(j.MTU), j.Len-off)), 1
				p.piece = port.TxPiece{Access: uint8(abi.AccessRemoteRead), Key: j.Key, VA: j.VA + port.VA(off), Len: p.pkt.Len}
			}
			a.packets = append(a.packets, p)
		}
		return a
	}
	a.packets = []packet{{pkt: base}}
	return a
}

// step is a job of a program; it has the result of an atomic and when that comes.
type step struct {
	job   port.Job
	res   port.AtomicRes
	delay uint64
}

// program draws jobs. PSNs of a QP go up all the time, but those of duplicates, which
// are of one of the last three READs and atomics.
func program(rt *rapid.T, p responder.Params) (steps []step) {
	var psn [1 << 8]roce.PSN
	var saved [1 << 8][]step
	var slot [1 << 8]uint8
	n := rapid.IntRange(1, 120).Draw(rt, "jobs")
	purges := rapid.IntRange(0, 1).Draw(rt, "purges")
	for range n {
		qpn := port.QPN(rapid.IntRange(0, 1<<p.LogQP-1).Draw(rt, "qp"))
		msn := port.MSN(rapid.IntRange(0, 0xffffff).Draw(rt, "msn"))
		s := step{job: port.Job{QPN: qpn, PSN: psn[qpn], MSN: msn}}
		psns := uint32(1)
		switch k := rapid.IntRange(-3, 19+purges).Draw(rt, "kind"); {
		case k < 0:
			if len(saved[qpn]) == 0 {
				continue
			}
			s, psns = again(rt, rapid.SampledFrom(saved[qpn]).Draw(rt, "saved")), 0
			s.job.MSN = msn
		case k < 9:
			s.job.Kind, s.job.Syndrome = port.JobAck, uint8(rapid.IntRange(0, 31).Draw(rt, "credits"))
		case k < 11:
			s.job.Kind, s.job.Syndrome = port.JobAck, rapid.SampledFrom([]uint8{0x20, 0x3f, 0x60, 0x61, 0x63}).Draw(rt, "nak")
		case k < 16:
			s.job.Kind, s.job.Key, s.job.VA = port.JobRead, 0x1234, port.VA(rapid.Uint64().Draw(rt, "va"))
			s.job.MTU = 256 << rapid.IntRange(0, 4).Draw(rt, "mtu")
			most := uint32(s.job.MTU) * rapid.SampledFrom([]uint32{0, 1, 2, 5, 40}).Draw(rt, "packets")
			s.job.Len = most - min(most, uint32(rapid.SampledFrom([]int{0, 0, 1, 100}).Draw(rt, "less")))
			psns = max(1, (s.job.Len+uint32(s.job.MTU)-1)/uint32(s.job.MTU))
		case k < 20:
			s.job.Kind, s.job.MTU, s.job.Len = port.JobAtomic, 1024, 8
			s.job.Slot = slot[qpn]
			slot[qpn] = (slot[qpn] + 1) % 16
			s.res = port.AtomicRes{QPN: qpn, PSN: s.job.PSN, Slot: s.job.Slot, Value: rapid.Uint64().Draw(rt, "value"), Err: rapid.IntRange(0, 9).Draw(rt, "err") == 0}
			s.delay = rapid.Uint64Range(0, 20).Draw(rt, "delay")
		default:
			s.job = port.Job{Purge: true, QPN: qpn}
			psns, saved[qpn] = 0, nil
		}
		if needsAnswer(&s.job) {
			saved[qpn] = append(saved[qpn], s)
			saved[qpn] = saved[qpn][max(0, len(saved[qpn])-3):]
		}
		psn[qpn] = psn[qpn].Add(psns)
		steps = append(steps, s)
	}
	return steps
}

// again is the job of a duplicate, of a READ that of the rest of it from some packet on.
func again(rt *rapid.T, of step) step {
	j := &of.job
	j.Again = true
	if j.Kind == port.JobRead && j.Len > 0 {
		skip := uint32(rapid.IntRange(0, int(min(3, (j.Len-1)/uint32(j.MTU)))).Draw(rt, "skip"))
		j.PSN = j.PSN.Add(skip)
		j.VA += port.VA(skip * uint32(j.MTU))
		j.Len -= skip * uint32(j.MTU)
	}
	if rapid.IntRange(0, 5).Draw(rt, "bad_key") == 0 {
		j.Kind = port.JobNone
	}
	return of
}

type outcome struct {
	pkts   []port.TxPkt
	pieces []port.TxPiece
	done   []port.RespDone
}

// TestProgram has random jobs answered, each QP's in order, everything that no
// purge forgot.
func TestProgram(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := responder.Params{
			LogQP:      uint(rapid.IntRange(1, 3).Draw(rt, "log_qp")),
			Jobs:       rapid.SampledFrom([]int{1, 2, 5, 200}).Draw(rt, "pool"),
			Budget:     rapid.SampledFrom([]int{1, 2, 16}).Draw(rt, "budget"),
			NoCoalesce: rapid.Bool().Draw(rt, "no_coalesce"),
		}
		throttle := rapid.Uint64Range(0, 1000).Draw(rt, "throttle")
		steps := program(rt, p)
		got := hdltest.Identical(rt, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, outcome) {
			b := newBench(rt, o, p, throttle)
			defer b.k.Close()
			b.Feed.open = map[port.QPN]int{}
			b.Done.OnTake = func(d port.RespDone) {
				if !d.Again {
					b.Feed.open[d.QPN] = max(0, b.Feed.open[d.QPN]-1)
				}
			}
			at, purge := uint64(0), map[port.QPN]int{}
			for i, s := range steps {
				b.give(s.job)
				if s.job.Purge {
					purge[s.job.QPN] = i + 1
				}
				if s.job.Kind == port.JobAtomic && !s.job.Again {
					at += s.delay
					b.Feed.results = append(b.Feed.results, due{at, i, purge[s.job.QPN] - 1, s.res})
				}
			}
			for idle := 0; idle < 5; {
				before := len(b.Pkt.Got) + b.Feed.Sent
				b.run(rt, 500)
				if idle++; before != len(b.Pkt.Got)+b.Feed.Sent {
					idle = 0
				}
			}
			require.Equal(rt, len(steps), b.Feed.Sent)
			require.Empty(rt, b.Feed.results)
			require.Zero(rt, b.DUT.Q.Used, "entries in lists")
			return b.k, outcome{b.Pkt.Got, b.Piece.Got, b.Done.Got}
		})
		for n := range 1 << p.LogQP {
			compare(rt, p, port.QPN(n), steps, got)
		}
	})
}

// compare holds what a QP sent against its jobs.
func compare(t require.TestingT, p responder.Params, n port.QPN, steps []step, got outcome) {
	var seen []packet
	pieces := got.pieces
	for _, k := range got.pkts {
		x := packet{pkt: k}
		if k.NumPieces > 0 {
			require.NotEmpty(t, pieces)
			x.piece, pieces = pieces[0], pieces[1:]
		}
		if k.QPN == n {
			seen = append(seen, x)
		}
	}
	require.Empty(t, pieces)
	var done tally
	for _, d := range got.done {
		if d.QPN == n {
			done.got(d.Again, 1)
		}
	}
	var life []answer
	end := func(last bool) {
		cut, silent := false, 0 // forgotten from here on; answers without a packet behind the last packet
		for i, a := range life {
			if len(a.packets) == 0 {
				silent++
			}
			for j, x := range a.packets {
				if !cut && len(seen) > 0 && seen[0] == x {
					seen = seen[1:]
					if a.done && j == len(a.packets)-1 {
						done.got(a.again, -1)
					}
					done.got(true, -silent)
					silent = 0
					continue
				}
				replaced := a.ack && i+1 < len(life) && life[i+1].ack && !p.NoCoalesce
				if !replaced {
					require.False(t, last, "packet %v of QP %d is missing, not %v", x.pkt, n, seen)
					cut = true
				}
			}
		}
		if last {
			done.got(true, -silent)
			silent = 0
		}
		done.perhaps += silent
		life = nil
	}
	for _, s := range steps {
		switch {
		case s.job.QPN != n:
		case s.job.Purge:
			end(false)
		default:
			life = append(life, expand(s.job, s.res))
		}
	}
	end(true)
	require.Empty(t, seen, "QP %d sent what it should not", n)
	require.Zero(t, done.first, "QP %d: resources", n)
	require.GreaterOrEqual(t, done.again, 0, "QP %d: duplicates", n)
	require.LessOrEqual(t, done.again, done.perhaps, "QP %d: duplicates", n)
}

// tally counts RespDones: those that came, less those that had to.
type tally struct {
	first, again int
	perhaps      int // of duplicates, before a purge: they may have come
}

func (d *tally) got(again bool, n int) {
	if again {
		d.again += n
	} else {
		d.first += n
	}
}
