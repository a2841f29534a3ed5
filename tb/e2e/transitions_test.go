package e2e_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// transition is what verbs say of a change of state, or of attributes within one: what
// must be named beside the state, and what may be.
type transition struct {
	from, to       abi.QPState
	required, also abi.QPAttr
}

// Sets of attributes of the tables below.
const (
	place     = abi.AttrPKeyIndex | abi.AttrPort
	connected = abi.AttrAV | abi.AttrPathMTU | abi.AttrDestQPN | abi.AttrRQPSN
	timers    = abi.AttrTimeout | abi.AttrRetryCnt | abi.AttrRNRRetry
	toRTS     = abi.AttrCurState
)

// qpTransitions are those of each type, as the tables of IBTA 11.2.5.2 and of the verbs
// manual have them, without what the device does not have: alternate paths, static rates.
// To RESET and to ERR a QP goes from every state, with nothing besides.
var qpTransitions = map[abi.QPType][]transition{
	abi.QPTypeRC: {
		{abi.QPReset, abi.QPInit, place | abi.AttrAccessFlags, 0},
		{abi.QPInit, abi.QPInit, 0, place | abi.AttrAccessFlags},
		{abi.QPInit, abi.QPRTR, connected | abi.AttrMaxDestRdAtomic | abi.AttrMinRNRTimer, abi.AttrAccessFlags | abi.AttrPKeyIndex},
		{abi.QPRTR, abi.QPRTS, timers | abi.AttrSQPSN | abi.AttrMaxRdAtomic, toRTS | abi.AttrAccessFlags | abi.AttrMinRNRTimer},
		{abi.QPRTS, abi.QPRTS, 0, toRTS | abi.AttrAccessFlags | abi.AttrMinRNRTimer},
		{abi.QPRTS, abi.QPSQD, 0, abi.AttrSQDAsyncNotify},
		{abi.QPSQD, abi.QPRTS, 0, toRTS | abi.AttrAccessFlags | abi.AttrMinRNRTimer},
		{abi.QPSQD, abi.QPSQD, 0, place | abi.AttrAccessFlags | abi.AttrAV | timers | abi.AttrMaxRdAtomic | abi.AttrMaxDestRdAtomic | abi.AttrMinRNRTimer},
	},
	abi.QPTypeUC: {
		{abi.QPReset, abi.QPInit, place | abi.AttrAccessFlags, 0},
		{abi.QPInit, abi.QPInit, 0, place | abi.AttrAccessFlags},
		{abi.QPInit, abi.QPRTR, connected, abi.AttrAccessFlags | abi.AttrPKeyIndex},
		{abi.QPRTR, abi.QPRTS, abi.AttrSQPSN, toRTS | abi.AttrAccessFlags},
		{abi.QPRTS, abi.QPRTS, 0, toRTS | abi.AttrAccessFlags},
		{abi.QPRTS, abi.QPSQD, 0, abi.AttrSQDAsyncNotify},
		{abi.QPSQD, abi.QPRTS, 0, toRTS | abi.AttrAccessFlags},
		{abi.QPSQD, abi.QPSQD, 0, abi.AttrAV | abi.AttrAccessFlags | abi.AttrPKeyIndex},
		{abi.QPSQE, abi.QPRTS, 0, toRTS | abi.AttrAccessFlags},
	},
	abi.QPTypeUD: {
		{abi.QPReset, abi.QPInit, place | abi.AttrQKey, 0},
		{abi.QPInit, abi.QPInit, 0, place | abi.AttrQKey},
		{abi.QPInit, abi.QPRTR, 0, abi.AttrPKeyIndex | abi.AttrQKey},
		{abi.QPRTR, abi.QPRTS, abi.AttrSQPSN, toRTS | abi.AttrQKey},
		{abi.QPRTS, abi.QPRTS, 0, toRTS | abi.AttrQKey},
		{abi.QPRTS, abi.QPSQD, 0, abi.AttrSQDAsyncNotify},
		{abi.QPSQD, abi.QPRTS, 0, toRTS | abi.AttrQKey},
		{abi.QPSQD, abi.QPSQD, 0, abi.AttrPKeyIndex | abi.AttrQKey},
		{abi.QPSQE, abi.QPRTS, 0, toRTS | abi.AttrQKey},
	},
	abi.QPTypeRaw: {
		{abi.QPReset, abi.QPInit, abi.AttrPort, 0},
		{abi.QPInit, abi.QPInit, 0, abi.AttrPort},
		{abi.QPInit, abi.QPRTR, 0, 0},
		{abi.QPRTR, abi.QPRTS, 0, toRTS},
		{abi.QPRTS, abi.QPRTS, 0, toRTS},
		{abi.QPRTS, abi.QPSQD, 0, 0}, // Linux has no event of it for raw frames
		{abi.QPSQD, abi.QPRTS, 0, toRTS},
		{abi.QPSQD, abi.QPSQD, 0, 0},
		{abi.QPSQE, abi.QPRTS, 0, toRTS},
	},
}

// qpTypes are the types, and whether they can have a shared receive queue.
var qpTypes = []struct {
	typ abi.QPType
	srq bool
}{
	{abi.QPTypeRC, false}, {abi.QPTypeRC, true}, {abi.QPTypeUC, false}, {abi.QPTypeUC, true},
	{abi.QPTypeUD, false}, {abi.QPTypeUD, true}, {abi.QPTypeRaw, false},
}

func typeName(typ abi.QPType, srq bool) string {
	if srq {
		return fmt.Sprintf("%v with SRQ", typ)
	}
	return typ.String()
}

// walker takes a QP from state to state by the fewest attributes that do it.
type walker struct {
	*e2e.End
	t    *testing.T
	typ  abi.QPType
	attr driver.QPAttr

	failures int // times that the QP went to ERR
}

func newWalker(t *testing.T, s *e2e.Scene, typ abi.QPType, srq *driver.SRQ) *walker {
	t.Helper()
	p := s.Couple(s.A.QP(driver.QPConfig{Type: typ, SRQ: srq}), s.B.QP(driver.QPConfig{Type: typ}))
	remote := p.B.QP.Endpoint()
	return &walker{End: p.A, t: t, typ: typ, attr: driver.QPAttr{
		Port: 1, PathMTU: abi.MTU1024, DestQPN: remote.QPN, RQPSN: 7, MinRNRTimer: 12, Timeout: 14, SQPSN: 9,
		RetryCnt: 3, RNRRetry: 4, MaxRdAtomic: 2, MaxDestRdAtomic: 3, QKey: e2e.QKey, Access: abi.AccessRemoteWrite,
		AV: abi.AV{DMAC: remote.MAC, HopLimit: 64, DGID: remote.GID, SGIDIndex: 1, UDPSPort: 0xc000},
	}}
}

// modify changes attributes; cur is what CUR_STATE says.
func (w *walker) modify(cur, to abi.QPState, mask abi.QPAttr) (err error) {
	a := w.attr
	a.State, a.CurState = to, cur
	w.Do(func() { err = w.QP.Modify(a, mask) })
	if err == nil && to == abi.QPErr && cur != abi.QPErr {
		w.failures++
	}
	return err
}

// needs is what the QP needs to name between two states.
func (w *walker) needs(from, to abi.QPState) abi.QPAttr {
	for _, x := range qpTransitions[w.typ] {
		if x.from == from && x.to == to {
			return x.required
		}
	}
	w.t.Fatalf("%v: no way from %v to %v", w.typ, from, to)
	return 0
}

// bring takes the QP to a state, from RESET on.
func (w *walker) bring(to abi.QPState) {
	w.t.Helper()
	require.NoError(w.t, w.modify(0, abi.QPReset, abi.AttrState))
	at := abi.QPReset
	step := func(next abi.QPState) {
		require.NoError(w.t, w.modify(0, next, abi.AttrState|w.needs(at, next)))
		at = next
	}
	switch to {
	case abi.QPReset:
	case abi.QPErr:
		require.NoError(w.t, w.modify(0, abi.QPErr, abi.AttrState))
	default:
		for _, next := range []abi.QPState{abi.QPInit, abi.QPRTR, abi.QPRTS} {
			if at != to {
				step(next)
			}
		}
		if to == abi.QPSQD {
			step(to)
		}
		if to == abi.QPSQE {
			w.spoil(5)
			w.Sent(e2e.All(abi.StatusLocProt, 5)...)
		}
	}
	w.DemandState(to)
}

// spoil posts a send of memory that there is not.
func (w *walker) spoil(id uint64) {
	w.t.Helper()
	wr := driver.SendWR{ID: id, Op: abi.OpSend, SGEs: []driver.SGE{{Addr: 1, Length: 64, LKey: 0x77700}}}
	if w.typ == abi.QPTypeUD {
		wr.AH, wr.RemoteQPN, wr.RemoteQKey = w.handle(), 5, e2e.QKey
	}
	w.Send(wr)
}

// handle is a handle that leads to the other host.
func (w *walker) handle() (h *driver.AH) {
	w.t.Helper()
	w.Must(func() (err error) {
		h, err = w.PD.CreateAH(driver.AHAttr{MAC: w.attr.AV.DMAC, DGID: w.attr.AV.DGID})
		return err
	})
	return h
}

// TestTransitions (B083, B084, B086, B088): each type of QP, from every state to every
// value that a state can have. What there is works with what it needs, alone and with all
// that it allows; without one or more of what it needs, with one attribute that it has no
// use for, or with another present state than the real one, it is refused; what there is not
// is refused; and then nothing has changed.
func TestTransitions(t *testing.T) {
	for _, c := range qpTypes {
		t.Run(typeName(c.typ, c.srq), func(t *testing.T) {
			s := e2e.New(t, e2e.Options{})
			var srq *driver.SRQ
			if c.srq {
				srq = s.A.SRQ(driver.SRQAttr{MaxRecv: 4, MaxSGE: 1})
			}
			w := newWalker(t, s, c.typ, srq)
			for from := abi.QPReset; from <= abi.QPErr; from++ {
				if from == abi.QPSQE && c.typ == abi.QPTypeRC {
					continue // RC fails as a whole
				}
				w.bring(from)
				for to := abi.QPReset; to <= abi.QPErr+1; to++ {
					w.cross(from, to)
				}
				w.refused(from, 255, abi.AttrState)
			}
			var want []abi.EventType
			if c.srq { // each ERR ends what it takes from there
				want = slices.Repeat([]abi.EventType{abi.EventQPLastWQEReached}, w.failures)
			}
			require.Equal(t, want, types(s.A.Events()))
		})
	}
}

// allAttrs are all attributes but STATE.
func allAttrs() (l []abi.QPAttr) {
	for bit := abi.AttrState << 1; bit <= abi.AttrDestQPN; bit <<= 1 {
		l = append(l, bit)
	}
	return l
}

// cross tries one pair of states, from which the QP comes back to the first.
func (w *walker) cross(from, to abi.QPState) {
	w.t.Helper()
	x := transition{from: from, to: to}
	good := to == abi.QPReset || to == abi.QPErr
	for _, k := range qpTransitions[w.typ] {
		if k.from == from && k.to == to {
			x, good = k, true
		}
	}
	if !good {
		w.refused(from, to, abi.AttrState)
		w.refused(from, to, abi.AttrState|w.likely(to))
		if from == to { // nothing named is nothing to do, and refused as well
			w.refused(from, 7, 0)
		}
		return
	}
	subsets(x.required, func(some abi.QPAttr) {
		if some != x.required {
			w.refused(from, to, abi.AttrState|some)
			w.refused(from, to, abi.AttrState|some|x.also)
		}
	})
	for _, bit := range allAttrs() {
		if (x.required|x.also)&bit == 0 {
			w.refused(from, to, abi.AttrState|x.required|bit)
		}
	}
	if x.also&abi.AttrCurState != 0 {
		for cur := abi.QPReset; cur <= abi.QPErr+1; cur++ {
			if cur != from {
				w.refused(cur, to, abi.AttrState|x.required|abi.AttrCurState)
			}
		}
	}
	masks := []abi.QPAttr{abi.AttrState | x.required, abi.AttrState | x.required | x.also}
	for _, bit := range allAttrs() {
		if x.also&bit != 0 {
			masks = append(masks, abi.AttrState|x.required|bit)
		}
	}
	if from == to && x.required == 0 && to != abi.QPReset && to != abi.QPErr {
		masks = append(masks, x.also) // without STATE, its value says nothing
	}
	for _, mask := range masks {
		state := to
		if mask&abi.AttrState == 0 {
			state = 7
		}
		require.NoError(w.t, w.modify(from, state, mask), "%v to %v by %v", from, to, mask)
		m := w.Query()
		require.Equal(w.t, to, m.State)
		require.Equal(w.t, to, m.CurState)
		w.hasSet(&m, mask)
		if from != to {
			w.bring(from)
		}
	}
}

// likely is what a program would name to go to a state.
func (w *walker) likely(to abi.QPState) (mask abi.QPAttr) {
	for _, x := range qpTransitions[w.typ] {
		if x.to == to && x.required != 0 {
			return x.required
		}
	}
	return abi.AttrCurState
}

// subsets calls f with each subset of a set.
func subsets(set abi.QPAttr, f func(some abi.QPAttr)) {
	for some := set; ; some = (some - 1) & set {
		f(some)
		if some == 0 {
			return
		}
	}
}

// refused demands that a change is refused and that nothing has changed.
func (w *walker) refused(cur, to abi.QPState, mask abi.QPAttr) {
	w.t.Helper()
	before := w.Query()
	err := w.modify(cur, to, mask)
	require.ErrorIs(w.t, err, driver.ErrInvalid, "%v to %v by %v", before.State, to, mask)
	require.Equal(w.t, before, w.Query(), "%v to %v by %v", before.State, to, mask)
}

// hasSet demands that the QP has the attributes that were named.
func (w *walker) hasSet(m *abi.QPMailbox, mask abi.QPAttr) {
	w.t.Helper()
	a := &w.attr
	for _, x := range []struct {
		attr      abi.QPAttr
		want, got any
	}{
		{abi.AttrAccessFlags, a.Access, m.AccessFlags}, {abi.AttrPort, a.Port, m.Port}, {abi.AttrPKeyIndex, a.PKeyIndex, m.PKeyIndex},
		{abi.AttrQKey, a.QKey, m.QKey}, {abi.AttrAV, a.AV.DMAC, m.AV.DMAC}, {abi.AttrAV, a.AV.DGID, m.AV.DGID},
		{abi.AttrPathMTU, a.PathMTU, m.PathMTU}, {abi.AttrTimeout, a.Timeout, m.Timeout},
		{abi.AttrRetryCnt, a.RetryCnt, m.RetryCnt}, {abi.AttrRNRRetry, a.RNRRetry, m.RNRRetry},
		{abi.AttrRQPSN, a.RQPSN, m.ExpectedPSN}, {abi.AttrSQPSN, a.SQPSN, m.NextPSN},
		{abi.AttrMaxRdAtomic, a.MaxRdAtomic, m.MaxRdAtomic}, {abi.AttrMaxDestRdAtomic, a.MaxDestRdAtomic, m.MaxDestRdAtomic},
		{abi.AttrMinRNRTimer, a.MinRNRTimer, m.MinRNRTimer}, {abi.AttrDestQPN, a.DestQPN, m.DestQPN},
	} {
		if mask&x.attr != 0 && m.State != abi.QPReset {
			require.Equal(w.t, x.want, x.got, "%v", x.attr)
		}
	}
}
