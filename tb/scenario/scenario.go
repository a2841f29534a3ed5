package scenario

import (
	"time"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/fault"
	"rnic/tb/host"
)

// Scenario is a file that was read and found right.
type Scenario struct {
	File   string
	Wire   Wire
	NIC    NIC
	Hosts  [2]Host
	QPs    []*QP
	MRs    []*MR
	Work   []*Step
	Faults []fault.Spec
	Expect Expect

	Settle    time.Duration // quiet at the end
	TimeLimit time.Duration
}

// Wire is the cable.
type Wire struct {
	Rate    uint64 // Gb/s
	Latency time.Duration
}

// NIC are parameters of both NICs.
type NIC struct {
	NoCredits   bool
	Window      uint64 // bytes that a QP may have in flight
	ReadTimeout time.Duration
}

// Host is a machine.
type Host struct {
	PCIeLatency time.Duration
	Profile     *host.Profile // nil: constant
	TimeUnit    time.Duration
	NoPush      bool
}

// QP is a queue pair and how it is connected.
type QP struct {
	Pos
	Name string
	Host int
	Peer Ref
	peer *QP

	PSN                          uint32
	MTU                          roce.MTU
	Timeout, RetryCnt, RNRRetry  uint8
	MinRNRTimer                  uint8
	MaxRdAtomic, MaxDestRdAtomic int
	Access                       abi.AccessFlags
	MaxSend, MaxRecv             int
	MaxSGE, MaxInline            int
	SigAll, IPv6                 bool
}

// MR is a memory region with a buffer of its own.
type MR struct {
	Pos
	Name    string
	Host    int
	Size    uint64
	Offset  uint64 // in its first page
	Access  abi.AccessFlags
	Content Content
	changes bool // the work may change it
}

// first are the bytes that it has at the beginning.
func (m *MR) first() []byte { return m.Content.bytes(int(m.Size), m.Name) }

// Segment is a part of a memory region.
type Segment struct {
	MR     Ref
	mr     *MR
	Offset uint64
	Size   uint64
	sized  bool
	key    uint64 // another key, if keyed
	keyed  bool
}

// Step is something that a host does.
type Step struct {
	Pos
	Name string
	Op   int // in ops
	QP   Ref
	qp   *QP

	Local  []Segment
	Remote *Segment
	Inline *Inline
	Imm    uint64
	Inv    Ref
	inv    *MR

	Compare, Swap, Add           uint64
	Unsignaled, Solicited, Fence bool
	State                        abi.QPState

	At     time.Duration
	After  []Ref
	after  []*Step
	AfterN *Count
	index  int
	has    map[string]Pos // keys that were given
}

// Inline is data in the work request.
type Inline struct {
	Content Content
	Size    uint64
	sized   bool
}

// Count is so many completions of a QP.
type Count struct {
	QP Ref
	qp *QP
	N  uint64
}

// op is an operation of a step.
type op struct {
	name   string
	wqe    abi.WQEOp
	recv   bool
	modify bool
	may    []string // keys beside those of all steps
	must   []string
}

// ops are the operations.
var ops = []op{
	{name: "send", wqe: abi.OpSend, may: local},
	{name: "send_imm", wqe: abi.OpSendImm, may: append([]string{"imm"}, local...), must: []string{"imm"}},
	{name: "send_inv", wqe: abi.OpSendInv, may: append([]string{"invalidate"}, local...), must: []string{"invalidate"}},
	{name: "write", wqe: abi.OpWrite, may: append([]string{"remote"}, local...), must: []string{"remote"}},
	{name: "write_imm", wqe: abi.OpWriteImm, may: append([]string{"remote", "imm"}, local...), must: []string{"remote", "imm"}},
	{name: "read", wqe: abi.OpRead, may: []string{"local", "remote", "signaled", "fence"}, must: []string{"remote"}},
	{name: "compare_swap", wqe: abi.OpCompareSwap, may: []string{"local", "remote", "compare", "swap", "signaled", "fence"}, must: []string{"local", "remote", "compare", "swap"}},
	{name: "fetch_add", wqe: abi.OpFetchAdd, may: []string{"local", "remote", "add", "signaled", "fence"}, must: []string{"local", "remote", "add"}},
	{name: "nop", wqe: abi.OpNop, may: []string{"signaled", "fence"}},
	{name: "recv", recv: true, may: []string{"local"}},
	{name: "modify", modify: true, may: []string{"state"}, must: []string{"state"}},
}

// local are the keys of operations that send data.
var local = []string{"local", "inline", "signaled", "solicited", "fence"}

// kind is the operation of the step.
func (s *Step) kind() *op { return &ops[max(0, s.Op)] }

// silent tells whether the step gives no completion when all goes well.
func (s *Step) silent() bool {
	return s.Unsignaled && !(s.qp != nil && s.qp.SigAll)
}

func opNames() (l []string) {
	for i := range ops {
		l = append(l, ops[i].name)
	}
	return l
}
