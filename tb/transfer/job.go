// Package transfer is the main job: any number of bytes go from the memory of
// host a to that of host b (READs: from b to a) by one operation of RC, UC or UD over
// some QPs, through drivers, NICs and the wire, and everything is checked on the way: each completion, each byte at
// the far side, each packet, the counters, and that nothing is left behind.
//
//	coordinator a ── OOB ── coordinator b     set-up, rounds
//	sender a 0..n                              a thread a QP: post, poll
//	receiver b 0..n                            a thread a QP: post, poll, compare
//
// The receivers post their buffers before the senders begin, as much as one round
// holds: without retries no message may find an empty receive queue. Operations
// that take no receive are compared in memory when host a says that all are done.
//
// Messages of UC and UD may be lost: by faults, or because the receiver has no room.
// Then all that arrives is one that was sent, whole; and when all is calm, what has not
// arrived is lost. Without faults no more is lost than the NIC says.
package transfer

import (
	"fmt"
	"io"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/fault"
)

// Source is the bytes to send: a bytes.Reader, or a file of any size.
type Source interface {
	io.ReaderAt
	Size() int64
}

// Job is a transfer. Message i goes over QP i mod QPs of host a, to the peer of that
// QP; with UD to each QP of host b in turn.
type Job struct {
	Data      Source
	Transport abi.QPType // abi.QPTypeRC, QPTypeUC, QPTypeUD; 0: RC
	SRQ       bool       // the QPs of host b share one receive queue
	IPv6      bool       // packets are IPv6, else IPv4
	VLAN      *uint16    // if set, frames carry this 802.1Q tag control
	Op        abi.WQEOp  // abi.OpSend, OpSendImm, OpWrite, OpWriteImm, OpRead, OpCompareSwap, OpFetchAdd
	MTU       roce.MTU
	QPs       int
	MsgSize   int // bytes of a message; the last may be shorter
	Depth     int // messages that a QP has posted at once

	TwoWay bool // host b does the same to host a over the same QPs, at the same time; WRITE and READ

	SGEs   int           // elements of a work request, 1 to 4; 0: 1
	Inline bool          // messages lie in the WQE
	Batch  int           // work requests a PostSend; 0: 1
	Driver driver.Config // what differs from the default; addresses are the host's

	Polled bool // the CPU of host a looks for completions itself: no CQ is armed for an interrupt
	// Due, if set, is when message i is to be posted, in cycles since the senders
	// began, ascending; it waits for room beyond. One by one, Polled, in one round.
	Due func(i int) uint64

	// Faults, if set, strike from when a host has set up. Frames may then be lost and
	// sent again, and only what does not depend on that is checked.
	Faults *fault.Plan
	// Retries of the connections. Usual are none, and with Faults as many as the device
	// does, after a timeout of a few round trips.
	Retries Retries

	// Progress, if set, is called now and then with the present cycle and the
	// messages received so far.
	Progress func(cycle uint64, messages int)
}

// Limits of a job.
const (
	maxQPs     = 512
	maxMessage = 64 << 20
	roundBytes = 32 << 20
	roundQueue = 2048 // receives a QP in a round
	roundSRQ   = 8192 // and of an SRQ
)

// Check tells what is wrong with a job.
func (j *Job) Check() error {
	switch {
	case !j.MTU.Valid():
		return fmt.Errorf("MTU: %d is none of the five", j.MTU)
	case j.QPs < 1 || j.QPs > maxQPs:
		return fmt.Errorf("%d QPs: must be 1 to %d", j.QPs, maxQPs)
	case j.Depth < 1 || j.Depth > roundQueue:
		return fmt.Errorf("a depth of %d: must be 1 to %d", j.Depth, roundQueue)
	case j.MsgSize < 0 || j.MsgSize > maxMessage || j.MsgSize == 0 && j.Data.Size() > 0:
		return fmt.Errorf("messages of %d bytes: must be 1 to %d", j.MsgSize, maxMessage)
	case !j.known():
		return fmt.Errorf("operation %v: not one that carries data", j.Op)
	case j.checkTransport() != nil:
		return j.checkTransport()
	case j.atomic() && j.MsgSize != 8:
		return fmt.Errorf("%v takes messages of 8 bytes: not %d", j.Op, j.MsgSize)
	case j.atomic() && (j.Data.Size() == 0 || j.Data.Size()%8 != 0):
		return fmt.Errorf("%v takes data of a multiple of 8 bytes: not %d", j.Op, j.Data.Size())
	case j.Inline && (j.Op == abi.OpRead || j.atomic()):
		return fmt.Errorf("%v cannot be inline", j.Op)
	case j.TwoWay && j.Op != abi.OpWrite && j.Op != abi.OpRead:
		return fmt.Errorf("%v both ways: must be WRITE or READ", j.Op)
	case j.TwoWay && j.Messages() > j.round():
		return fmt.Errorf("%d messages both ways: must be at most %d", j.Messages(), j.round())
	case j.Due != nil && (!j.Polled || j.TwoWay || j.Batch > 1 || j.Messages() > j.round()):
		return fmt.Errorf("%d messages when they are due: must be polled, one way, one by one, at most %d", j.Messages(), j.round())
	case j.Retries.check() != nil:
		return j.Retries.check()
	case j.SGEs < 0 || j.SGEs > 4:
		return fmt.Errorf("%d SGEs: must be 1 to 4", j.SGEs)
	case j.Inline && j.MsgSize > 64:
		return fmt.Errorf("inline messages of %d bytes: at most 64", j.MsgSize)
	}
	return nil
}

func (j *Job) known() bool { return j.Op <= abi.OpFetchAdd && j.Op != abi.OpSendInv }

// atomic tells operations that change one 64-bit word. Message i swaps a word of
// zeros for the message, or adds the message to it: so the data arrives too.
func (j *Job) atomic() bool { return j.Op == abi.OpCompareSwap || j.Op == abi.OpFetchAdd }

// received tells whether each message takes a receive, and completes there.
func (j *Job) received() bool {
	return j.Op == abi.OpSend || j.Op == abi.OpSendImm || j.Op == abi.OpWriteImm
}

// Messages is how many the job has; no bytes are one empty message.
func (j *Job) Messages() int {
	if j.Data.Size() == 0 {
		return 1
	}
	return int((j.Data.Size()-1)/int64(j.MsgSize)) + 1
}

// length is the bytes of message i.
func (j *Job) length(i int) int {
	return int(min(int64(j.MsgSize), j.Data.Size()-int64(i)*int64(j.MsgSize)))
}

// message reads the payload of message i.
func (j *Job) message(i int) ([]byte, error) {
	b := make([]byte, j.length(i))
	if n, err := j.Data.ReadAt(b, int64(i)*int64(j.MsgSize)); n < len(b) {
		return nil, fmt.Errorf("message %d of the data to send: %w", i, err)
	}
	return b, nil
}

// round is how many messages go before the receivers have to post again.
func (j *Job) round() int {
	n := min(j.Messages(), roundQueue*j.QPs)
	if j.SRQ {
		n = min(n, roundSRQ)
	}
	if j.MsgSize > 0 {
		n = min(n, max(1, roundBytes/j.MsgSize))
	}
	if j.unreliable() && n < j.Messages() {
		n = max(j.QPs, n/j.QPs*j.QPs) // each QP of host b gets as many
	}
	return n
}

// slot is where in a round's buffer message i lies.
func (j *Job) slot(i int) int { return i % j.round() * j.MsgSize }

// bufferSize is the bytes of a round's buffer, at least 1.
func (j *Job) bufferSize() int { return max(1, j.slots()*j.space()) }

// buffers is how many of them a host has: one for each direction.
func (j *Job) buffers() int {
	if j.TwoWay {
		return 2
	}
	return 1
}
