package admin_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
)

// world is what a driver may know: which objects exist, and in which state.
type world struct {
	cq map[uint32]int // uses
	qp map[uint32]abi.QPState
	on map[uint32]uint32 // SRQ of a QP
	sr map[uint32]int    // QPs on an SRQ
	ah map[uint32]bool
	mr map[uint32]bool
}

// expect says how a command must end, and remembers what it does.
func (w *world) expect(c command) abi.AdminStatus {
	_, isQP := w.qp[c.object]
	uses, isCQ := w.cq[c.object]
	users, isSRQ := w.sr[c.object]
	switch c.op {
	case abi.AdminCreateCQ:
		if isCQ {
			return abi.AdminExists
		}
		w.cq[c.object] = 0
	case abi.AdminDestroyCQ:
		if uses > 0 {
			return abi.AdminBusy
		}
		if !isCQ {
			return abi.AdminBadObject
		}
		delete(w.cq, c.object)
	case abi.AdminCreateQP:
		_, send := w.cq[1]
		_, recv := w.cq[2]
		a := c.box.(*abi.QPMailbox)
		_, isSRQ := w.sr[a.SRQN]
		switch {
		case !send || !recv:
			return abi.AdminBadParam
		case isQP:
			return abi.AdminExists
		case a.Flags&abi.QPHasSRQ != 0 && !isSRQ:
			return abi.AdminBadParam
		case a.Flags&abi.QPHasSRQ != 0:
			w.on[c.object] = a.SRQN
			w.sr[a.SRQN]++
		}
		w.qp[c.object] = abi.QPReset
		w.cq[1]++
		w.cq[2]++
	case abi.AdminDestroyQP, abi.AdminQueryQP, abi.AdminModifyQP:
		if !isQP {
			return abi.AdminBadObject
		}
		if c.op == abi.AdminDestroyQP {
			delete(w.qp, c.object)
			if n, shares := w.on[c.object]; shares {
				w.sr[n]--
				delete(w.on, c.object)
			}
			w.cq[1]--
			w.cq[2]--
		}
		if c.op == abi.AdminModifyQP {
			next := c.box.(*abi.QPMailbox).State
			if next != abi.QPReset && next != abi.QPErr && next != w.qp[c.object]+1 {
				if next == w.qp[c.object] && (next == abi.QPInit || next == abi.QPRTS) {
					if next == abi.QPInit {
						return abi.AdminOK
					}
					return abi.AdminBadParam // attributes that RTS to RTS does not allow
				}
				return abi.AdminBadState
			}
			w.qp[c.object] = next
		}
	case abi.AdminRegMR:
		if w.mr[c.object] {
			return abi.AdminExists
		}
		w.mr[c.object] = true
	case abi.AdminDeregMR:
		if !w.mr[c.object] {
			return abi.AdminBadObject
		}
		delete(w.mr, c.object)
	case abi.AdminCreateSRQ:
		if isSRQ {
			return abi.AdminExists
		}
		w.sr[c.object] = 0
	case abi.AdminModifySRQ, abi.AdminQuerySRQ, abi.AdminDestroySRQ:
		switch {
		case !isSRQ:
			return abi.AdminBadObject
		case c.op == abi.AdminDestroySRQ && users > 0:
			return abi.AdminBusy
		case c.op == abi.AdminDestroySRQ:
			delete(w.sr, c.object)
		}
	case abi.AdminCreateAH:
		if w.ah[c.object] {
			return abi.AdminExists
		}
		w.ah[c.object] = true
	case abi.AdminDestroyAH:
		if !w.ah[c.object] {
			return abi.AdminBadObject
		}
		delete(w.ah, c.object)
	case abi.AdminNop, abi.AdminQueryDevice:
	default:
		return abi.AdminBadOpcode
	}
	return abi.AdminOK
}

// drawn is a random sequence of commands on few objects.
func drawn(t *rapid.T) (cs []command) {
	ops := []abi.AdminOp{
		abi.AdminNop, abi.AdminQueryDevice, abi.AdminCreateCQ, abi.AdminCreateCQ, abi.AdminDestroyCQ, abi.AdminCreateQP,
		abi.AdminCreateQP, abi.AdminModifyQP, abi.AdminModifyQP, abi.AdminModifyQP, abi.AdminModifyQP, abi.AdminQueryQP,
		abi.AdminDestroyQP, abi.AdminRegMR, abi.AdminDeregMR, 99,
		abi.AdminCreateSRQ, abi.AdminCreateSRQ, abi.AdminModifySRQ, abi.AdminQuerySRQ, abi.AdminDestroySRQ, abi.AdminDestroySRQ,
		abi.AdminCreateAH, abi.AdminDestroyAH,
	}
	for range rapid.IntRange(1, 60).Draw(t, "commands") {
		c := command{op: rapid.SampledFrom(ops).Draw(t, "op"), object: rapid.Uint32Range(1, 2).Draw(t, "object")}
		switch c.op {
		case abi.AdminCreateCQ:
			c.box = cq()
		case abi.AdminCreateQP:
			c.box = qp()
			if rapid.Bool().Draw(t, "shares") {
				c.box = sharing(rapid.Uint32Range(1, 2).Draw(t, "srqn"))
			}
		case abi.AdminCreateSRQ, abi.AdminModifySRQ:
			c.box = srq()
		case abi.AdminCreateAH:
			c.box = ah()
		case abi.AdminModifyQP:
			c.box = to(rapid.SampledFrom([]abi.QPState{abi.QPReset, abi.QPInit, abi.QPInit, abi.QPRTR, abi.QPRTS, abi.QPErr}).Draw(t, "state"))
		case abi.AdminRegMR:
			n := rapid.Uint32Range(1, 20).Draw(t, "pages")
			c.box = &abi.MRMailbox{Addr: 4096, Length: uint64(n) << 12, LogPageSize: 12, PageList: lists, NumPages: n, FirstPage: c.object * 20}
		}
		cs = append(cs, c)
	}
	return cs
}

// execute posts the commands in bursts of up to a ring.
func execute(t hdltest.T, cs []command, o hdl.Options, throttle uint64) (*hdl.Kernel, []abi.AdminCompletion) {
	b := newBench(t, o, throttle, 3)
	var got []abi.AdminCompletion
	for len(cs) > 0 {
		n := min(8, len(cs))
		b.post(cs[:n]...)
		got = append(got, b.wait(t, n)...)
		cs = cs[n:]
	}
	require.NoError(t, b.k.Run(b.k.Cycle()+300))
	return b.k, got
}

func TestRandomCommands(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := drawn(t)
		w := world{
			cq: map[uint32]int{}, qp: map[uint32]abi.QPState{}, on: map[uint32]uint32{}, sr: map[uint32]int{},
			ah: map[uint32]bool{}, mr: map[uint32]bool{},
		}
		_, got := execute(t, cs, hdl.Options{}, rapid.Uint64Range(0, 100).Draw(t, "throttle"))
		for i, c := range cs {
			require.Equal(t, w.expect(c), got[i].Status, "command %d: %v %d %v", i, c.op, c.object, got[i].Syndrome)
			require.Equal(t, c.object, got[i].Object)
			require.Equal(t, uint16(100+i), got[i].ID)
		}
	})
}

func TestFastEqualsStrict(t *testing.T) {
	for seed := range 3 {
		cs := rapid.Custom(drawn).Example(seed)
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []abi.AdminCompletion) {
			k, got := execute(t, cs, o, uint64(seed))
			return k, got
		})
	}
}
