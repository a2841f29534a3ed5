package pkttx

import (
	"rnic/abi"
	"rnic/hdl"
	"rnic/roce"
	"rnic/rtl/port"
)

// Send chooses the next frame and puts it together, a beat a cycle. The request
// at the head of its lane is worked on meanwhile: asked for again, dropped, or
// reported.
type Send struct {
	hdl.Regs[sendState]
	Fault   hdl.Out[port.SQFault]
	Purge   hdl.Out[port.Purge]
	PortReg hdl.Tap[port.PortReg]

	request  hdl.In[job]
	response hdl.In[job]
	chunks   hdl.In[chunk]
	again    hdl.Out[port.QPN]
	answer   hdl.In[again]
	epoch    hdl.Sig[uint8] // of answers that still hold, modulo 256
	out      hdl.Out[beat]
}

type sendState struct {
	Busy     bool   // inside a frame
	Response bool   // it is a response
	Beat     uint8  // number of its next beat
	Burst    uint8  // responses sent in a row while a request was ready
	ID       uint16 // IPv4 identification of the next frame
	Lane     laneState
	Fresh    bool  // the request at the head has been asked for again
	Left     uint8 // Drain: beats of payload to throw away
	Room     uint8 // Report: room in Fault when qpc has taken it
	Await    uint8 // Purge: responses that are still before the marker
}

// laneState is what happens to the request at the head of the lane.
type laneState uint8

const (
	laneHead   laneState = iota // nothing special
	laneAsk                     // waits for qpc's second answer
	laneDrain                   // its payload is thrown away
	laneReport                  // qpc has yet to take the fault
	lanePurge                   // waits for responses before the marker
)

// Width is 3 bits.
func (laneState) Width() int { return 3 }

func (s laneState) String() string {
	return [...]string{"HEAD", "ASK", "DRAIN", "REPORT", "PURGE", "RES5", "RES6", "RES7"}[s&7]
}

// beat is a beat of a frame without ICRC.
type beat struct {
	Data [beatBytes]byte
	Len  uint8
	Last bool
	V6   bool
	Ack  bool // Last: of an acknowledgement
	Synd roce.Syndrome
}

// Eval goes on with the frame in progress, or starts one.
func (s *Send) Eval() {
	q, d := &s.Q, &s.D
	ready := false
	if !q.Busy || q.Response {
		ready = s.lane()
	}
	if !s.out.Ready() {
		return
	}
	switch {
	case q.Busy && q.Response:
		s.beat(&s.response)
	case q.Busy:
		s.beat(&s.request)
	case s.response.Valid() && (!ready || q.Burst < ResponseBurst):
		if !s.PortReg.Get().Enable {
			s.left()
			s.response.Take()
			return
		}
		d.Response = true
		if ready {
			d.Burst = q.Burst + 1
		}
		s.beat(&s.response)
	case ready:
		d.Response, d.Burst = false, 0
		s.beat(&s.request)
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
	end := payload + int(roce.PadCnt(int(j.Pkt.Len)))
	out := s.out.Next()
	if max(from, headers) < min(from+beatBytes, payload) {
		out.Data = s.chunks.Take().Data // zero behind the payload, as pad is
	} else {
		clear(out.Data[:])
	}
	if from < headers {
		h := j.header(s.PortReg.Get(), q.ID)
		copy(out.Data[:], h[from:headers])
	}
	out.Len, out.Last, out.V6 = uint8(min(end-from, beatBytes)), end-from <= beatBytes, j.Hdr.V6
	out.Ack, out.Synd = out.Last && j.Pkt.Opcode == roce.RCAck, roce.Syndrome(j.Pkt.Syndrome)
	d.Busy, d.Beat = !out.Last, n+1
	if !out.Last {
		return
	}
	d.ID = q.ID + 1
	if d.Response {
		s.left()
	} else {
		d.Fresh = false
	}
	lane.Take()
}

// left notes that a response has left its lane.
func (s *Send) left() {
	if s.D.Lane == lanePurge && s.D.Await > 0 {
		s.D.Await--
	}
}

// fault is what qpc is told of a request that cannot be read.
func fault(j *job, vendor abi.VendorErr) port.SQFault {
	f := port.SQFault{QPN: j.Pkt.QPN, PSN: j.Pkt.PSN, Status: abi.StatusLocProt, Vendor: vendor}
	if vendor == abi.VendorDMARead {
		f.Status = abi.StatusLocQPOp
	}
	return f
}
