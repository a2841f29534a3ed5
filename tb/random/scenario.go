package random

import (
	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
)

// Scenario is all that a seed stands for. Nothing in it changes during a run.
type Scenario struct {
	Seed   uint64
	Bench  tb.Config
	Driver driver.Config
	Style  Style

	PDs    int      // protection domains; pair i is in the i-th, in turn
	CQs    [2][]int // entries of each CQ, by host
	Phases []Phase
	Budget int  // beats of the peer's rx_buf that a host's messages in flight may take; as many of its own the answers
	Close  bool // destroy everything and stop the device at the end

	Guests *Guests // QPs of other types beside the pairs; nil: none

	Loss *Loss // nil: nothing is lost, and nothing sent again

	// Unreadable, if not 0, has about one of so many reads of payload fail: the send
	// whose payload that is ends in error. All pairs are cut then.
	Unreadable int

	// Setup, if set, sees the bench before it runs: a test may watch or spoil it.
	Setup func(*tb.Bench)
}

// Style is how the programs of the hosts behave.
type Style struct {
	Batch    int    // most work requests a call of PostSend or PostRecv
	Burst    int    // most groups of work requests that go without a pause
	Pause    uint64 // longest pause between bursts, cycles
	Refill   int    // most receives that complete before the receiver posts again
	Spin     bool   // pollers poll and sleep; else they wait for interrupts
	SpinTime uint64 // longest sleep between polls, cycles
	Take     int    // most completions a poll
	Churn    int    // most admin commands of no use in a phase
}

// Fate is what happens to a pair of QPs before a phase.
type Fate uint8

// Fates.
const (
	Keep     Fate = iota // it goes on
	Reset                // both go to RESET and are connected again
	Recreate             // both are destroyed, others take their place
)

// Phase is traffic between two moments of rest.
type Phase struct {
	Fates  []Fate
	Pairs  []Pair     // attributes of the QPs in this phase
	Flows  [2][]Flow  // by sending host and pair
	Arenas [2][]Arena // memory of each host
	Cuts   [2][]Cut   // QPs that are stopped before they are done
	Doomed []bool     // pairs with a faulty message; they are cut, too

	Words   [2][]Word // of each host, for the peer's atomics
	Victims [2][]int  // regions of each host that the peer's SENDs invalidate: their domains
}

// Pair is a QP of each host, connected with each other.
type Pair struct {
	MTU  roce.MTU
	IPv6 bool
	Ends [2]End
}

// End is a QP.
type End struct {
	SendCQ, RecvCQ   int
	MaxSend, MaxRecv int
	SendSGE, RecvSGE int
	MaxInline        int
	SigAll           bool
	RdAtomic         int // READs and atomics in flight as initiator
	DestRdAtomic     int // and as responder: no fewer than the peer's RdAtomic
	PSN              uint32
	Timeout          uint8
	RetryCnt         uint8
	RNRRetry         uint8
	MinRNRTimer      uint8 // 0: the driver's default
	TrafficClass     uint8
	FlowLabel        uint32
	HopLimit         uint8
	UDPSPort         uint16
}

// Flow is what one QP sends in a phase.
type Flow struct {
	Messages []Message
	Groups   []Group  // of Messages, in order
	Extra    [][]Span // receives of the peer that nothing arrives for
}

// Group is a run of work requests of which the last one completes.
type Group struct {
	N     int
	Beats int // of the peer's rx_buf, at most
	Back  int // of the own, for answers
}

// Message is a send work request, and the receive that it meets if it needs one.
type Message struct {
	ID        uint64
	Op        abi.WQEOp
	Imm       uint32
	Solicited bool
	Signaled  bool // flag of the work request
	Completes bool // by Signaled or as the QP is made
	Inline    bool
	Fence     bool
	Data      []byte // what it carries: of a READ or atomic, what comes back
	Src, Dst  []Span // Dst may be longer than Data; READs and atomics write to Src
	Fault     Fault

	Remote  Span // of the peer: where a WRITE goes, what a READ or atomic is of
	Word    int  // of the peer, which an atomic is of
	Shared  bool // so is that word: Data is not known
	SwapAdd uint64
	Compare uint64
	Victim  int // of the peer, which a SEND_INV is for
}

// Span is an element of memory: Len bytes at Off of an Arena. Without Len, the
// device must not look at Key and address.
type Span struct {
	Arena, Off, Len int
	Garbage         bool // of no bytes, with key and address that are none
	Bad             bool // not to be touched: the key is wrong, or the address
}

// Arena is a buffer of which a part is a memory region.
type Arena struct {
	PD         int
	Size       int // of the buffer, bytes
	InPage     int // where in its page it begins
	From, Len  int // the region
	Contiguous bool
	ReadOnly   bool
	Spans      []Span // in use, by offset; the bytes between are guarded
}
