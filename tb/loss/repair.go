package loss

import (
	"bytes"
	"errors"
	"fmt"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/fault"
	"rnic/tb/transfer"
)

// Stage is a part of the way from a loss to its repair.
type Stage struct {
	Name   string
	Block  string // that works in it; PCIe or Wire
	Cycles uint64
	Since  uint64 // its end, cycles since the first bit of the lost packet was sent
}

// Blocks of stages that no NIC has a part in.
const (
	PCIe = "pcie"
	Wire = "wire"
)

// Repair is the way of one loss. All times are cycles.
type Repair struct {
	Load
	Nth    int // data packet that was lost, from 1
	Stages []Stage
	// Nak is from the last bit of the packet beyond the gap at the responder's MAC to the
	// first bit of the NAK on the wire; Busy is how much of that the wire was taken by a
	// frame that had begun before.
	Nak, Busy uint64
	// Reaction is from the last bit of the NAK at the requester's MAC to the first bit of
	// the packet that is sent again; Taken is how much of that another frame was being
	// sent.
	Reaction, Taken uint64
	Loop            uint64 // from the first bit of the lost packet to when it is sent again
	InFlight        int    // packets of its QP that were sent in that time
	Crossings       []Crossing
}

// step is where a stage ends: the first cycle, not before the end of the stage before,
// in which a stream moved.
type step struct{ name, block, signal string }

// The way of a NAK, from the frame that tells of the gap.
var nakPath = []step{
	{"FCS checked", "mac", "nic.mac.receive.rx_out.put"},
	{"ICRC and headers checked", "pkt_rx", "nic.pkt_rx.pkt.put"},
	{"asked for a verdict", "ack_gen", "nic.ack_gen.issue.op.put"},
	{"verdict: beyond the expected PSN", "qpc", "nic.qpc.verdict.put"},
	{"into the order of placements", "ack_gen", "nic.ack_gen.judge.place.put"},
	{"all before it is placed", "scatter", "nic.scatter.finish.placed.put"},
	{"NAK due", "ack_gen", "nic.ack_gen.reply.resp.put"},
	{"NAK made", "responder", "nic.responder.pkt.put"},
	{"headers from context", "pkt_tx, qpc", "nic.pkt_tx.ask.fast.put"},
	{"frame, ICRC", "pkt_tx", "nic.pkt_tx.seal.eth.put"},
}

// The way from a NAK to the packet that it asks for.
var againPath = []step{
	{"FCS checked", "mac", "nic.mac.receive.rx_out.put"},
	{"ICRC and headers checked", "pkt_rx", "nic.pkt_rx.pkt.put"},
	{"asked for a verdict", "ack_gen", "nic.ack_gen.issue.op.put"},
	{"verdict: rewind", "qpc", "nic.qpc.verdict.put"},
	{"into the order of events", "ack_gen", "nic.ack_gen.judge.place.put"},
	{"event", "scatter", "nic.scatter.finish.event.put"},
	{"which message?", "retrans", "nic.retrans.retire.put"},
	{"queue moved back", "qpc", "nic.qpc.activate.put"},
	{"QP picked", "wqe_sched", "nic.wqe_sched.pick.get.put"},
	{"context read", "qpc", "nic.wqe_sched.fetch.ctx.take"},
	{"WQE, cut", "wqe_sched", "nic.wqe_sched.exec.pkt.put"},
	{"headers from context", "pkt_tx, qpc", "nic.pkt_tx.ask.payload.put"},
	{"key and address", "pkt_tx, mpt", "nic.pkt_tx.load.read.put"},
	{"payload asked for", "dma", "rc.from_nic.take"},
}

// Trace loses the nth packet with data of a load, and follows its repair by a NAK.
func (l Load) Trace(c tb.Config, nth int) (Repair, error) {
	b, err := tb.New(c)
	if err != nil {
		return Repair{}, err
	}
	defer b.Close()
	a, err := newTrace(b.Hosts[0], signals(againPath)...)
	if err != nil {
		return Repair{}, err
	}
	p, err := newTrace(b.Hosts[1], signals(nakPath)...)
	if err != nil {
		return Repair{}, err
	}
	n := 0
	b.Hosts[1].SetLoss(func() bool { n++; return n == nth })
	if _, err := l.transfer(b, fault.New(0)); err != nil {
		return Repair{}, err
	}
	a.finish()
	p.finish()
	r := Repair{Load: l, Nth: nth}
	return r, r.follow(a, p)
}

func signals(steps []step) (s []string) {
	for _, x := range steps {
		s = append(s, x.signal)
	}
	return s
}

// transfer runs the load.
func (l *Load) transfer(b *tb.Bench, plan *fault.Plan) (transfer.Result, error) {
	mtu, ok := roce.MTUOf(l.MTU)
	if !ok {
		return transfer.Result{}, fmt.Errorf("an MTU of %d: none of the five", l.MTU)
	}
	job := transfer.Job{
		Data: bytes.NewReader(l.data()), Op: l.Op, MTU: mtu, QPs: l.QPs, MsgSize: l.MsgSize, Depth: l.Depth, Batch: l.Batch, Faults: plan,
	}
	job.Driver.TimeUnit = l.TimeUnit
	if l.Timeout != 0 {
		job.Retries.Timeout = &l.Timeout
	}
	r, err := job.Run(b)
	if err != nil {
		err = fmt.Errorf("%v of %d bytes, %d QPs, MTU %d, %d of a million lost: %w", l.Op, l.MsgSize, l.QPs, l.MTU, l.Drop, err)
	}
	return r, err
}

var errNoNAK = errors.New("the loss was not repaired by a NAK")

// follow finds the frames of the repair, and what happened between.
func (r *Repair) follow(a, b *trace) error {
	isNAK := func(p *roce.Packet) bool {
		return p.BTH.Opcode == roce.RCAck && p.AETH.Syndrome == roce.NAKSyndrome(roce.NAKSequence)
	}
	in, out := a.find(0, false, isNAK), b.find(0, true, isNAK)
	if in < 0 || out < 0 {
		return errNoNAK
	}
	nakIn, nakOut := &a.frames[in], &b.frames[out]
	qp := b.frames[out].pkt.BTH.DestQP // of the requester
	psn := nakOut.pkt.BTH.PSN
	dest := a.destination(psn, in)
	isLost := func(p *roce.Packet) bool { return p.BTH.DestQP == dest && p.BTH.PSN == psn }
	lost := a.find(0, true, isLost)
	again := a.find(in, true, isLost)
	gap := -1
	for i := 0; i < out; i++ { // the last that came before the NAK and is beyond
		f := &b.frames[i]
		if gap < 0 && !f.tx && f.pkt.BTH.DestQP == dest && f.pkt.BTH.PSN.After(psn) {
			gap = i
		}
	}
	if lost < 0 || again < 0 || gap < 0 {
		return fmt.Errorf("QP %d, PSN %d: no gap, or never sent again", qp, psn)
	}
	first, beyond, second := &a.frames[lost], &b.frames[gap], &a.frames[again]
	r.Nak, r.Busy = nakOut.first-beyond.last, b.sending(beyond.last, nakOut.first)
	r.Reaction, r.Taken = second.first-nakIn.last, a.sending(nakIn.last, second.first)
	r.Loop = second.first - first.first
	for i := lost; i < again; i++ {
		if f := &a.frames[i]; f.tx && f.pkt.BTH.DestQP == dest && f.pkt.BTH.Opcode != roce.RCAck {
			r.InFlight++
		}
	}
	r.Crossings = crossings(a, b, lost, again, out)
	w := walk{dst: &r.Stages, at: first.first, begin: first.first}
	w.until("the lost packet and the next", Wire, beyond.first)
	w.until("the next arrives", Wire, beyond.last)
	w.steps(b, nakPath)
	w.until("first bit of the NAK", "mac", nakOut.first)
	w.until("link", Wire, nakIn.last)
	w.steps(a, againPath)
	w.until("payload read, frame complete, first bit", "pcie, dma, pkt_tx, mac", second.first)
	return w.err
}

// destination is the QP to which a packet of that PSN was sent before frame i.
func (t *trace) destination(psn roce.PSN, i int) roce.QPN {
	for i--; i >= 0; i-- {
		if f := &t.frames[i]; f.tx && f.pkt.BTH.PSN == psn && f.pkt.BTH.Opcode != roce.RCAck {
			return f.pkt.BTH.DestQP
		}
	}
	return 0
}

// sending is how much of the time between two cycles frames were being sent.
func (t *trace) sending(from, to uint64) (n uint64) {
	for i := range t.frames {
		if f := &t.frames[i]; f.tx && f.last >= from && f.first < to {
			n += min(f.last+1, to) - max(f.first, from)
		}
	}
	return n
}

// walk adds up stages.
type walk struct {
	dst       *[]Stage
	at, begin uint64
	err       error
}

func (w *walk) until(name, block string, cycle uint64) {
	if cycle < w.at {
		w.err = errors.Join(w.err, fmt.Errorf("%q ends %d cycles before it begins", name, w.at-cycle))
		return
	}
	*w.dst = append(*w.dst, Stage{name, block, cycle - w.at, cycle - w.begin})
	w.at = cycle
}

func (w *walk) steps(t *trace, steps []step) {
	for _, s := range steps {
		c, ok := t.next(s.signal, w.at)
		if !ok {
			w.err = errors.Join(w.err, fmt.Errorf("no %q any more", s.name))
			return
		}
		w.until(s.name, s.block, c)
	}
}

// data is what is sent.
func (l *Load) data() []byte {
	d := make([]byte, l.MsgSize*l.Messages)
	for i := range d {
		d[i] = byte(i*7 + i>>8)
	}
	return d
}
