package e2e_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/host"
)

// raw is a host without a driver, which writes to the admin rings what it likes.
type raw struct {
	t           *testing.T
	b           *tb.Bench
	bus         *host.Bus
	sq, cq, box uint64
	pi          uint16
	script      func()
	started     hdl.Event
}

const rawLog = 3

func newRaw(t *testing.T) *raw {
	b, err := tb.New(tb.Config{})
	require.NoError(t, err)
	t.Cleanup(b.Close)
	r := &raw{t: t, b: b}
	b.Hosts[0].Go("raw", func(th *hdl.Thread, bus *host.Bus) {
		r.bus = bus
		for {
			for r.script == nil {
				th.Wait(&r.started, 0)
			}
			r.script()
			r.script = nil
		}
	})
	r.do(func() {
		r.sq, _ = r.bus.AllocDMA(64<<rawLog, 4096)
		r.cq, _ = r.bus.AllocDMA(32<<rawLog, 4096)
		r.box, _ = r.bus.AllocDMA(4096, 4096)
	})
	r.enable()
	return r
}

func (r *raw) do(fn func()) {
	r.t.Helper()
	r.script = fn
	r.started.Notify()
	w := r.b.World
	require.NoError(r.t, w.Run(func() bool { return r.script == nil }, w.Now()+50_000_000))
}

func (r *raw) reg(off, v uint32) {
	require.NoError(r.t, r.bus.Write(off, binary.LittleEndian.AppendUint32(nil, v)))
}

// enable sets the rings up and waits until commands are taken.
func (r *raw) enable() {
	r.t.Helper()
	r.pi = 0
	r.do(func() {
		_ = r.bus.WriteMem(r.cq, make([]byte, 32<<rawLog))
		r.reg(abi.RegAdminDoorbell, 0)
		for i, v := range []uint64{r.sq, r.cq} {
			r.reg(abi.RegAdminSQBaseLo+8*uint32(i), uint32(v))
			r.reg(abi.RegAdminSQBaseHi+8*uint32(i), uint32(v>>32))
		}
		r.reg(abi.RegAdminLogSize, rawLog)
		r.reg(abi.RegCtrl, abi.RegWord(abi.CtrlLayout, abi.Ctrl{Enable: true}))
	})
	require.True(r.t, r.status().AdminEnabled)
}

func (r *raw) status() abi.Status {
	r.t.Helper()
	var w uint32
	r.do(func() {
		r.bus.Spend(1_000_000)
		w, _ = r.bus.Read32(abi.RegStatus)
	})
	return abi.RegFields(abi.StatusLayout, w)
}

// command executes 64 bytes as a command; with a mailbox, its bytes. The
// completion must come, once, with the ID of the command.
func (r *raw) command(cmd []byte, box []byte) (c abi.AdminCompletion) {
	r.t.Helper()
	var got [2][32]byte
	slot := abi.RingSlot(r.pi, rawLog)
	r.do(func() {
		_ = r.bus.WriteMem(r.box, box)
		_ = r.bus.WriteMem(r.sq+64*uint64(slot), cmd)
		r.reg(abi.RegAdminDoorbell, uint32(r.pi+1))
		r.bus.Spend(20_000_000)
		_ = r.bus.ReadMem(r.cq+32*uint64(slot), got[0][:])
		_ = r.bus.ReadMem(r.cq+32*uint64(abi.RingSlot(r.pi+1, rawLog)), got[1][:])
	})
	require.NoError(r.t, abi.AdminCompletionLayout.Decode(got[0][:], &c))
	require.Equal(r.t, abi.RingPhase(r.pi, rawLog), c.Phase, "no completion")
	require.Equal(r.t, binary.LittleEndian.Uint16(cmd[2:]), c.ID)
	var next abi.AdminCompletion
	_ = abi.AdminCompletionLayout.Decode(got[1][:], &next)
	require.NotEqual(r.t, abi.RingPhase(r.pi+1, rawLog), next.Phase, "two completions")
	r.pi++
	return c
}

func encode(c abi.AdminCommand) []byte {
	b := make([]byte, 64)
	abi.AdminCommandLayout.Encode(&c, b)
	return b
}

// TestAdminMisuse: commands that no driver writes are refused, one completion
// each, and the device goes on.
func TestAdminMisuse(t *testing.T) {
	r := newRaw(t)
	zeros, ones := make([]byte, 256), make([]byte, 256)
	for i := range ones {
		ones[i] = 0xff
	}
	id := uint16(100)
	run := func(op abi.AdminOp, object uint32, mailbox uint64, box []byte) abi.AdminStatus {
		id++
		return r.command(encode(abi.AdminCommand{Op: op, ID: id, Object: object, Mailbox: mailbox}), box).Status
	}
	require.Equal(t, abi.AdminOK, run(abi.AdminNop, 0, 0, nil))
	for op := range 256 {
		if op >= abi.NumAdminOps {
			require.Equal(t, abi.AdminBadOpcode, run(abi.AdminOp(op), 0, 0, nil))
		}
	}
	for op := abi.AdminCreateEQ; op < abi.NumAdminOps; op++ {
		require.Equal(t, abi.AdminBadObject, run(op, 0xffffffff, r.box, zeros), "%v", op)
	}
	for _, op := range []abi.AdminOp{abi.AdminQueryDevice, abi.AdminCreateEQ, abi.AdminCreateCQ, abi.AdminModifyCQ, abi.AdminResizeCQ, abi.AdminRegMR} {
		require.Equal(t, abi.AdminBadParam, run(op, 1, 0, nil), "%v without a mailbox", op)
		require.Equal(t, abi.AdminBadParam, run(op, 1, r.box+64, nil), "%v, mailbox not aligned", op)
		if op != abi.AdminQueryDevice {
			require.Equal(t, abi.AdminDMAError, run(op, 1, 1<<62, nil), "%v, mailbox beyond memory", op)
			box := ones
			if op == abi.AdminRegMR { // windows have no attributes that could be wrong
				box = regionBox(ones)
			}
			require.NotEqual(t, abi.AdminOK, run(op, 1, r.box, box), "%v", op)
		}
	}
	for _, op := range []abi.AdminOp{abi.AdminDestroyEQ, abi.AdminDestroyCQ, abi.AdminDestroyQP, abi.AdminQueryQP, abi.AdminModifyQP, abi.AdminDeregMR} {
		require.Equal(t, abi.AdminBadObject, run(op, 3, r.box, ones), "%v of nothing", op)
	}
	// Whatever the bytes are, every command is completed.
	rng := rand.New(rand.NewPCG(3, 3))
	for range 400 {
		box, cmd := make([]byte, 256), make([]byte, 64)
		for i := range box {
			box[i] = byte(rng.Uint32() & rng.Uint32())
		}
		for i := range cmd {
			cmd[i] = byte(rng.Uint32())
		}
		cmd[0] = byte(rng.IntN(abi.NumAdminOps))
		binary.LittleEndian.PutUint32(cmd[4:], rng.Uint32N(4))
		if rng.IntN(8) != 0 {
			binary.LittleEndian.PutUint64(cmd[8:], r.box)
		}
		if rng.IntN(2) == 0 { // a page list that can be read, of a length that makes sense
			var m abi.MRMailbox
			require.NoError(t, abi.MRMailboxLayout.Decode(box, &m))
			m.PageList, m.NumPages = r.box+1024, rng.Uint32N(20)
			abi.MRMailboxLayout.Encode(&m, box)
		}
		r.command(cmd, box)
	}
	require.Equal(t, abi.AdminOK, run(abi.AdminNop, 0, 0, nil))
	require.Equal(t, abi.AdminOK, run(abi.AdminQueryDevice, 0, r.box, nil))
}

// regionBox is a mailbox of REG_MR with the kind of a region.
func regionBox(b []byte) []byte {
	var m abi.MRMailbox
	b = append([]byte(nil), b...)
	_ = abi.MRMailboxLayout.Decode(b, &m) // it has the size
	m.Kind = abi.KeyRegion
	abi.MRMailboxLayout.Encode(&m, b)
	return b
}

// TestAdminRingLost: rings that cannot be, and an index that cannot be, stop the
// admin queue, which says so; disabled and enabled again it works.
func TestAdminRingLost(t *testing.T) {
	r := newRaw(t)
	nop := encode(abi.AdminCommand{Op: abi.AdminNop, ID: 5})
	require.Equal(t, abi.AdminOK, r.command(nop, nil).Status)
	r.do(func() { r.reg(abi.RegAdminDoorbell, 1+1<<rawLog+1) })
	s := r.status()
	require.True(t, s.AdminError)
	require.False(t, s.AdminEnabled)
	off := func() {
		r.do(func() { r.reg(abi.RegCtrl, 0) })
		require.False(t, r.status().AdminError)
	}
	off()
	r.enable()
	require.Equal(t, abi.AdminOK, r.command(nop, nil).Status)

	off()
	sq := r.sq
	r.sq = 1 << 50
	r.do(func() {
		r.reg(abi.RegAdminDoorbell, 0)
		r.reg(abi.RegAdminSQBaseHi, uint32(r.sq>>32))
		r.reg(abi.RegCtrl, abi.RegWord(abi.CtrlLayout, abi.Ctrl{Enable: true}))
		r.bus.Spend(1_000_000)
		r.reg(abi.RegAdminDoorbell, 1)
		r.bus.Spend(10_000_000)
	})
	require.True(t, r.status().AdminError)
	off()
	r.sq = sq
	r.enable()
	for range 20 { // round the rings
		require.Equal(t, abi.AdminOK, r.command(nop, nil).Status)
	}
}
