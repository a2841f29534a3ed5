package transfer

import (
	"encoding/json"
	"fmt"
	"math"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/check"
	"rnic/tb/host"
)

// side is what one host of a transfer has.
type side struct {
	j    *Job
	h    *tb.Host
	dev  *driver.Device
	pd   *driver.PD
	buf  *driver.Buffer
	mr   *driver.MR
	cqs  []*driver.CQ
	qps  []*driver.QP
	srq  *driver.SRQ  // or nil
	open []bool       // of receives, by slot: it is posted
	ahs  []*driver.AH // of UD, by QP of the other host
	rest *tb.Rest
	wire *check.Wire
	peer address  // of the other host's buffer
	qpns []uint32 // of its QPs
	off  int      // where in the buffers the messages lie that this host sends or asks for
	// messages whose bytes this host found right
	arrived int
	meter   meter // of messages that came

	round   int // that QP threads may work on, from 1
	begin   hdl.Event
	drained int // rounds of which nothing comes any more
	posted  int // rounds that QP threads have posted, added up
	done    int // rounds that QP threads are done with, added up
	step    hdl.Event
	err     error // the first
	counter [abi.NumCounters]uint64
	timeout uint8  // of connections, with Faults
	ended   uint64 // cycle in which this host had seen all its sends complete
	pcie    PCIe   // up to settled what went before, from counters on the difference
}

// address is where the other host's buffer is.
type address struct {
	VA  uint64
	Key abi.Key
}

// hello is what the hosts tell each other.
type hello struct {
	QPs    []driver.Endpoint
	Buffer address
}

// setup opens the device and makes all that the job needs.
func (s *side) setup(bus *host.Bus) error {
	j := s.j
	cfg := j.Driver
	k := uint8(s.h.Index)
	cfg.MAC, cfg.IPv4, cfg.GID = roce.HostMAC(k), roce.HostIPv4(k), roce.HostIPv6(k)
	if j.datagrams() {
		cfg.MTU = abi.MTU(j.MTU)
	}
	var err error
	if s.dev, err = driver.Open(bus, cfg); err != nil {
		return err
	}
	if s.pd, err = s.dev.AllocPD(); err != nil {
		return err
	}
	if s.buf, err = s.dev.AllocBuffer(j.buffers()*j.bufferSize(), 0); err != nil {
		return err
	}
	if s.mr, err = s.pd.RegMR(s.buf, abi.AccessLocalWrite|abi.AccessRemoteWrite|abi.AccessRemoteRead|abi.AccessRemoteAtomic); err != nil {
		return err
	}
	s.open = make([]bool, j.slots())
	receives := s.h.Index == 2 && !j.TwoWay
	if j.SRQ && receives {
		if s.srq, err = s.pd.CreateSRQ(driver.SRQAttr{MaxRecv: j.slots(), MaxSGE: max(1, j.SGEs)}); err != nil {
			return err
		}
	}
	for range j.QPs {
		cq, err := s.dev.CreateCQ(2*max(j.Depth, roundQueue), driver.CQOptions{})
		if err != nil {
			return err
		}
		c := driver.QPConfig{
			SendCQ: cq, RecvCQ: cq, MaxSend: j.Depth, MaxRecv: 1,
			MaxSendSGE: max(1, j.SGEs), MaxRecvSGE: max(1, j.SGEs), Type: j.Transport, IPv6: j.IPv6, SRQ: s.srq,
		}
		if j.Inline {
			c.MaxInline = j.MsgSize
		}
		if receives {
			c.MaxSend, c.MaxRecv = 1, (j.slots()-1)/j.QPs+1
		}
		qp, err := s.pd.CreateQP(c)
		if err != nil {
			return err
		}
		s.cqs, s.qps = append(s.cqs, cq), append(s.qps, qp)
	}
	return nil
}

// connect swaps addresses with the other host and brings all QPs to RTS.
func (s *side) connect(t *hdl.Thread) error {
	mine, theirs := hello{Buffer: address{s.mr.SGE(0, 0).Addr, s.mr.SGE(0, 0).LKey}}, hello{}
	for _, q := range s.qps {
		mine.QPs = append(mine.QPs, q.Endpoint())
	}
	m, err := json.Marshal(mine)
	if err != nil {
		return err
	}
	s.h.OOB.Send(m)
	if err := json.Unmarshal(s.h.OOB.Recv(t), &theirs); err != nil {
		return err
	}
	if len(theirs.QPs) != len(mine.QPs) {
		return fmt.Errorf("the other host has %d QPs, this one %d", len(theirs.QPs), len(mine.QPs))
	}
	s.peer = theirs.Buffer
	for _, e := range theirs.QPs {
		s.qpns = append(s.qpns, e.QPN)
	}
	if s.j.datagrams() {
		return s.start(theirs.QPs)
	}
	for i, q := range s.qps {
		s.wire.Connect(check.Connection{
			Transport: s.j.wire(), Local: roce.QPN(q.Number()), Remote: roce.QPN(theirs.QPs[i].QPN), MTU: s.j.MTU.Bytes(),
			SendPSN: roce.PSN(q.Endpoint().PSN), RecvPSN: roce.PSN(theirs.QPs[i].PSN),
		})
		if err := q.Connect(theirs.QPs[i], s.options()); err != nil {
			return err
		}
	}
	return nil
}

// start brings UD QPs to RTS, and at host a makes the handles of those at host b.
func (s *side) start(peers []driver.Endpoint) error {
	datagrams := func(i int, e driver.Endpoint) check.Datagrams {
		return check.Datagrams{QPN: roce.QPN(e.QPN), QKey: s.j.qkey(i), MTU: s.j.MTU.Bytes(), PSN: roce.PSN(e.PSN)}
	}
	for i, q := range s.qps {
		s.wire.Local(datagrams(i, q.Endpoint()))
		s.wire.Remote(datagrams(i, peers[i]))
		if err := q.Start(s.j.qkey(i)); err != nil {
			return err
		}
		if s.h.Index == 2 {
			continue
		}
		way := driver.AHAttr{MAC: peers[i].MAC, DGID: peers[i].GID}
		if s.j.VLAN != nil {
			way.VLANValid, way.VLAN = true, *s.j.VLAN
		}
		ah, err := s.pd.CreateAH(way)
		if err != nil {
			return err
		}
		s.ahs = append(s.ahs, ah)
	}
	return nil
}

// fail keeps the first error and lets nobody wait any more.
func (s *side) fail(err error) {
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("%s: %w", s.h.K.Name(), err)
	}
	s.round, s.drained = math.MaxInt, math.MaxInt
	s.begin.Notify()
	s.step.Notify()
}

// sges describes n bytes of the buffer at an offset, cut into the job's elements.
func (s *side) sges(dst []abi.SGE, at, n int) []abi.SGE {
	for k := max(1, s.j.SGEs); k > 0; k-- {
		part := n / k
		dst = append(dst, s.mr.SGE(at, part))
		at, n = at+part, n-part
	}
	return dst
}

// await waits for a round to begin and tells whether to work on it.
func (s *side) await(t *hdl.Thread, round int) bool {
	for s.round < round {
		t.Wait(&s.begin, 0)
	}
	return s.err == nil
}

// count adds to posted or done.
func (s *side) count(n *int) {
	*n++
	s.step.Notify()
}

// gather waits until all QP threads have counted a round.
func (s *side) gather(t *hdl.Thread, n *int, round int) error {
	for *n < round*s.j.QPs && s.err == nil {
		t.Wait(&s.step, 0)
	}
	return s.err
}

// counters notes what went over PCIe, and reads all counters of the device.
func (s *side) counters() error {
	stats := s.h.Machine.RC.Stats
	s.pcie = PCIe{stats.UpBytes - s.pcie.Up, stats.DownBytes - s.pcie.Down, stats.MaxReads}
	for _, c := range abi.Counters() {
		v, err := s.dev.Counter(c)
		if err != nil {
			return err
		}
		s.counter[c] = v
	}
	return nil
}
