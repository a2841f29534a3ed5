package retrans

import (
	"rnic/hdl"
	"rnic/rtl/port"
)

const (
	logBanks  = 4  // log2 of the trees, at most
	maxLevels = 12 // of a tree
	// lead is the number of cycles from the report of an alarm to what it leads to.
	lead = 4
)

// alarm has a QP reported at a cycle, instead of whatever was asked before.
type alarm struct {
	QPN port.QPN
	At  uint64
}

// node is the earliest alarm below a node of a tree.
type node struct {
	Valid bool
	Leaf  uint16 // QP within the bank
	At    uint64
}

// earlier is the earlier of two alarms.
func earlier(a, b *node) node {
	if !a.Valid || b.Valid && b.At < a.At {
		return *b
	}
	return *a
}

// climb is a new value on its way from a leaf to the root: it was written at its
// place in a level, and the one beside it read.
type climb struct {
	Valid bool
	Place uint16 // bank, then the way down from the root
	Value node
}

type timerRegs struct {
	Climb [maxLevels + 1]climb // by level; 0 is unused
	Root  [1 << logBanks]node
	Turn  uint8 // bank that reported last
}

// Timer reports QPs at their alarms. The QPs are dealt out to banks; each bank is
// a binary tree in RAM whose nodes hold the earliest alarm below them, so that its
// root is the next that is due. A change climbs one level a cycle, changes follow
// each other without a gap.
//
//	arm ──►┐ leaf   level n      n-1         1      ┌──────┐
//	       ├──────► write own ─► ... ─► ... ──────► │ root │─┬─► due
//	   ┌──►┘        read other                      └──────┘ │
//	   └───────────────── no alarm any more ◄────────────────┘
//
// While a change climbs, a root may still show what was reported already. Then
// the QP is reported once more, which is harmless: who gets a report looks
// whether anything is due, and asks for what is left.
type Timer struct {
	arm hdl.In[alarm]
	due hdl.Out[port.QPN]

	Levels []hdl.RAM[node] // from the first below the roots down to the leaves

	hdl.Regs[timerRegs]
	banks, levels uint // log2 of the banks; levels below the roots
}

func (t *Timer) init(logQP uint) {
	t.banks = min(logBanks, logQP)
	t.levels = logQP - t.banks
	t.Levels = make([]hdl.RAM[node], t.levels)
	for i := range t.Levels {
		t.Levels[i].Init(1<<(int(t.banks)+i+1), hdl.WriteFirst)
	}
}

// Eval moves changes up by one level, then begins another: an alarm that is
// asked for, or the end of one that is due.
func (t *Timer) Eval() {
	t.climb()
	var next uint64
	requests := uint64(0)
	now := t.Now()
	for i := range t.Q.Root {
		r := &t.Q.Root[i]
		switch {
		case !r.Valid:
		case r.At <= now+lead:
			requests |= 1 << i
		case next == 0 || r.At < next:
			next = r.At
		}
	}
	if next != 0 {
		t.WakeAt(next - lead)
	}
	switch {
	case t.arm.Valid():
		a := t.arm.Take()
		t.change(a.QPN, true, a.At)
	case requests != 0 && t.due.Ready():
		i := hdl.RoundRobin(requests, int(t.Q.Turn))
		t.D.Turn = uint8(i)
		t.D.Root[i].Valid = false
		qpn := port.QPN(t.Q.Root[i].Leaf)<<t.banks | port.QPN(i)
		t.due.Put(qpn)
		t.change(qpn, false, 0)
	}
}

// change begins the way of a new value from its leaf.
func (t *Timer) change(qpn port.QPN, valid bool, at uint64) {
	leaf := uint16(qpn>>t.banks) & (1<<t.levels - 1)
	bank := uint16(qpn) & (1<<t.banks - 1)
	t.put(t.levels, bank<<t.levels|leaf, node{Valid: valid, Leaf: leaf, At: at})
}

// put stores a value in its place of a level; level 0 are the roots.
func (t *Timer) put(level uint, place uint16, v node) {
	if level == 0 {
		t.D.Root[place] = v
		return
	}
	r := &t.Levels[level-1]
	r.Write(1, int(place), &v)
	r.Read(0, int(place^1))
	t.D.Climb[level] = climb{true, place, v}
}

// climb compares what was written in each level with the value beside it, and
// hands the earlier one up.
func (t *Timer) climb() {
	for l := t.levels; l > 0; l-- {
		t.D.Climb[l] = climb{}
	}
	for l := t.levels; l > 0; l-- {
		if c := &t.Q.Climb[l]; c.Valid {
			t.put(l-1, c.Place>>1, earlier(&c.Value, t.Levels[l-1].Data(0)))
		}
	}
}
