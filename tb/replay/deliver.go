package replay

import (
	"bytes"
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// receiver is the model that gets what UC or UD sends.
type receiver struct {
	*model
	list []stretch
	plan map[int]delivery
	buf  *driver.Buffer
	sge  driver.SGE
	seen int // completions
	rows []Row
}

// deliver has the captured packets arrive and compares what the model does with what
// it must. There is nothing captured to compare with: UC and UD are not answered.
func (c *Conversation) deliver(o *Options, regions []*region) (*Result, error) {
	if c.Transport == roce.UD {
		regions = nil
	}
	list := make([]stretch, len(regions))
	for i, r := range regions {
		list[i].region = r
	}
	r := &receiver{list: list}
	_, err := c.run(o, func(m *model) error { r.model = m; return r.play() }, c.Self)
	if err != nil {
		return nil, err
	}
	res := &Result{Role: AsResponder, Rows: r.rows}
	for i := range r.sent {
		row := Row{Model: text(&r.sent[i].Packet)}
		f := finding{wrong: []string{"an answer, which neither UC nor UD has"}}
		f.row(&row)
		res.Rows = append(res.Rows, row)
	}
	res.count()
	return res, nil
}

func (r *receiver) play() error {
	if err := r.open(); err != nil {
		return err
	}
	room := 1
	for _, d := range r.plan {
		room = max(room, len(d.data))
	}
	var err error
	if r.buf, r.sge, err = r.memory(room, 0); err != nil {
		return err
	}
	for i := range r.c.Events {
		e := &r.c.Events[i]
		row := Row{Given: text(&e.Packet), GivenFrame: e.Frame, Lost: e.Lost}
		if e.Lost == "" {
			if err := r.event(i, &row); err != nil {
				return err
			}
		}
		r.rows = append(r.rows, row)
	}
	return nil
}

// open makes the queue pair, and memory. What the packets leave there is known before
// they are played, and what it held before does not matter.
func (r *receiver) open() error {
	qp, err := r.makeQP(driver.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, MaxSend: 1, MaxRecv: mostReceives, MaxRecvSGE: 1}, r.o.SRQ)
	if err != nil {
		return err
	}
	r.qp = qp
	regions := make([]*region, len(r.list))
	for i := range r.list {
		s := &r.list[i]
		regions[i] = s.region
		if s.buf, s.sge, err = r.memory(len(s.initial), int(s.from%4096)); err != nil {
			return err
		}
	}
	r.plan = r.c.deliveries(regions)
	if r.c.Transport == roce.UD {
		return r.start(r.c.qkey())
	}
	return r.connect(r.c.Peer, r.c.PeerQP, driver.QPAttr{})
}

// event has one packet arrive.
func (r *receiver) event(i int, row *Row) error {
	d := r.plan[i]
	p := r.c.Events[i].Packet
	op := p.BTH.Opcode
	if d.post {
		if _, err := r.buf.WriteAt(bytes.Repeat([]byte{0xee}, int(r.sge.Length)), 0); err != nil {
			return err
		}
		if err := r.post(driver.RecvWR{ID: uint64(i), SGEs: []driver.SGE{r.sge}}); err != nil {
			return err
		}
		r.t.Sleep(receiveCycles)
	}
	translate(&p, r.list)
	r.inject(&p)
	r.t.Sleep(gapCycles)
	if err := r.poll(); err != nil {
		return err
	}
	var f finding
	wrong := func(ok bool, format string, v ...any) {
		if !ok {
			f.wrong = append(f.wrong, fmt.Sprintf(format, v...))
		}
	}
	row.Model = d.text(op, &p)
	got := r.done[r.seen:]
	r.seen = len(r.done)
	if d.recv && len(got) == 1 {
		r.received(&d, &p, &got[0], wrong)
	} else {
		wrong(len(got) == 0 && !d.recv, "%d completions", len(got))
	}
	if n := len(d.wrote); n > 0 {
		buf := make([]byte, n)
		if _, err := r.list[d.reach].buf.ReadAt(buf, int64(d.at)); err != nil {
			return err
		}
		wrong(bytes.Equal(buf, d.wrote), "memory is other than was written")
	}
	if row.Model != "" || len(f.wrong) > 0 {
		f.row(row)
	}
	return nil
}

// received checks a completion and what is in the buffer.
func (r *receiver) received(d *delivery, p *roce.Packet, wc *driver.WC, wrong func(bool, string, ...any)) {
	if wc.Status != abi.StatusSuccess {
		wrong(false, "ends with %v", wc.Status)
		return
	}
	op := p.BTH.Opcode
	opcode := abi.WCRecv
	if op.IsWrite() {
		opcode = abi.WCRecvWithImm
	}
	wrong(wc.Opcode == opcode, "%v, not %v", wc.Opcode, opcode)
	wrong(int(wc.ByteLen) == d.bytes, "%d bytes, not %d", wc.ByteLen, d.bytes)
	wrong(wc.Flags&abi.CQEWithImm != 0 == op.HasImm() && (!op.HasImm() || wc.Imm == p.Imm.Imm), "another immediate")
	wrong(wc.Flags&abi.CQEGRH != 0 == op.HasDETH(), "flag GRH")
	wrong(!op.HasDETH() || wc.SrcQPN == uint32(p.DETH.SrcQP), "from QP %06x", wc.SrcQPN)
	buf := make([]byte, len(d.data))
	if _, err := r.buf.ReadAt(buf, 0); err != nil && len(buf) > 0 {
		wrong(false, "%v", err)
		return
	}
	skip := 0
	if op.HasDETH() && !p.V6 {
		skip = grhSize - roce.IPv4Size // undefined
	}
	wrong(bytes.Equal(buf[skip:], d.data[skip:]), "other data")
}
