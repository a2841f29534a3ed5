package e2e_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// all is what a region may let the peer do, and local write.
const all = abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

// Where things are in the buffers of a row.
const (
	farAt   = 64 << 10 // the region of B that A reaches
	farSize = 16 << 10
	image   = 96 << 10 // bytes that are compared afterwards
)

// world is what a row of the outcome table acts on: A asks, B answers.
type world struct {
	*e2e.Pair
	t    *testing.T
	s    *e2e.Scene
	far  *driver.MR // of B, with all rights
	a, b []byte     // what the buffers must hold at the end
}

// outcome is a row of the table: what is posted, and what comes of it.
type outcome struct {
	name    string
	connect driver.ConnectOptions
	recvs   func(w *world) []driver.RecvWR
	before  func(w *world) // between the receives and the sends
	sends   func(w *world) []driver.SendWR

	sent     []e2e.Done
	vendor   abi.VendorErr // of the first completion of A that is neither good nor flushed
	received []e2e.Done
	aErr     bool // A ends in ERR, else in RTS
	bErr     bool
	event    abi.EventType // of B's QP, 0: none
	effect   func(w *world)
	more     func(w *world, sent, received []driver.WC)
}

// outcomes runs rows, each on machines of its own, in two ways: without end-to-end
// credits; and with them, PSNs that wrap, and no pushed WQEs.
func outcomes(t *testing.T, rows []outcome) {
	t.Helper()
	for i := range rows {
		t.Run(rows[i].name, func(t *testing.T) { rows[i].run(t, quick, 0) })
	}
	credits := quick
	credits.Credits, credits.Driver.NoPush = true, true
	for i := range rows {
		t.Run("credits, "+rows[i].name, func(t *testing.T) { rows[i].run(t, credits, 0xffffff) })
	}
}

func (o *outcome) run(t *testing.T, opt e2e.Options, psn uint32) {
	s := e2e.New(t, opt)
	far := region(t, s.B, s.B.PD, farAt, farSize, all)
	c := driver.QPConfig{MaxSend: 8, MaxRecv: 8, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInline: 64, PSN: psn}
	if o.connect.Timeout == 0 {
		o.connect.Timeout = 10 // 8,192 cycles
	}
	w := &world{Pair: s.Join(s.A.QP(c), s.B.QP(c), o.connect), t: t, s: s, far: far}
	w.A.Fill(0, image, 1)
	w.B.Fill(0, image, 2)
	w.a, w.b = e2e.Bytes(image, 1), e2e.Bytes(image, 2)
	if o.recvs != nil {
		w.B.Recv(o.recvs(w)...)
	}
	if o.before != nil {
		o.before(w)
	}
	w.A.Send(o.sends(w)...)
	sent, received := w.A.Sent(append([]e2e.Done{}, o.sent...)...), w.B.Received(append([]e2e.Done{}, o.received...)...)
	s.Sleep(1000)
	w.A.DemandNone(w.A.SCQ)
	w.B.DemandNone(w.B.RCQ)
	for i := range sent {
		if sent[i].Status != abi.StatusSuccess && sent[i].Status != abi.StatusWRFlush {
			require.Equal(t, o.vendor, sent[i].VendorErr)
			break
		}
	}
	if o.aErr {
		w.A.DemandState(abi.QPErr)
	} else {
		w.A.DemandState(abi.QPRTS)
	}
	if o.bErr {
		w.B.DemandState(abi.QPErr)
	}
	require.Empty(t, s.A.Events())
	var types []abi.EventType
	for _, e := range s.B.Events() {
		require.Equal(t, w.B.QP.Number(), e.Number)
		types = append(types, e.Type)
	}
	if o.event == 0 {
		require.Empty(t, types)
	} else {
		require.Equal(t, []abi.EventType{o.event}, types)
	}
	if o.effect != nil {
		o.effect(w)
	}
	w.A.Demand(0, w.a)
	w.B.Demand(0, w.b)
	if o.more != nil {
		o.more(w, sent, received)
	}
}

// op is a signalled operation of n bytes, from or to offset at of A's buffer, on B's
// region from its start.
func (w *world) op(id uint64, op abi.WQEOp, at, n int) driver.SendWR {
	wr := driver.SendWR{ID: id, Op: op, Signaled: true, SGEs: []driver.SGE{w.A.MR.SGE(at, n)}}
	switch op {
	case abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpCompareSwap, abi.OpFetchAdd:
		wr.RemoteAddr, wr.RKey = w.far.Addr, w.far.RKey
	}
	return wr
}

// two are receives of 4,096 bytes, 11 and 12, in the first 8 KiB of B's buffer.
func two(w *world) []driver.RecvWR { return w.B.Recvs(0, 4096, 11, 12) }

// then appends lists of completions.
func then(lists ...[]e2e.Done) (d []e2e.Done) {
	for _, l := range lists {
		d = append(d, l...)
	}
	return d
}

// failed is what becomes of work request 1 that fails and 2 behind it.
func failed(s abi.WCStatus) []e2e.Done { return then(e2e.All(s, 1), e2e.Flushed(2)) }

// again connects both ends anew and has A do something that must work.
func (w *world) again(wr driver.SendWR) {
	w.A.Reset()
	w.B.Reset()
	w.A.Reconnect()
	w.B.Reconnect()
	w.A.Send(wr)
	w.A.Sent(e2e.OK(wr.ID)...)
}

// same demands bytes of a buffer.
func same(t *testing.T, want, got []byte) {
	t.Helper()
	require.True(t, bytes.Equal(want, got), "want %x, got %x", want, got)
}
