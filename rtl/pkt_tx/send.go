package pkttx

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Send chooses the next frame and puts it together, a beat a cycle. The packet
// at the head of the payload lane is worked on meanwhile: asked for again,
// dropped, or reported.
type Send struct {
	hdl.Regs[sendState]
	Fault     hdl.Out[port.SQFault]
	RespFault hdl.Out[port.SQFault]
	Purge     hdl.Out[port.Purge]
	Stale     hdl.In[port.Stale]
	Left      hdl.Out[port.Left]
	PortReg   hdl.Tap[port.PortReg]

	payload hdl.In[job]
	fast    hdl.In[job]
	chunks  hdl.In[chunk]
	again   hdl.Out[port.TxHdrReq]
	answer  hdl.In[again]
	epoch   hdl.Sig[uint8] // of answers that still hold, modulo 256
	old     hdl.Out[port.Stale]
	stales  hdl.Sig[uint32] // Stales taken, modulo 2^32
	gone    hdl.Sig[uint16] // responses that have left the payload lane, modulo 2^16
	taken   hdl.Sig[uint16] // packets with payload that were sent or dropped, modulo 2^16
	out     hdl.Out[beat]

	Mute  hdl.RAM[mute] // by QPN: a READ response has failed; port 0 payload lane, 1 fast lane
	fence fence
}

type sendState struct {
	Busy  bool   // inside a frame
	Fast  bool   // it is of the fast lane
	Beat  uint8  // number of its next beat
	Burst uint8  // frames of the fast lane in a row while the other was ready
	ID    uint16 // IPv4 identification of the next frame
	Left  uint16 // responses that have left the fast lane, modulo 2^16
	Muted uint16 // QPs set in Mute
	Heard bool   // Mute shows the QP at the head of the fast lane

	Lane  laneState
	Fresh bool  // the request at the head has been asked for again
	Know  bool  // Mute shows the QP at the head
	Room  uint8 // Report: room in Fault when qpc has taken it

	Fence fenceState
}

// laneState is what happens to the packet at the head of the payload lane.
type laneState uint8

const (
	laneHead   laneState = iota // nothing special
	laneAsk                     // waits for qpc's second answer
	laneReport                  // qpc has yet to take the fault
)

// Width is 2 bits.
func (laneState) Width() int { return 2 }

func (s laneState) String() string { return [...]string{"HEAD", "ASK", "REPORT", "RES3"}[s&3] }

// beat is a beat of a frame without ICRC.
type beat struct {
	Data [beatBytes]byte
	Len  uint8
	Last bool
	V6   bool
	Raw  bool // no ICRC
	VLAN bool // the frame's first, which has a tag
	TCI  uint16
	Ack  bool // Last: of an acknowledgement
	Synd roce.Syndrome
}

// Eval goes on with the frame in progress, or starts one.
func (s *Send) Eval() {
	q, d := &s.Q, &s.D
	if s.Stale.Valid() {
		s.rewound(s.Stale.Take())
	}
	if s.chunks.Valid() && passed(s.chunks.Head().Number, s.taken.Get()) { // of a packet that was dropped
		s.chunks.Take()
	}
	ready := false
	if !q.Busy || q.Fast {
		ready = s.lane()
	}
	if !s.out.Ready() {
		return
	}
	switch {
	case q.Busy && q.Fast:
		s.beat(&s.fast)
	case q.Busy:
		s.beat(&s.payload)
	case s.fast.Valid() && (!ready || q.Burst < ResponseBurst):
		s.startFast(ready)
	case ready:
		d.Fast, d.Burst = false, 0
		s.beat(&s.payload)
	}
}

// startFast starts the frame at the head of the fast lane, or drops it.
func (s *Send) startFast(ready bool) {
	q, d := &s.Q, &s.D
	pkt := &s.fast.Head().Pkt
	switch {
	case q.Muted != 0 && !q.Heard:
		s.Mute.Read(1, s.at(pkt.QPN))
		d.Heard = true
	case !s.PortReg.Get().Enable, q.Muted != 0 && s.Mute.Data(1).silences(pkt):
		s.leave()
	default:
		d.Fast = true
		if ready {
			d.Burst = q.Burst + 1
		}
		s.beat(&s.fast)
	}
}

// beat sends the next beat of the job at the head of its lane.
func (s *Send) beat(lane *hdl.In[job]) {
	q, d := &s.Q, &s.D
	j := lane.Head()
	n := uint8(0)
	if q.Busy {
		n = q.Beat
	}
	from := int(n) * beatBytes // of the frame
	headers := j.headers()
	payload := headers + int(j.Pkt.Len)
	end := payload + j.pad()
	out := s.out.Next()
	if max(from, headers) < min(from+beatBytes, payload) {
		out.Data = s.chunks.Take().Data // zero behind the payload, as pad is
	} else {
		clear(out.Data[:])
	}
	if from < headers {
		h := j.header(s.PortReg.Get().MAC, q.ID)
		copy(out.Data[:], h[from:headers])
	}
	out.Len, out.Last, out.V6 = uint8(min(end-from, beatBytes)), end-from <= beatBytes, j.Hdr.V6
	out.Raw, out.VLAN, out.TCI = j.Pkt.Raw, n == 0 && j.Hdr.VLAN && !j.Pkt.Raw, j.Hdr.TCI
	out.Ack, out.Synd = out.Last && j.Pkt.Opcode == roce.RCAck, roce.Syndrome(j.Pkt.Syndrome)
	d.Busy, d.Beat = !out.Last, n+1
	if !out.Last {
		return
	}
	if !j.Pkt.Raw {
		d.ID = q.ID + 1
	}
	if d.Fast {
		s.leave()
	} else {
		s.left(&j.Pkt)
		s.drop()
	}
}

// leave takes the response at the head of the fast lane away.
func (s *Send) leave() {
	s.fast.Take()
	s.D.Left = s.Q.Left + 1
	s.D.Heard = false
}

// mute is an entry of Mute: the response of a PSN has failed.
type mute struct {
	On  bool
	PSN roce.PSN
}

// silences tells whether a response is not sent any more. What is sent is the NAK of
// the failed one; a NAK of a later request may be on its way already, and would tell
// the peer that those before it were answered.
func (m *mute) silences(p *port.TxPkt) bool {
	return m.On && (!isFatal(p) || p.PSN.After(m.PSN))
}

// isFatal tells whether a response is a NAK that ends its QP: it takes the place of
// READ responses that cannot be sent, and so of all behind them.
func isFatal(p *port.TxPkt) bool {
	y := roce.Syndrome(p.Syndrome)
	return p.Opcode == roce.RCAck && y.Kind() == roce.KindNAK && roce.NAKCode(y.Value()) != roce.NAKSequence
}

// fault is what qpc is told of a request that cannot be read or has no address, or
// ack_gen of a READ response that cannot be read.
func fault(j *job, vendor abi.VendorErr) port.SQFault {
	f := port.SQFault{QPN: j.Pkt.QPN, PSN: j.Pkt.PSN, Gen: j.Pkt.Gen, Vendor: vendor}
	dma := vendor == abi.VendorDMARead
	switch {
	case j.Pkt.Resp && dma:
		f.Status = abi.StatusRemOp
	case j.Pkt.Resp:
		f.Status = abi.StatusRemAccess
	case dma, vendor == abi.VendorAH:
		f.Status = abi.StatusLocQPOp
	default:
		f.Status = abi.StatusLocProt
	}
	return f
}

func (s *Send) at(n port.QPN) int { return int(n) & (s.Mute.Depth() - 1) }
