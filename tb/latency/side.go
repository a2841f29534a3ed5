package latency

import (
	"encoding/json"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
)

const (
	mtu         = roce.MTU1024
	inlineBytes = abi.UnitSize - abi.WQEDataOffset // that leave a WQE one unit long
	settle      = 2000                             // cycles in which a NIC comes to rest
)

// side is one host.
type side struct {
	h   *tb.Host
	bus *bellBus
	cq  *driver.CQ
	qp  *driver.QP
	buf *driver.Buffer
	mr  *driver.MR
	err error

	peer address // of the other host's buffer

	bytes         int    // of a message
	size, written int    // bytes of payload to come, and that came
	completes     bool   // a CQE comes behind it
	payload, cqe  uint64 // cycles in which they were in memory
	completed     hdl.Event
	log           []landing
}

// landing is when a message was in memory, cycles; 0: never.
type landing struct {
	payload, cqe uint64
}

// address is where the other host's buffer is.
type address struct {
	VA  uint64
	Key abi.Key
}

// hello is what the hosts tell each other.
type hello struct {
	QP     driver.Endpoint
	Buffer address
}

// open makes a QP for n messages and connects it.
func (s *side) open(t *hdl.Thread, m Mode, n int) error {
	k := uint8(s.h.Index)
	dev, err := driver.Open(s.bus, driver.Config{
		MAC: roce.HostMAC(k), IPv4: roce.HostIPv4(k), GID: roce.HostIPv6(k), NoPush: m != Pushed,
	})
	if err != nil {
		return err
	}
	pd, err := dev.AllocPD()
	if err != nil {
		return err
	}
	if s.buf, err = dev.AllocBuffer(max(s.bytes, mtu.Bytes()), 0); err != nil {
		return err
	}
	if s.mr, err = pd.RegMR(s.buf, access); err != nil {
		return err
	}
	if s.cq, err = dev.CreateCQ(2*n, driver.CQOptions{}); err != nil {
		return err
	}
	s.qp, err = pd.CreateQP(driver.QPConfig{
		SendCQ: s.cq, RecvCQ: s.cq, MaxSend: n, MaxRecv: n,
		MaxSendSGE: 1, MaxRecvSGE: 1, MaxInline: inlineBytes,
	})
	if err != nil {
		return err
	}
	sge := s.mr.SGE(0, 0)
	mine, err := json.Marshal(hello{s.qp.Endpoint(), address{sge.Addr, sge.LKey}})
	if err != nil {
		return err
	}
	s.h.OOB.Send(mine)
	var theirs hello
	if err := json.Unmarshal(s.h.OOB.Recv(t), &theirs); err != nil {
		return err
	}
	s.peer = theirs.Buffer
	return s.qp.Connect(theirs.QP, driver.ConnectOptions{MTU: abi.MTU(mtu)})
}

// rest waits until nothing is under way, and looks out for the next completion. A
// read of the CPU takes as long as one of the NIC, and no write is passed by it.
func (s *side) rest(t *hdl.Thread) error {
	for range 2 {
		if _, err := s.bus.Read32(abi.RegStatus); err != nil {
			return err
		}
	}
	t.Sleep(settle)
	s.written, s.payload, s.cqe = 0, 0, 0
	return nil
}

// access is what the buffers are open to.
const access = abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

// note keeps when the message landed.
func (s *side) note() { s.log = append(s.log, landing{s.payload, s.cqe}) }

// landed sees what the NIC wrote: a payload, then its CQE.
func (s *side) landed(cycle, _ uint64, data []byte) {
	if s.cqe != 0 {
		return
	}
	if s.written += len(data); s.written <= s.size {
		s.payload = cycle
		return
	}
	if !s.completes {
		return // none of the message
	}
	s.cqe = cycle
	s.completed.Notify()
}

// completion waits for the CQE, and for nothing else: no register is read or
// written that could be in the message's way.
func (s *side) completion(t *hdl.Thread) error {
	for s.cqe == 0 {
		t.Wait(&s.completed, 0)
	}
	var wc [1]driver.WC
	if _, err := s.cq.Poll(wc[:]); err != nil {
		return err
	}
	if s.h.Index == 1 {
		s.note()
	}
	return wc[0].Err()
}

// bellBus notes when a doorbell page was written last.
type bellBus struct {
	*host.Bus
	t    *hdl.Thread
	bell uint64 // cycle
}

// Write is that of the Bus.
func (b *bellBus) Write(off uint32, data []byte) error {
	if off >= abi.UARBase {
		b.bell = b.t.Now()
	}
	return b.Bus.Write(off, data)
}
