package scenario

import (
	"errors"
	"math"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/accept"
	"rnic/tb/host"
)

// side is a host of a run. What it holds is used from its own kernel, and between
// the parts of the run by the judge.
type side struct {
	r      *run
	n      int
	h      *tb.Host
	accept *accept.Acceptor
	rest   *tb.Rest

	bus  *host.Bus // of main
	dev  *driver.Device
	pd   *driver.PD
	cq   *driver.CQ
	qps  []*driver.QP // by index of the QP; nil: of the other host
	mrs  []*region    // by index of the region; nil: of the other host
	ends []driver.Endpoint

	script  func(*side) error
	begin   hdl.Event
	working bool
	err     error // the first

	left    int // steps to be done
	owed    int // completions that are expected
	done    []bool
	counts  []uint64 // completions, by index of the QP
	changed hdl.Event
	tells   []bool // by step: the other host wants to know
	counted []bool // by QP: the other host counts

	came   []driver.WC
	sent   []sent
	events []driver.AsyncEvent
	states []abi.QPState // by index of the QP
	values [abi.NumCounters]uint64
	after  [][]byte // of the regions, by index
	moved  uint64   // cycle of the last frame or completion
}

// region is a memory region of the host.
type region struct {
	buf *driver.Buffer
	mr  *driver.MR
}

// newSide makes a host of the run and its threads, in a fixed order.
func newSide(r *run, n int, h *tb.Host) *side {
	s := &side{
		r: r, n: n, h: h, done: make([]bool, len(r.s.Work)), tells: make([]bool, len(r.s.Work)),
		counts: make([]uint64, len(r.s.QPs)), counted: make([]bool, len(r.s.QPs)),
	}
	s.accept = accept.New(r.s.params(n, h.K.Name()))
	h.Tap(s.frame)
	s.thread("main", s.main)
	s.thread("clock", func(t *hdl.Thread, _ *host.Bus) error {
		for { // a world in which nothing is due any more would end
			t.Sleep(tb.Cycles(tick))
		}
	})
	s.thread("oob", s.listen)
	s.thread("poll", s.poll)
	s.queues()
	return s
}

// tick is the pace at which the end of a run is looked for.
const tick = 5000 * tb.Period / 4

// thread starts a thread; its error ends the run.
func (s *side) thread(name string, fn func(*hdl.Thread, *host.Bus) error) {
	s.h.Go(name, func(t *hdl.Thread, bus *host.Bus) {
		if err := fn(t, bus); err != nil && s.err == nil {
			s.err = err
		}
	})
}

// main executes the scripts of the run.
func (s *side) main(t *hdl.Thread, bus *host.Bus) error {
	s.bus = bus
	for {
		for s.script == nil {
			t.Wait(&s.begin, 0)
		}
		if err := s.script(s); err != nil {
			return err
		}
		s.script = nil
	}
}

// open opens the device.
func (s *side) open() (err error) {
	k, h := uint8(s.h.Index), &s.r.s.Hosts[s.n]
	s.ends = make([]driver.Endpoint, len(s.r.s.QPs))
	s.dev, err = driver.Open(s.bus, driver.Config{
		MAC: roce.HostMAC(k), IPv4: roce.HostIPv4(k), GID: roce.HostIPv6(k),
		NoPush: h.NoPush, TimeUnit: uint16(tb.Cycles(h.TimeUnit)), Seed: s.r.o.Seed,
	})
	return err
}

// make makes all that the scenario names.
func (s *side) make() (err error) {
	if s.pd, err = s.dev.AllocPD(); err != nil {
		return err
	}
	entries := 1
	for _, q := range s.r.s.QPs {
		if q.Host == s.n {
			entries += 2 * (q.MaxSend + q.MaxRecv)
		}
	}
	if s.cq, err = s.dev.CreateCQ(entries, driver.CQOptions{}); err != nil {
		return err
	}
	s.mrs, s.qps = make([]*region, len(s.r.s.MRs)), make([]*driver.QP, len(s.r.s.QPs))
	for i, m := range s.r.s.MRs {
		if m.Host != s.n {
			continue
		}
		if s.mrs[i], err = s.register(m); err != nil {
			return err
		}
	}
	for i, q := range s.r.s.QPs {
		if q.Host != s.n {
			continue
		}
		s.qps[i], err = s.pd.CreateQP(driver.QPConfig{
			SendCQ: s.cq, RecvCQ: s.cq, MaxSend: q.MaxSend, MaxRecv: q.MaxRecv, MaxSendSGE: q.MaxSGE, MaxRecvSGE: q.MaxSGE,
			MaxInline: q.MaxInline, SigAll: q.SigAll, IPv6: q.IPv6, PSN: q.PSN,
		})
		if err != nil {
			return err
		}
		s.ends[i] = s.qps[i].Endpoint()
		s.accept.Create(s.h.K.Cycle(), s.qps[i].Number(), 0, q.SigAll)
	}
	return nil
}

// register makes a buffer with its first content, and its region.
func (s *side) register(m *MR) (*region, error) {
	g := &region{}
	var err error
	if g.buf, err = s.dev.AllocBuffer(int(m.Size), int(m.Offset)); err != nil {
		return nil, err
	}
	if _, err = g.buf.WriteAt(m.first(), 0); err != nil {
		return nil, err
	}
	if g.mr, err = s.pd.RegMR(g.buf, m.Access); err != nil {
		return nil, err
	}
	s.accept.Register(s.h.K.Cycle(), g.mr.RKey, accept.Region{
		Addr: g.mr.Addr, Len: g.mr.Length, Access: m.Access, Read: g.read,
	})
	return g, nil
}

// read returns bytes of the region.
func (g *region) read(off, n int) []byte {
	b := make([]byte, n)
	if _, err := g.buf.ReadAt(b, int64(off)); err != nil {
		return nil
	}
	return b
}

// connect takes the QPs to RTS.
func (s *side) connect() error {
	for i, q := range s.r.s.QPs {
		if q.Host != s.n {
			continue
		}
		peer := s.r.sides[1-s.n].ends[s.r.s.index(q.peer)]
		num := s.qps[i].Number()
		s.accept.Connect(s.h.K.Cycle(), num, s.connection(q, peer))
		err := s.qps[i].Connect(peer, driver.ConnectOptions{
			MTU: abi.MTU(q.MTU), Access: q.access(), Timeout: q.Timeout, RetryCnt: q.RetryCnt, RNRRetry: q.RNRRetry,
			MinRNRTimer: q.MinRNRTimer, MaxRdAtomic: some(q.MaxRdAtomic), MaxDestRdAtomic: some(q.MaxDestRdAtomic),
		})
		if err != nil {
			return err
		}
		s.accept.Connected(s.h.K.Cycle(), num)
	}
	return nil
}

// access are the permissions of the connection. The driver's default is all, so that
// none is said by one that means nothing for a peer.
func (q *QP) access() abi.AccessFlags {
	if q.Access == 0 {
		return abi.AccessLocalWrite
	}
	return q.Access
}

// some is a depth of n for the driver, whose default is at 0.
func some(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

// index is the place of a QP among all.
func (s *Scenario) index(q *QP) int {
	for i := range s.QPs {
		if s.QPs[i] == q {
			return i
		}
	}
	return -1
}

// poll takes completions as they come.
func (s *side) poll(t *hdl.Thread, bus *host.Bus) error {
	for !s.working {
		t.Wait(&s.begin, 0)
	}
	cq := s.cq.On(s.dev.On(bus))
	var wcs [16]driver.WC
	for {
		n, err := cq.Wait(wcs[:], math.MaxInt64)
		for i := range wcs[:n] {
			s.complete(&wcs[i])
		}
		if err != nil {
			return err
		}
	}
}

// look gathers what is left to be judged.
func (s *side) look() error {
	s.accept.Settle(s.h.K.Cycle())
	s.states = make([]abi.QPState, len(s.qps))
	var errs []error
	for i, q := range s.qps {
		if q == nil {
			continue
		}
		m, err := q.Query()
		s.states[i] = m.State
		errs = append(errs, err)
	}
	var err error
	s.events, err = s.dev.AsyncEvents()
	errs = append(errs, err)
	for _, c := range abi.Counters() {
		s.values[c], err = s.dev.Counter(c)
		errs = append(errs, err)
	}
	errs = append(errs, s.accept.Counters(func(c abi.Counter) (uint64, error) { return s.values[c], nil }))
	s.after = s.contents()
	return errors.Join(errs...)
}

// end destroys all.
func (s *side) end() error {
	var errs []error
	for _, q := range s.qps {
		if q != nil {
			s.accept.Stop(s.h.K.Cycle(), q.Number(), true)
			errs = append(errs, q.Destroy())
			s.accept.Destroyed(s.h.K.Cycle(), q.Number())
		}
	}
	for _, g := range s.mrs {
		if g != nil {
			s.accept.Deregister(s.h.K.Cycle(), g.mr.RKey)
			errs = append(errs, g.mr.Dereg(), g.buf.Free())
			s.accept.Deregistered(s.h.K.Cycle(), g.mr.RKey)
		}
	}
	return errors.Join(append(errs, s.pd.Destroy())...)
}
