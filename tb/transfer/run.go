package transfer

import (
	"errors"
	"fmt"

	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/check"
	"rnic/tb/hang"
	"rnic/tb/host"
)

// Result is what a transfer came to.
type Result struct {
	// Messages that arrived, each at least once; others of UC and UD were Lost. Repeated
	// is how often one arrived that had arrived before.
	Messages, Lost, Repeated int
	Packets                  int    // sent
	Bytes                    int64  // of the messages
	Cycles                   uint64 // of the whole run, set-up included
	// Goodput is payload over time from the last bit of the first message that
	// ends to the last bit of the last one, at the receiver's MAC; 0 for one message. WireLimit is what the frames' overhead leaves of the link's rate.
	// Both are 0 for atomics, whose data lie in headers. With Faults, goodput is all the
	// data over the time from its first packet to the last completion; of UC and UD,
	// also when some is lost, what arrived, over the time to the last packet.
	GoodputGbps, WireLimitGbps float64
	// CyclesPerMessage is that time in cycles, a message.
	CyclesPerMessage float64
	// Back is GoodputGbps of the messages of host b, with TwoWay.
	BackGbps float64
	Marks    Marks
	Counters [2][abi.NumCounters]uint64 // of host a and b
	// PCIe is what went over the link of host a and b after the set-up.
	PCIe [2]PCIe
	// Latency is from when each message was due to when host a saw its completion,
	// cycles; with Due.
	Latency []uint64
}

// Marks are the first of their kind, ps; 0: none.
type Marks struct {
	FirstPacket, FirstAck, LastPacket int64
}

// PCIe is the traffic of a host's link: bytes as on the link, headers included, up
// from the NIC and down to it, and the most reads of the NIC in flight at once.
type PCIe struct {
	Up, Down uint64
	MaxReads int
}

// settle is how long a host rests before its state at rest is noted, and after
// the last message, in cycles: all that is posted lands within it.
const settle = 4000

// run is a job in progress.
type run struct {
	j                Job
	b, a             side
	messages, rounds int
	bench            *tb.Bench
	dog              *hang.Dog
	latency          []uint64 // with Due, by message

	// Of UC and UD, at host b:
	arrived  []bool         // by message
	next     map[[2]int]int // the message that should come next, by QP of host b and a
	received int64          // bytes of messages that arrived
	repeated int
}

// Run does the job on a fresh bench. One that does not go on ends with a *hang.Hang.
func (j *Job) Run(b *tb.Bench) (Result, error) {
	if err := j.Check(); err != nil {
		return Result{}, err
	}
	r := &run{j: *j, bench: b, messages: j.Messages()}
	if j.Due != nil {
		r.latency = make([]uint64, r.messages)
	}
	if j.unreliable() {
		r.arrived, r.next = make([]bool, r.messages), map[[2]int]int{}
	}
	r.rounds = (r.messages-1)/j.round() + 1
	r.a, r.b = side{j: &r.j, h: b.Hosts[0]}, side{j: &r.j, h: b.Hosts[1]}
	r.watch()
	if j.Faults != nil {
		j.Faults.Attach(b)
		r.a.timeout = r.timeout()
		r.b.timeout = r.a.timeout
	}
	r.dog = hang.Watch(b, hang.Options{})
	r.start()
	err := r.dog.Run(r.over, limit)
	if e := errors.Join(r.a.err, r.b.err); e != nil {
		for _, s := range []*side{&r.a, &r.b} {
			e = errors.Join(append([]error{e}, s.wire.Errors()...)...)
		}
		return Result{}, e
	}
	if err != nil {
		return Result{}, err
	}
	return r.result(), r.verdict()
}

// start starts the threads.
func (r *run) start() {
	send := func(s *side, n int) {
		r.thread(s, fmt.Sprintf("sender_%d", n), func(t *hdl.Thread, bus *host.Bus) error { return r.sender(t, bus, s, n) })
	}
	if r.j.TwoWay {
		r.b.off = r.j.bufferSize()
		r.thread(&r.a, "coordinator", r.coordinateTwoWay(&r.a, &r.b))
		r.thread(&r.b, "coordinator", r.coordinateTwoWay(&r.b, &r.a))
		for n := range r.j.QPs {
			send(&r.a, n)
			send(&r.b, n)
		}
		return
	}
	r.thread(&r.a, "coordinator", r.coordinateSender)
	r.thread(&r.b, "coordinator", r.coordinateReceiver)
	for n := range r.j.QPs {
		send(&r.a, n)
		r.thread(&r.b, fmt.Sprintf("receiver_%d", n), func(t *hdl.Thread, bus *host.Bus) error { return r.receiver(t, bus, n) })
	}
}

// limit is far beyond any job: a minute of simulated time.
const limit = 15_000_000_000

// thread starts a thread of a host; its error ends the job.
func (r *run) thread(s *side, name string, fn func(*hdl.Thread, *host.Bus) error) {
	s.h.Go(name, func(t *hdl.Thread, bus *host.Bus) {
		if err := fn(t, bus); err != nil {
			s.fail(err)
		}
	})
}

// over tells whether the run shall end, at barriers.
func (r *run) over() bool {
	if r.j.Progress != nil {
		r.j.Progress(r.bench.World.Now(), r.a.arrived+r.b.arrived)
	}
	return r.a.err != nil || r.b.err != nil || r.bench.Done()
}

// settled notes a host's state at rest.
func (r *run) settled(s *side) {
	s.rest = tb.NewRest(s.h)
	s.h.Machine.RC.Stats.MaxReads = 0
	if r.j.Faults != nil {
		r.j.Faults.Start(s.h.Index - 1)
	}
	s.pcie.Up, s.pcie.Down = s.h.Machine.RC.Stats.UpBytes, s.h.Machine.RC.Stats.DownBytes
}

// watch puts checkers and meters on both ports.
func (r *run) watch() {
	for _, s := range []*side{&r.a, &r.b} {
		w := check.NewWire(r.j.MTU.Bytes())
		w.Lossy = r.j.Faults != nil
		if r.j.VLAN != nil {
			w.Tagged, w.TCI = true, *r.j.VLAN
		}
		s.wire = w
		s.h.Tap(func(f tb.Frame) { w.Frame(f.TimePs, f.Tx, f.BadFCS, f.Data) })
		s.h.Tap(s.meter.frame)
	}
}

// ends are where the data of host a, or the answers to it, arrive, and where they
// come from.
func (r *run) ends() (to, from *side) {
	if r.j.Op == abi.OpRead || r.j.atomic() {
		return &r.a, &r.b
	}
	return &r.b, &r.a
}

// result adds the figures up.
func (r *run) result() Result {
	to, from := r.ends()
	w := from.wire
	res := Result{
		Messages: r.a.arrived + r.b.arrived, Packets: int(r.a.wire.Counts.Requests), Bytes: int64(r.a.wire.Counts.Payload + r.b.wire.Counts.Payload), Cycles: r.bench.World.Now(),
		Marks: to.meter.marks, Counters: [2][abi.NumCounters]uint64{r.a.counter, r.b.counter},
		PCIe: [2]PCIe{r.a.pcie, r.b.pcie}, Latency: r.latency,
	}
	res.Lost, res.Repeated = r.j.buffers()*r.messages-res.Messages, r.repeated
	if r.j.unreliable() {
		res.Bytes = r.received
	} else if r.j.atomic() || r.j.Faults != nil {
		res.Bytes = int64(r.j.buffers()) * r.j.Data.Size() // in headers, or sent more than once
	}
	if wire := w.Counts.TxBytes + w.Counts.TxPackets*frameExtra; wire > 0 {
		res.WireLimitGbps = r.gbps() * float64(w.Counts.Payload) / float64(wire)
	}
	res.GoodputGbps, res.CyclesPerMessage = to.meter.goodput(res.WireLimitGbps)
	if r.j.TwoWay {
		res.BackGbps, _ = from.meter.goodput(res.WireLimitGbps)
	}
	if r.j.Faults != nil || res.Lost > 0 {
		res.GoodputGbps, res.CyclesPerMessage = r.lossyGoodput(to, &r.a)
		if r.j.TwoWay {
			res.BackGbps, _ = r.lossyGoodput(from, &r.b)
		}
	}
	return res
}

// frameExtra is what a frame takes of the wire beside the bytes of a capture:
// FCS, preamble and gap.
const frameExtra = 4 + 20

// verdict demands that all went as it must.
func (r *run) verdict() error {
	var errs []error
	if n := r.a.arrived + r.b.arrived; n != r.j.buffers()*r.messages && !r.excused() {
		errs = append(errs, fmt.Errorf("%d of %d messages received", n, r.j.buffers()*r.messages))
	}
	if r.repeated > 0 && r.j.Faults == nil {
		errs = append(errs, fmt.Errorf("%d messages received again", r.repeated))
	}
	for _, s := range []*side{&r.a, &r.b} {
		w := s.wire
		w.Finish()
		errs = append(errs, w.Errors()...)
		errs = append(errs, s.rest.Check())
		for _, c := range []struct {
			n    abi.Counter
			want uint64
		}{
			{abi.TxPackets, w.Counts.TxPackets}, {abi.TxBytes, w.Counts.TxBytes},
			{abi.RxPackets, w.Counts.RxPackets}, {abi.RxBytes, w.Counts.RxBytes},
			{abi.AcksSent, w.Counts.TxAcks}, {abi.NaksSent, w.Counts.TxNaks}, {abi.RNRNaksSent, w.Counts.TxRNRNaks},
		} {
			if r.j.Faults != nil && (c.n == abi.RxPackets || c.n == abi.RxBytes) {
				continue // what faults make of a frame may be no packet any more
			}
			if got := s.counter[c.n]; got != c.want {
				errs = append(errs, fmt.Errorf("%s: counter %v is %d, the wire saw %d", s.h.K.Name(), c.n, got, c.want))
			}
		}
	}
	if r.j.Faults != nil {
		errs = append(errs, r.j.Faults.Missed())
	}
	return errors.Join(errs...)
}

// excused tells whether messages may be missing: of UC and UD, by faults, or when host
// b had no room.
func (r *run) excused() bool {
	c := &r.b.counter
	return r.j.unreliable() && (r.j.Faults != nil || c[abi.RxDropOverflow]+c[abi.OutOfBuffer] > 0)
}

// meter times the messages, or the answers, that come to a MAC.
type meter struct {
	marks    Marks
	messages int
	bytes    int64 // of payload after the end of the first message
	first    int64 // ps, end of the first message
	last     int64
}

func (m *meter) frame(f tb.Frame) {
	p, err := roce.ParseFrame(f.Data)
	if err != nil || f.BadFCS {
		return
	}
	if ack := p.BTH.Opcode == roce.RCAck; f.Tx || ack {
		if !ack {
			return
		}
		if m.marks.FirstAck == 0 {
			m.marks.FirstAck = f.TimePs
		}
		return
	}
	if p.BTH.Opcode == roce.RCReadRequest {
		return // what it asks for goes the other way
	}
	if m.marks.FirstPacket == 0 {
		m.marks.FirstPacket = f.TimePs
	}
	m.marks.LastPacket = f.TimePs
	if m.messages > 0 {
		m.bytes += int64(len(p.Payload))
	}
	if !p.BTH.Opcode.Ends() {
		return
	}
	if m.messages == 0 {
		m.first = f.TimePs
	}
	m.messages++
	m.last = f.TimePs
}

// goodput is in Gb/s, and cycles a message. Frames are timed in whole cycles: what is
// above the limit by less than that is the limit.
func (m *meter) goodput(limit float64) (gbps, cycles float64) {
	if m.messages < 2 || m.last == m.first {
		return 0, 0
	}
	ps := float64(m.last - m.first)
	gbps = float64(m.bytes) * 8 * 1000 / ps
	if gbps > limit && gbps*ps <= limit*(ps+tb.PeriodPs) {
		gbps = limit
	}
	return gbps, ps / tb.PeriodPs / float64(m.messages-1)
}
