package fault

import (
	"time"

	"rnic/pcie"
	"rnic/roce"
)

// Action is what a fault does.
type Action uint8

// Actions. Those up to BadFCS befall frames, those from UR on TLPs, Delay both.
const (
	None Action = iota
	Drop
	Duplicate
	Reorder
	Corrupt
	Truncate
	BadFCS
	Delay
	UR
	CA
	Poison
	Never
	Stop
)

// String is the word of the action.
func (a Action) String() string {
	return [...]string{"none", "drop", "duplicate", "reorder", "corrupt", "truncate", "badfcs", "delay", "ur", "ca", "poison", "never", "stop"}[a]
}

// Host is a host, or both.
type Host uint8

// Hosts.
const (
	Both Host = iota
	A
	B
)

// has tells whether host i, from 0, is meant.
func (h Host) has(i int) bool { return h == Both || int(h) == i+1 }

// All is Times of a fault that strikes every victim from the n-th on.
const All = 1 << 32

// Spec is one fault. Specs that say the same are equal.
type Spec struct {
	Action Action
	PCIe   bool // it befalls TLPs between the NIC and memory of Host, else frames on their way to Host
	Host   Host

	// Which frames.
	Kinds  Kinds // 0: all
	Except Kinds
	Places Places // 0: all
	QP     QP
	PSN    PSN

	// Which TLPs. Neither Read nor Write: both.
	Read, Write bool
	Addr        Range
	Tag         Tag

	// Which of them.
	Rate  uint32 // of a million; 0: by Nth
	Nth   uint64 // from 1; 0: the first
	Times uint64 // 0: 1; All
	From  time.Duration
	To    time.Duration // 0: for ever

	// How.
	Wait   time.Duration // of Delay and Stop; of Duplicate: how long behind the copy comes
	Frames int           // of Reorder: how many go by
	Bytes  int           // of Truncate: how many are left; negative: how many go
	Change Change        // of Corrupt
}

// Named tells whether the spec names its victims, so that a run can miss them.
func (s *Spec) Named() bool { return s.Rate == 0 }

func (s *Spec) nth() uint64   { return max(1, s.Nth) }
func (s *Spec) times() uint64 { return max(1, s.Times) }

// QP is the destination of packets, if Set.
type QP struct {
	Set bool
	N   roce.QPN
}

// PSN is one of packets, if Set: with Relative counted from the first that went to
// the packet's QP, requests and answers apart.
type PSN struct {
	Set, Relative bool
	N             roce.PSN
}

// Range is of bus addresses, both ends included, if Set: a TLP is in it that
// touches one of them.
type Range struct {
	Set    bool
	Lo, Hi uint64
}

// Tag is one of reads, if Set.
type Tag struct {
	Set bool
	N   pcie.Tag
}

// Change is what Corrupt does to a frame: to one byte, or to a field. With neither, a
// byte that the ICRC covers is drawn.
type Change struct {
	ByteSet bool
	Byte    int    // offset from the destination MAC; negative: from the end, FCS not counted
	Field   string // name of a field, or ""
	Set     bool   // it becomes Value, else Value is XORed to it; 0: its least bit that matters
	Value   uint64
	Repair  bool // checksums and ICRC are made right again
}
