package hdl

import "unsafe"

// Policy is what a RAM port that reads shows when the same address is written.
type Policy uint8

const (
	// ReadFirst shows the word as it was before the write, on the writing port
	// and on the other one.
	ReadFirst Policy = iota
	// WriteFirst shows the word being written, on both.
	WriteFirst
	// NoChange holds the data of a port while it writes; a read of the same
	// address on the other port is undefined in hardware, and so a Fault.
	NoChange
)

// RAM is a true dual-port block RAM, a field of the one module that owns it.
// Each port does one access a cycle. It is zero at power-up and has no reset.
//
// An access of cycle c shows in Data from cycle c+1 on, until the port's next
// access. A write shows too, by policy: the word before it, or the word written;
// under NoChange it leaves Data alone.
type RAM[T any] struct{ core ram }

// ram is a RAM without its type.
type ram struct {
	depth  int
	policy Policy
	stride uintptr
	mem    []uint64
	ports  [2]ramPort
	dirty  *uint64
	bit    uint64
	owner  int32
	blk    *block
	self   unsafe.Pointer
	path   string
	lay    *layout
	digest uint64
	idx    int // in Kernel.rams
}

type ramPort struct {
	op   ramOp
	addr int
	data unsafe.Pointer // output register
	in   unsafe.Pointer // word to write
}

type ramOp uint8

const (
	ramIdle ramOp = iota
	ramRead
	ramWrite
)

// Init states the size in words and the policy, before elaboration.
func (r *RAM[T]) Init(depth int, p Policy) {
	r.core.depth, r.core.policy, r.core.self = depth, p, unsafe.Pointer(r)
}

// Depth is the size in words.
func (r *RAM[T]) Depth() int { return r.core.depth }

// Read asks port 0 or 1 for a word. Data has it in the next cycle.
func (r *RAM[T]) Read(port, addr int) { r.core.access(port, addr, ramRead) }

// Data is the output register of a port. The pointer stays good, its contents
// change with the port's accesses.
func (r *RAM[T]) Data(port int) *T { return (*T)(r.core.ports[port].data) }

// Write stores a word at the coming edge.
func (r *RAM[T]) Write(port, addr int, v *T) { *r.WriteNext(port, addr) = *v }

// WriteNext is a Write whose word is filled in place: the caller sets every
// field before Eval returns.
func (r *RAM[T]) WriteNext(port, addr int) *T {
	r.core.access(port, addr, ramWrite)
	return (*T)(r.core.ports[port].in)
}

// Peek is a word as of the last edge, for testbenches and never for Eval.
func (r *RAM[T]) Peek(addr int) *T { return (*T)(r.core.word(addr)) }

func (r *ram) word(addr int) unsafe.Pointer {
	return unsafe.Pointer(&r.mem[uintptr(addr)*r.stride/8])
}

func (r *ram) access(port, addr int, op ramOp) {
	p := &r.ports[port]
	if uint(addr) >= uint(r.depth) || p.op != ramIdle {
		r.misuse(port, addr)
	}
	p.op, p.addr = op, addr
	*r.dirty |= r.bit
}

func (r *ram) misuse(port, addr int) {
	if r.ports[port].op != ramIdle {
		r.blk.fail("%s: second access of port %d in one cycle", r.path, port)
	}
	r.blk.fail("%s: address %d outside 0..%d on port %d", r.path, addr, r.depth-1, port)
}

// edge does the accesses of both ports and wakes the owner.
func (r *ram) edge(k *Kernel) {
	a, b := &r.ports[0], &r.ports[1]
	if a.op != ramIdle && b.op != ramIdle && a.addr == b.addr && (a.op == ramWrite || b.op == ramWrite) {
		r.collide(a, b)
	} else {
		r.exec(a)
		r.exec(b)
	}
	a.op, b.op = ramIdle, ramIdle
	k.wake(r.owner)
}

func (r *ram) exec(p *ramPort) {
	switch p.op {
	case ramRead:
		r.copy(p.data, r.word(p.addr))
	case ramWrite:
		w := r.word(p.addr)
		switch r.policy {
		case ReadFirst:
			r.copy(p.data, w)
		case WriteFirst:
			r.copy(p.data, p.in)
		}
		r.copy(w, p.in)
	}
}

// collide is the case of a write with another access to its address.
func (r *ram) collide(a, b *ramPort) {
	if a.op == b.op {
		r.blk.fail("%s: both ports write address %d", r.path, a.addr)
	}
	if r.policy == NoChange {
		r.blk.fail("%s: address %d read while written, undefined under NoChange", r.path, a.addr)
	}
	if (r.policy == ReadFirst) == (a.op == ramRead) {
		a, b = b, a
	}
	// ReadFirst: the read, now b, goes first. WriteFirst: the write, now b, does.
	r.exec(b)
	r.exec(a)
}

func (r *ram) copy(dst, src unsafe.Pointer) {
	copy(unsafe.Slice((*byte)(dst), r.stride), unsafe.Slice((*byte)(src), r.stride))
}
