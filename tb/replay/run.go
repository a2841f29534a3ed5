package replay

import (
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
)

// Answer is what one answer says: what must be equal.
type Answer struct {
	Opcode   roce.Opcode
	PSN      roce.PSN
	Kind     roce.SyndromeKind // of an AETH
	Value    uint8             // of a NAK or RNR NAK
	MSN      roce.MSN
	Original uint64
	Data     string
}

// answerOf is the part of a packet that counts. Credits are the model's own choice.
func answerOf(p *roce.Packet) Answer {
	a := Answer{Opcode: p.BTH.Opcode, PSN: p.BTH.PSN, Data: string(p.Payload)}
	if p.BTH.Opcode.HasAETH() {
		a.Kind, a.MSN = p.AETH.Syndrome.Kind(), p.AETH.MSN
		if a.Kind != roce.KindACK {
			a.Value = p.AETH.Syndrome.Value()
		}
	}
	if p.BTH.Opcode.HasAtomicAckETH() {
		a.Original = p.AtomicAckETH.Orig
	}
	return a
}

// Captured are the answers of the capture.
func (c *Conversation) Captured() []Answer {
	var out []Answer
	for i := range c.Answers {
		out = append(out, answerOf(&c.Answers[i]))
	}
	return out
}

// gapCycles is how long the NIC has for each request, and cyclesPerByte for what a
// READ asks for.
const (
	gapCycles   = 4000
	cyclesPerKB = 40
	receiveSize = 128 << 10
)

// Run has the requests arrive at a NIC, each when the one before was dealt with, and
// returns the NIC's answers.
func (c *Conversation) Run(seed uint64) ([]Answer, error) {
	b, err := tb.New(tb.Config{Seed: seed})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	h := b.Hosts[1]
	var answers []Answer
	h.Tap(func(f tb.Frame) {
		if p, err := roce.ParseFrame(f.Data); err == nil && f.Tx {
			answers = append(answers, answerOf(&p))
		}
	})
	var failed error
	h.Go("peer", func(t *hdl.Thread, bus *host.Bus) { failed = c.play(t, bus, h) })
	if err := b.Run(15_000_000_000); err != nil {
		return nil, err
	}
	return answers, failed
}

// play sets the responder up and sends it the requests.
func (c *Conversation) play(t *hdl.Thread, bus *host.Bus, h *tb.Host) error {
	v4, _ := c.Self.GID.IPv4()
	dev, err := driver.Open(bus, driver.Config{MAC: c.Self.MAC, IPv4: v4, GID: c.Self.GID, Seed: 1})
	if err != nil {
		return err
	}
	qp, err := c.responder(dev)
	if err != nil {
		return err
	}
	for i := range c.Requests {
		p := c.Requests[i]
		qp.translate(&p)
		t.Sleep(200)
		frame := p.Append(nil)
		for len(frame) < roce.MinFrame {
			frame = append(frame, 0)
		}
		h.Inject(frame)
		t.Sleep(gapCycles + uint64(p.RETH.Length)/1024*cyclesPerKB)
	}
	return nil
}

// model is the responder's side in the model.
type model struct {
	qp      *driver.QP
	regions []*region
	va      []uint64
	key     []abi.Key
}

// responder makes memory, receives and a QP in RTR, as the capture's peer had them.
func (c *Conversation) responder(dev *driver.Device) (*model, error) {
	pd, err := dev.AllocPD()
	if err != nil {
		return nil, err
	}
	m := &model{regions: c.regions()}
	const access = abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic
	for _, r := range m.regions {
		buf, err := dev.AllocBuffer(len(r.initial), int(r.from%4096))
		if err != nil {
			return nil, err
		}
		if _, err := buf.WriteAt(r.initial, 0); err != nil {
			return nil, err
		}
		mr, err := pd.RegMR(buf, access)
		if err != nil {
			return nil, err
		}
		e := mr.SGE(0, 0)
		m.va, m.key = append(m.va, e.Addr), append(m.key, e.LKey)
	}
	cq, err := dev.CreateCQ(1024, driver.CQOptions{})
	if err != nil {
		return nil, err
	}
	receives := c.receives()
	m.qp, err = pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 1, MaxRecv: max(1, receives), MaxRecvSGE: 1})
	if err != nil {
		return nil, err
	}
	err = m.qp.Connect(driver.Endpoint{
		QPN: uint32(c.PeerQP), PSN: uint32(c.Requests[0].BTH.PSN), GID: c.Peer.GID, MAC: c.Peer.MAC,
	}, driver.ConnectOptions{MTU: abi.MTU(c.MTU), Access: access})
	if err != nil {
		return nil, err
	}
	buf, err := dev.AllocBuffer(receiveSize, 0)
	if err != nil {
		return nil, err
	}
	mr, err := pd.RegMR(buf, access)
	if err != nil {
		return nil, err
	}
	for i := range receives {
		if _, err := m.qp.PostRecv(driver.RecvWR{ID: uint64(i), SGEs: []driver.SGE{mr.SGE(0, receiveSize)}}); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// receives is how many receive WQEs the requests take.
func (c *Conversation) receives() (n int) {
	for i := range c.Requests {
		op := c.Requests[i].BTH.Opcode
		if op.Ends() && (op.IsSend() || op.HasImm()) {
			n++
		}
	}
	return n
}

// translate makes QP number, keys and addresses of a request those of the model.
func (m *model) translate(p *roce.Packet) {
	p.BTH.DestQP = roce.QPN(m.qp.Number())
	if op := p.BTH.Opcode; op.IsAtomic() {
		m.move(&p.AtomicETH.RKey, &p.AtomicETH.VA)
	} else if op.HasRETH() && p.RETH.Length > 0 {
		m.move(&p.RETH.RKey, &p.RETH.VA)
	} else if op.HasIETH() {
		m.move(&p.IETH.RKey, new(uint64))
	}
}

func (m *model) move(key *uint32, va *uint64) {
	for i, r := range m.regions {
		if r.key == *key {
			*key, *va = uint32(m.key[i]), *va-r.from+m.va[i]
			return
		}
	}
}

// Compare tells the first answer that differs.
func Compare(got, want []Answer) error {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("answer %d of %d is missing: %v of PSN %06x", i, len(want), want[i].Opcode, want[i].PSN)
		case i >= len(want):
			return fmt.Errorf("one answer too many: %+v", got[i])
		case got[i] != want[i]:
			return fmt.Errorf("answer %d is %+v, captured %+v", i, got[i], want[i])
		}
	}
	return nil
}
