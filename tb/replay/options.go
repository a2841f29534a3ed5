package replay

import (
	"rnic/roce"
	"rnic/tb"
)

// Options say what a capture does not show. Zero values stand for what is inferred.
type Options struct {
	Seed     uint64
	MTU      roce.MTU
	Timeout  uint8        // of the requester: 4.096 us * 2^n; 10, so that a capture's waits are short
	RetryCnt *uint8       // of the requester
	RNRRetry *uint8       // of the requester
	Lost     map[int]bool // frames that did not arrive; nil: inferred
	SRQ      bool         // the receives of the model as responder are of a shared queue
	Tap      tb.Tap       // sees the frames of the model
}

const defaultTimeout = 10

// retries are the counts that let the model go as far as the captured requester: as
// many as the device has, but where the capture ends with a request that was given up.
func (c *Conversation) retries(o *Options) (retry, rnr uint8) {
	x := c.index()
	una := c.unanswered()
	copies, waits := len(x.requests[una]), 0
	for _, k := range x.answers[una] {
		if isRNR(&c.Events[k].Packet) {
			waits++
		}
	}
	last := len(c.Events) - 1
	switch {
	case copies == 0: // all was answered
		retry, rnr = most, most
		if len(x.again) == 0 {
			retry, rnr = 0, 0
		}
	case waits > 0 && c.Events[last].Answer: // given up after an RNR NAK
		retry, rnr = most, uint8(min(waits-1, most-1))
	default:
		retry, rnr = uint8(min(copies-1-waits, most)), most
		if waits == 0 {
			rnr = retry
		}
	}
	if o.RetryCnt != nil {
		retry = *o.RetryCnt
	}
	if o.RNRRetry != nil {
		rnr = *o.RNRRetry
	}
	return retry, rnr
}

// most is the highest retry count.
const most = 7
