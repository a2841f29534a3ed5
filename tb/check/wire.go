package check

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"rnic/roce"
)

// Counts is what a port saw, to be compared with the NIC's counters.
type Counts struct {
	TxPackets, TxBytes, RxPackets, RxBytes uint64
	TxAcks, TxNaks, TxRNRNaks              uint64
	Requests                               uint64 // request packets sent
	Payload                                uint64 // bytes of them
	Messages, Solicited                    uint64 // sent to their end, and of those with SE
}

// flow follows the requests to one QP: the sender's side of roce.md, "PSN".
type flow struct {
	transport roce.Transport
	mtu       int    // payload bytes of a full packet
	qkey      uint32 // of UD: what datagrams to this QP carry
	begun     bool
	known     bool     // next is, before the first has come
	cut       bool     // it need not come to an end
	next      roce.PSN // the PSN that must come next
	inside    bool     // between first and last of a message
	messages  roce.MSN // messages that have ended
	ends      []ending // of those, not acknowledged yet
	length    int      // of the message so far
	total     int      // of a WRITE, as its RETH says
	reads     []read   // READs and atomics that are not answered yet
}

// ending is the last packet of a message, and the messages ended with it.
type ending struct {
	psn roce.PSN
	msn roce.MSN
}

// answers follows the acknowledgements from one QP.
type answers struct {
	begun  bool
	last   roce.PSN
	msn    roce.MSN
	least  roce.MSN // messages complete with last
	failed bool     // a NAK has ended the connection
}

// Wire checks the frames of one port, of RC, UC and UD. There must be no loss: every
// gap is an error.
type Wire struct {
	MTU    int // payload bytes of a full packet, but of QPs that Connect told
	Counts Counts
	// Lossy says that frames are lost, doubled, changed or reordered on the way, and
	// those of RC sent again: none that comes is judged, and of those of RC that are sent
	// each alone.
	Lossy bool
	// Tagged says that all frames carry the 802.1Q tag control TCI; else none has a tag.
	Tagged bool
	TCI    uint16
	errs   []error

	out, in       map[roce.QPN]*flow    // of connections, by destination QP
	local, remote map[roce.QPN]*flow    // of UD QPs, by their number
	acks          map[roce.QPN]*answers // sent, by destination QP
	pairs         map[roce.QPN]roce.QPN // local QP to its peer, as Connect told
}

// NewWire makes a checker of a port whose packets carry at most mtu bytes.
func NewWire(mtu int) *Wire {
	return &Wire{
		MTU: mtu, out: map[roce.QPN]*flow{}, in: map[roce.QPN]*flow{},
		local: map[roce.QPN]*flow{}, remote: map[roce.QPN]*flow{},
		acks: map[roce.QPN]*answers{}, pairs: map[roce.QPN]roce.QPN{},
	}
}

// Errors are the broken rules found, at most 20.
func (w *Wire) Errors() []error { return w.errs }

func (w *Wire) fail(ps int64, format string, args ...any) {
	if len(w.errs) < 20 {
		w.errs = append(w.errs, fmt.Errorf("%d ns: "+format, append([]any{ps / 1000}, args...)...))
	}
}

// Frame judges a frame, without FCS, at the time ps.
func (w *Wire) Frame(ps int64, tx, badFCS bool, data []byte) {
	if w.Lossy && !tx {
		return
	}
	if badFCS {
		w.fail(ps, "frame with a bad FCS")
		return
	}
	p, err := roce.ParseFrame(data)
	if err != nil {
		w.fail(ps, "frame of %d bytes: %v", len(data), err)
		return
	}
	w.format(ps, &p, data)
	c := &w.Counts
	if !tx {
		c.RxPackets++
		c.RxBytes += uint64(len(data))
		if p.BTH.Opcode.IsRequest() {
			w.request(ps, w.sender(ps, &p, tx), &p)
		}
		return
	}
	c.TxPackets++
	c.TxBytes += uint64(len(data))
	if p.BTH.Opcode.IsRequest() {
		c.Requests++
		c.Payload += uint64(len(p.Payload))
		if p.BTH.Opcode.Ends() {
			c.Messages++
			if p.BTH.SE {
				c.Solicited++
			}
		}
		if f := w.sender(ps, &p, tx); !w.Lossy || f.transport != roce.RC || p.BTH.Opcode.Transport() != roce.RC {
			w.request(ps, f, &p)
		}
		return
	}
	c.Payload += uint64(len(p.Payload))
	c.answer(&p)
	if req := w.in[w.pairs[p.BTH.DestQP]]; !w.Lossy || req != nil && req.transport != roce.RC {
		w.answer(ps, &p)
	}
}

// answer counts an acknowledgement that was sent. READ responses and results of
// atomics are none.
func (c *Counts) answer(p *roce.Packet) {
	switch s := p.AETH.Syndrome; {
	case p.BTH.Opcode != roce.RCAck:
	case s.Kind() == roce.KindACK:
		c.TxAcks++
	case s.Kind() == roce.KindRNR:
		c.TxRNRNaks++
	default:
		c.TxNaks++
	}
}

// sender is the flow that a request belongs to.
func (w *Wire) sender(ps int64, p *roce.Packet, tx bool) *flow {
	if p.BTH.Opcode.Transport() == roce.UD {
		return w.datagram(ps, p, tx)
	}
	m := w.in
	if tx {
		m = w.out
	}
	return w.flowOf(m, p.BTH.DestQP)
}

func (w *Wire) flowOf(m map[roce.QPN]*flow, q roce.QPN) *flow {
	if m[q] == nil {
		m[q] = &flow{mtu: w.MTU}
	}
	return m[q]
}

// format checks what concerns the packet alone. The ICRC is computed a second
// time, from the frame's own bytes and by the polynomial division of the book.
func (w *Wire) format(ps int64, p *roce.Packet, data []byte) {
	if t := p.BTH.Opcode.Transport(); t != roce.RC && t != roce.UC && t != roce.UD || !p.BTH.Opcode.Valid() {
		w.fail(ps, "opcode %v is not of RC, UC or UD", p.BTH.Opcode)
	}
	ip, tci := data[14:], uint16(0)
	if p.Tagged {
		ip, tci = data[18:], binary.BigEndian.Uint16(data[14:])
	}
	if p.Tagged != w.Tagged || tci != w.TCI {
		w.fail(ps, "802.1Q tag: %t, %04x, expected: %t, %04x", p.Tagged, tci, w.Tagged, w.TCI)
	}
	if got, want := p.BTH.PadCnt, -len(p.Payload)&3; int(got) != want {
		w.fail(ps, "PadCnt %d with %d bytes of payload", got, len(p.Payload))
	}
	if len(data) < 60 {
		w.fail(ps, "frame of %d bytes is not padded", len(data))
	}
	end := int(binary.BigEndian.Uint16(ip[2:]))
	if ip[0]>>4 == 6 {
		end = 40 + int(binary.BigEndian.Uint16(ip[4:]))
	}
	if got, want := binary.LittleEndian.Uint32(ip[end-4:]), ICRC(ip[:end-4]); got != want {
		w.fail(ps, "ICRC %08x, computed %08x", got, want)
	}
}

// request checks the order of the request packets of one flow.
func (w *Wire) request(ps int64, f *flow, p *roce.Packet) {
	op, psn, n := p.BTH.Opcode, p.BTH.PSN, len(p.Payload)
	if (f.begun || f.known) && psn != f.next {
		w.fail(ps, "QP %06x: PSN %06x, expected %06x", p.BTH.DestQP, psn, f.next)
	}
	f.begun, f.next = true, psn.Add(1)
	if op.Transport() != f.transport {
		w.fail(ps, "QP %06x PSN %06x: %v to a QP of %v", p.BTH.DestQP, psn, op, f.transport)
	}
	if op.IsReadRequest() || op.IsAtomic() {
		w.readRequest(ps, f, p)
		return
	}
	if op.Starts() == f.inside {
		w.fail(ps, "QP %06x PSN %06x: %v out of sequence", p.BTH.DestQP, psn, op)
	}
	if op.Starts() {
		f.length, f.total = 0, int(p.RETH.Length)
	}
	f.length += n
	switch {
	case op.IsWrite() && (f.length > f.total || op.Ends() && f.length != f.total):
		w.fail(ps, "QP %06x PSN %06x: WRITE of %d bytes has %d", p.BTH.DestQP, psn, f.total, f.length)
	case !op.Ends() && n != f.mtu:
		w.fail(ps, "QP %06x PSN %06x: %v with %d bytes, MTU %d", p.BTH.DestQP, psn, op, n, f.mtu)
	case n > f.mtu, op.IsLast() && n == 0:
		w.fail(ps, "QP %06x PSN %06x: %v with %d bytes", p.BTH.DestQP, psn, op, n)
	case op.Transport() == roce.RC && op.Ends() && !p.BTH.AckReq:
		w.fail(ps, "QP %06x PSN %06x: %v without AckReq", p.BTH.DestQP, psn, op)
	case op.Transport() != roce.RC && p.BTH.AckReq:
		w.fail(ps, "QP %06x PSN %06x: %v with AckReq", p.BTH.DestQP, psn, op)
	case p.BTH.SE && !(op.Ends() && (op.IsSend() || op.HasImm())):
		w.fail(ps, "QP %06x PSN %06x: SE in %v", p.BTH.DestQP, psn, op)
	}
	f.inside = !op.Ends()
	if op.Ends() {
		f.end(psn)
	}
}

// end notes the last packet of a message.
func (f *flow) end(psn roce.PSN) {
	f.messages = f.messages.Add(1)
	f.ends = append(f.ends, ending{psn, f.messages})
}

// answer checks an acknowledgement that this port sent against the requests that
// it has received.
func (w *Wire) answer(ps int64, p *roce.Packet) {
	s := p.AETH.Syndrome
	dest := roce.QPN(p.BTH.DestQP)
	local, known := w.pairs[dest]
	req := w.in[local]
	if !known || req == nil || req.transport != roce.RC {
		w.fail(ps, "acknowledgement to QP %06x, which has sent nothing that takes one", dest)
		return
	}
	a := w.acks[dest]
	if a == nil {
		a = &answers{}
		w.acks[dest] = a
	}
	psn, msn := p.BTH.PSN, p.AETH.MSN
	w.response(ps, req, p)
	if !p.BTH.Opcode.HasAETH() {
		msn = a.msn // a middle response says nothing about it
	}
	if !psn.Before(req.next) {
		w.fail(ps, "QP %06x: %v of PSN %06x, which has not come", dest, s, psn)
	}
	if a.begun && psn.Before(a.last) {
		w.fail(ps, "QP %06x: %v of PSN %06x after that of %06x", dest, s, psn, a.last)
	}
	for len(req.ends) > 0 && !psn.Before(req.ends[0].psn) {
		a.least, req.ends = req.ends[0].msn, req.ends[1:]
	}
	if p.BTH.Opcode == roce.RCAck && s.Kind() == roce.KindACK && msn.Diff(a.least) > req.messages.Diff(a.least) {
		w.fail(ps, "QP %06x: MSN %d with PSN %06x, at which %d messages are complete", dest, msn, psn, a.least)
	}
	if msn.Diff(a.msn) > req.messages.Diff(a.msn) {
		w.fail(ps, "QP %06x: MSN %d with %d messages complete", dest, msn, req.messages)
	}
	if a.failed {
		w.fail(ps, "QP %06x: %v after a NAK", dest, s)
	}
	a.begun, a.last, a.msn = true, psn, msn
	a.failed = s.Kind() == roce.KindNAK
}

// Finish tells what is missing at the end of a run: messages begun and not ended,
// and requests of RC without an acknowledgement, unless they may be lost.
func (w *Wire) Finish() {
	for _, q := range slices.Sorted(maps.Keys(w.out)) {
		if w.out[q].inside && !w.out[q].cut {
			w.fail(0, "QP %06x: message without an end", q)
		}
	}
	for _, remote := range slices.Sorted(maps.Keys(w.pairs)) {
		local := w.pairs[remote]
		req, a := w.in[local], w.acks[remote]
		if w.Lossy || req == nil || req.transport != roce.RC || !req.begun || req.cut {
			continue
		}
		if a == nil || a.last.Add(1) != req.next && !a.failed {
			w.fail(0, "QP %06x: requests up to PSN %06x, not all acknowledged", local, req.next.Add(1<<24-1))
		}
	}
}
