package replay

import (
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// job is a work request that leads to captured packets.
type job struct {
	wr     driver.SendWR
	data   []byte // that it sends
	length int    // of what it sends, or asks for
	event  int    // at which it is due
	first  roce.PSN
	psns   uint32
}

// jobs are the work requests behind the captured requests, in order. A message whose
// end the capture does not show is left out. A job is due at the first event with one
// of its PSNs or a later one: its first packets may have been lost before they came to
// where was captured.
func (c *Conversation) jobs() (list []job) {
	var j job
	total := uint32(0)
	for e := range c.inOrder() {
		if e.BTH.Opcode.Starts() {
			j = job{first: c.First.Add(total), wr: driver.SendWR{ID: uint64(len(list)), Signaled: true}}
		}
		j.add(&e.Packet)
		n := c.psns(&e.Packet)
		j.psns, total = j.psns+n, total+n
		if e.BTH.Opcode.Ends() {
			list = append(list, j)
		}
	}
	due := 0
	for i := range c.Events {
		e := &c.Events[i]
		for ; !e.Answer && due < len(list) && !c.psn(i).Before(list[due].first); due++ {
			list[due].event = i
		}
	}
	return list
}

// add adds a packet to the work request that it belongs to.
func (j *job) add(p *roce.Packet) {
	op, w := p.BTH.Opcode, &j.wr
	if op.HasRETH() {
		w.RemoteAddr, w.RKey = p.RETH.VA, abi.Key(p.RETH.RKey)
	}
	if op.HasDETH() {
		w.RemoteQPN, w.RemoteQKey = uint32(p.BTH.DestQP), p.DETH.QKey
	}
	w.Solicited = p.BTH.SE
	j.data = append(j.data, p.Payload...)
	j.length = len(j.data)
	switch {
	case op.IsReadRequest():
		w.Op, j.length = abi.OpRead, int(p.RETH.Length)
	case op.IsAtomic():
		w.Op, j.length = abi.OpCompareSwap, 8
		if op == roce.RCFetchAdd {
			w.Op = abi.OpFetchAdd
		}
		a := &p.AtomicETH
		w.RemoteAddr, w.RKey, w.SwapAdd, w.Compare = a.VA, abi.Key(a.RKey), a.SwapAdd, a.Compare
	case op.IsWrite() && op.HasImm():
		w.Op, w.Imm = abi.OpWriteImm, p.Imm.Imm
	case op.IsWrite():
		w.Op = abi.OpWrite
	case op.HasImm():
		w.Op, w.Imm = abi.OpSendImm, p.Imm.Imm
	case op.HasIETH():
		w.Op, w.Imm = abi.OpSendInv, p.IETH.RKey
	default:
		w.Op = abi.OpSend
	}
}

func (j *job) String() string { return fmt.Sprintf("post %s %d B", j.wr.Op, j.length) }

// arena is the model's memory for messages, used round and round: what was posted
// first is done first.
type arena struct {
	buf    *driver.Buffer
	sge    driver.SGE
	size   int
	head   int   // where the next message goes
	ends   []int // of those posted and not done, in bytes since the beginning
	posted int   // bytes since the beginning
	done   int   // likewise
}

// mostArena is the size of the arena, bytes, at most.
const mostArena = 32 << 20

// take finds room for n bytes; ok is false when there is none now.
func (a *arena) take(n int) (offset int, ok bool) {
	skip := 0
	if a.head+n > a.size {
		skip = a.size - a.head
	}
	if a.posted+skip+n-a.done > a.size {
		return 0, false
	}
	offset = (a.head + skip) % a.size
	a.head = offset + n
	a.posted += skip + n
	a.ends = append(a.ends, a.posted)
	return offset, true
}

// free gives back what the oldest message took.
func (a *arena) free() {
	if len(a.ends) > 0 {
		a.done, a.ends = a.ends[0], a.ends[1:]
	}
}
