package hang

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"rnic/hdl"
	"rnic/rtl"
	"rnic/rtl/port"
)

// Plug is a module of a test that sits in a stream between two blocks: it hands on what
// comes, one beat a cycle, until something goes wrong with it as asked for. Beats count
// from 1; 0 is never.
type Plug[T any] struct {
	Stop  uint32 // beats that go through before it takes nothing any more
	Lose  uint32 // beat that it swallows
	Break uint32 // beat at which it breaks a rule of the kernel: two beats in one cycle
	In    hdl.In[T]
	Out   hdl.Out[T]
	hdl.Regs[plugRegs]
}

type plugRegs struct{ Passed uint32 }

// Eval is of hdl.Module.
func (p *Plug[T]) Eval() {
	q, d := &p.Q, &p.D
	if !p.In.Valid() || !p.Out.Ready() || p.Stop != 0 && q.Passed >= p.Stop {
		return
	}
	b := p.In.Take()
	if d.Passed++; d.Passed == p.Lose {
		return
	}
	p.Out.Put(*b)
	if d.Passed == p.Break {
		p.Out.Put(*b)
	}
}

// Between puts the plug into a stream whose FIFO has that depth.
func (p *Plug[T]) Between(o *hdl.Out[T], i *hdl.In[T], depth int) *Plug[T] {
	*o, *i = hdl.Out[T]{}, hdl.In[T]{}
	hdl.Connect(o, &p.In, 2)
	hdl.Connect(&p.Out, i, depth)
	return p
}

// places are the streams that a plug can be told by a text to sit in.
var places = map[string]func(n *rtl.NIC, stop, lose, breaks uint32) any{
	"keys": func(n *rtl.NIC, stop, lose, breaks uint32) any { // pkt_tx asks for an address
		return (&Plug[port.MptReq]{Stop: stop, Lose: lose, Break: breaks}).Between(&n.PktTx.Translate.Mpt, &n.MPT.Tx, 2)
	},
	"packets": func(n *rtl.NIC, stop, lose, breaks uint32) any { // wqe_sched describes packets
		return (&Plug[port.TxPkt]{Stop: stop, Lose: lose, Break: breaks}).Between(&n.WQESched.Exec.Pkt, &n.PktTx.Ask.Req, 4)
	},
	"frames": func(n *rtl.NIC, stop, lose, breaks uint32) any { // pkt_tx gives frames to the mac
		return (&Plug[port.EthBeat]{Stop: stop, Lose: lose, Break: breaks}).Between(&n.PktTx.Seal.Eth, &n.Mac.Transmit.TxIn, 2)
	},
	"payload": func(n *rtl.NIC, stop, lose, breaks uint32) any { // scatter writes to memory
		return (&Plug[port.WriteReq]{Stop: stop, Lose: lose, Break: breaks}).Between(&n.Scatter.Mover.Write, &n.Dma.Write[port.WriteRx].Req, 2)
	},
	"answers": func(n *rtl.NIC, stop, lose, breaks uint32) any { // ack_gen has the responder answer
		return (&Plug[port.Job]{Stop: stop, Lose: lose, Break: breaks}).Between(&n.AckGen.Reply.Resp, &n.Responder.Jobs, 4)
	},
	"completions": func(n *rtl.NIC, stop, lose, breaks uint32) any { // retrans completes work requests
		return (&Plug[port.CQEReq]{Stop: stop, Lose: lose, Break: breaks}).Between(&n.Retrans.CQE, &n.CQWriter.Send, 4)
	},
}

// Places lists them.
func Places() []string {
	var l []string
	for p := range places {
		l = append(l, p)
	}
	slices.Sort(l)
	return l
}

var plugForm = regexp.MustCompile(`^(a|b) (\w+) (stop|lose|break)=(\d+)$`)

// ParsePlug reads a plug, as "b payload stop=2": host, place, and what goes wrong at
// which beat. What it gives is for tb.Config.Insert.
func ParsePlug(text string) (func(host int, n *rtl.NIC) any, error) {
	m := plugForm.FindStringSubmatch(strings.Join(strings.Fields(text), " "))
	if m == nil {
		return nil, fmt.Errorf("plug %q: must be HOST PLACE stop=N, lose=N or break=N, as 'b payload stop=2'", text)
	}
	put := places[m[2]]
	if put == nil {
		return nil, fmt.Errorf("plug %q: no place %q: there are %s", text, m[2], strings.Join(Places(), ", "))
	}
	beat, err := strconv.ParseUint(m[4], 10, 32)
	if err != nil || beat == 0 {
		return nil, fmt.Errorf("plug %q: beats count from 1 to 4294967295", text)
	}
	var n [3]uint32
	n[slices.Index([]string{"stop", "lose", "break"}, m[3])] = uint32(beat)
	return func(host int, nic *rtl.NIC) any {
		if host != int(m[1][0]-'a') {
			return nil
		}
		return put(nic, n[0], n[1], n[2])
	}, nil
}
