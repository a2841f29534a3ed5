package story

// At is where a statement can be looked up: the signal, named as in waves, has that
// value, as rnic wave prints it, in that cycle. A cycle begins at Ps.
type At struct {
	Ps     int64  `json:"ps"`
	Cycle  uint64 `json:"cycle"`
	Signal string `json:"signal"`
	Value  string `json:"value"`
}

// Story is what happened in a run. Times are ps of the simulation. Lists are in order of
// time; of one time, host_a's come first.
type Story struct {
	ClockPs   int64                        `json:"clock_ps"`
	EndPs     int64                        `json:"end_ps"`
	Hosts     []string                     `json:"hosts"`
	Failure   string                       `json:"failure"` // what ended the run, in lines; "": nothing
	Limit     int                          `json:"limit"`   // of packets and of work requests that are kept, each
	Forgotten Forgotten                    `json:"forgotten"`
	Unended   int                          `json:"unended"` // work requests of send queues that are kept and have not ended
	WRs       []*WR                        `json:"wrs"`
	Packets   []*Packet                    `json:"packets"`
	QPs       []*QP                        `json:"qps"`
	Spent     map[string][]Share           `json:"spent"`
	Bandwidth []Bucket                     `json:"bandwidth"`
	PCIe      []Event                      `json:"pcie,omitempty"` // reads and writes that a fault strikes, in order of time
	Counters  map[string]map[string]uint64 `json:"counters"`       // those that are not 0

	index *index
}

// Forgotten counts the oldest, which were not kept.
type Forgotten struct {
	WRs     uint64 `json:"wrs"`
	Packets uint64 `json:"packets"`
	Bytes   uint64 `json:"bytes"`  // of those packets
	Events  uint64 `json:"events"` // of QPs
}

// WR is a work request. IDs ascend at each host; they are even at host_a and odd at
// host_b, so that each is known when its WR is posted.
type WR struct {
	ID        int     `json:"id"`
	Host      string  `json:"host"`
	QPN       uint32  `json:"qpn"` // of an srq 0 until a QP has taken it
	Transport string  `json:"transport"`
	Queue     string  `json:"queue"` // sq, rq, srq
	SRQ       uint32  `json:"srq"`   // number of the SRQ, of an srq
	Index     uint16  `json:"index"` // of its WQE: units of an sq, entries of an rq; of an srq its number in the order of posting
	Op        string  `json:"op"`
	Bytes     uint64  `json:"bytes"`
	Status    string  `json:"status"` // of its CQE, or of the outstanding table if it has none; "": it has not ended
	Vendor    string  `json:"vendor"`
	Signalled bool    `json:"signalled"`
	Stages    []Stage `json:"stages"`
	Waits     []Wait  `json:"waits"`
	Packets   []int   `json:"packets"` // IDs, of requests and of answers with data, at both hosts
	Needs     int     `json:"needs"`   // packets that its message has in requests; 0: not known, or a receive
	Tries     int     `json:"tries"`   // most often that one of its packets was sent; 0: none was
}

// Stage is a point that a work request passes.
type Stage struct {
	Name string `json:"name"`
	At
}

// Names of stages, in their order. A posted request may have further passes that are
// none of them.
const (
	Posted       = "posted"       // the register write that announces it is on PCIe
	Doorbell     = "doorbell"     // qpc has its index
	WQERead      = "wqe read"     // its WQE is at the head of what is to be executed
	Entered      = "entered"      // rq: its first packet has taken it
	FirstPacket  = "first packet" // first bit on the wire; of an rq at its own port
	LastPacket   = "last packet"  // likewise, of the last of its message
	Acknowledged = "acknowledged" // retrans knows
	CQEWritten   = "cqe written"  // the CQE is in the posted queue
	Polled       = "polled"       // the consumer index has passed it
)

// Stages lists them.
var Stages = [...]string{Posted, Doorbell, WQERead, Entered, FirstPacket, LastPacket, Acknowledged, CQEWritten, Polled}

// Wait is a time in which a work request stood still. The signal says why at its
// beginning, which Cycle is, or, where only the end tells, at that.
type Wait struct {
	FromPs int64  `json:"from_ps"`
	ToPs   int64  `json:"to_ps"`
	For    string `json:"for"`
	At
}

// What a WR waits for.
const (
	ForWindow     = "window"
	ForCredits    = "credits"
	ForFence      = "fence"
	ForReadDepth  = "read depth"
	ForRetryTimer = "retry timer"
	ForRNRTimer   = "rnr timer"
	ForAck        = "ack"
	ForPCIe       = "pcie"
	ForEntry      = "outstanding entry"
	ForWire       = "wire"
)

// Packet is a frame that a host sent. IDs are as those of WRs.
type Packet struct {
	ID       int    `json:"id"`
	Host     string `json:"host"`
	Ps       int64  `json:"ps"`        // of its first bit
	EndPs    int64  `json:"end_ps"`    // of its last, as in captures
	ArrivePs int64  `json:"arrive_ps"` // of its last bit at the other host; -1: it did not arrive
	QPN      uint32 `json:"qpn"`       // of the sender; 0: not known
	DestQPN  uint32 `json:"dest_qpn"`
	PSN      uint32 `json:"psn"`
	Opcode   string `json:"opcode"`
	Bytes    int    `json:"bytes"` // without FCS
	Payload  int    `json:"payload"`
	Syndrome string `json:"syndrome"`
	MSN      uint32 `json:"msn"`
	AckReq   bool   `json:"ackreq"`
	WR       int    `json:"wr"` // that it is a request of or, with an answer's data, that it answers; -1: none, or not kept
	Cause    string `json:"cause"`
	Because  int    `json:"because"` // packet that caused it; -1: none
	Fate     string `json:"fate"`
	Cycle    uint64 `json:"cycle"` // of its first beat
	Signal   string `json:"signal"`
	Value    string `json:"value"`

	Why []Event `json:"why"` // what happened on the way to its cause and its fate, in order of time
}

// Causes of packets.
const (
	New             = "new"
	AfterTimeout    = "retry after timeout"
	AfterNAK        = "retry after NAK"
	AfterRNR        = "retry after RNR"
	AfterImpliedNAK = "retry after implied NAK"
	Ack             = "acknowledgement"
	NAK             = "NAK"
	RNRNAK          = "RNR NAK"
	ReadResponse    = "READ response"
	AtomicResponse  = "atomic response"
	Duplicate       = "duplicate answered"
	Datagram        = "datagram"
	Unknown         = "unknown"
)

// Fates of packets. Dropped is followed by the name of a counter; Refused by why the
// receiver could not do what a packet asks for, and the NAK that it answers, if any.
const (
	Delivered      = "delivered"
	OnWire         = "on the wire" // when the run ended
	DroppedOnWire  = "dropped on the wire"
	Corrupted      = "corrupted"
	DuplicateOfOne = "duplicate"
	Dropped        = "dropped: "
	Refused        = "refused: "
)

// QP is the life of a queue pair.
type QP struct {
	Host        string     `json:"host"`
	QPN         uint32     `json:"qpn"`
	Transport   string     `json:"transport"`
	Peer        uint32     `json:"peer"` // 0: none
	Events      []Event    `json:"events"`
	Outstanding [][2]int64 `json:"outstanding"` // ps, messages in the outstanding table from then on
	SQDepth     [][2]int64 `json:"sq_depth"`    // ps, WQE units that are posted and not begun
}

// Event is something that happened.
type Event struct {
	At
	Text string `json:"text"`
}

// Share is a part of the run's time. The parts of a host add up to the run.
type Share struct {
	Where string  `json:"where"`
	Ps    int64   `json:"ps"`
	Share float64 `json:"share"` // of the run, 4 digits
}

// Where time goes, in the order in which a moment that belongs to several is given to
// one.
const (
	OnTheWire   = "wire"             // the host sends a frame
	ReadingPCIe = "pcie reads"       // a read of host memory is under way
	OnTimer     = "timers"           // a work request waits for its retry or RNR timer
	OnCredits   = "credits"          // it waits for the peer's receives
	OnWindow    = "window"           // it may send no more before an acknowledgement
	OnAck       = "acknowledgements" // all is sent and not answered
	InNIC       = "nic"              // it is in a block of the NIC
	InDriver    = "driver"           // no work request of a send queue is open
)

// Bucket is how much of its line a host took in a part of the run: frames with preamble,
// FCS and gap, never more than the rate of the line. Buckets are equally wide and cover
// the run; the last is as much narrower as it is beyond the end.
type Bucket struct {
	Host string  `json:"host"`
	Ps   int64   `json:"ps"` // its beginning
	Gbps float64 `json:"gbps"`
}
