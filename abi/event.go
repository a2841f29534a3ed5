package abi

import "rnic/bits"

// EventSize is the bytes of an Event.
const EventSize = 32

// Event is an entry of an event queue. COMPLETION and CQ_ERR go to the CQ's
// event queue, all others to event queue 0.
type Event struct {
	Type      EventType `doc:"what happened"`
	_         uint8
	Syndrome  uint16 `doc:"more about it; 0 where the type says nothing"`
	Number    uint32 `doc:"CQN, QPN, SRQN or port, by type"`
	Timestamp uint64 `doc:"clock cycles when the event was made"`
	_         [15]byte
	Phase     bool     `doc:"see RingPhase"`
	_         struct{} `bits:"7"`
}

// EventLayout is the encoding of an Event.
var EventLayout = bits.MustLayout[Event]("event", bits.Little, EventSize)

// EventType is what an event tells: the asynchronous events with the values of
// verbs, and COMPLETION.
type EventType uint8

const (
	EventCQErr            EventType = 0
	EventQPFatal          EventType = 1
	EventQPReqErr         EventType = 2
	EventQPAccessErr      EventType = 3
	EventCommEst          EventType = 4
	EventSQDrained        EventType = 5
	EventDeviceFatal      EventType = 8
	EventPortActive       EventType = 9
	EventPortErr          EventType = 10
	EventSRQErr           EventType = 14
	EventSRQLimitReached  EventType = 15
	EventQPLastWQEReached EventType = 16
	EventCompletion       EventType = 128
)

var eventTypes = newEnum("EVENT",
	enumValue[EventType]{EventCQErr, "CQ_ERR", "CQ overrun or unwritable; number: CQN"},
	enumValue[EventType]{EventQPFatal, "QP_FATAL", "the QP failed and no completion can tell; number: QPN; syndrome: VendorErr"},
	enumValue[EventType]{EventQPReqErr, "QP_REQ_ERR", "NAK invalid request was sent; number: QPN; syndrome: VendorErr"},
	enumValue[EventType]{EventQPAccessErr, "QP_ACCESS_ERR", "NAK remote access error was sent; number: QPN; syndrome: VendorErr"},
	enumValue[EventType]{EventCommEst, "COMM_EST", "first good packet in RTR; number: QPN"},
	enumValue[EventType]{EventSQDrained, "SQ_DRAINED", "SQD reached, all begun WQEs are done; number: QPN"},
	enumValue[EventType]{EventDeviceFatal, "DEVICE_FATAL", "the device has stopped"},
	enumValue[EventType]{EventPortActive, "PORT_ACTIVE", "link up; number: port, 1"},
	enumValue[EventType]{EventPortErr, "PORT_ERR", "link down; number: port, 1"},
	enumValue[EventType]{EventSRQErr, "SRQ_ERR", "SRQ unreadable; number: SRQN"},
	enumValue[EventType]{EventSRQLimitReached, "SRQ_LIMIT_REACHED", "fewer WQEs than the armed limit; number: SRQN"},
	enumValue[EventType]{EventQPLastWQEReached, "QP_LAST_WQE_REACHED", "QP with SRQ in ERR, its last WQE is done; number: QPN"},
	enumValue[EventType]{EventCompletion, "COMPLETION", "an armed CQ has a CQE; number: CQN"},
)

// Width is the number of bits of an EventType.
func (EventType) Width() int { return 8 }

// String returns the type's name.
func (t EventType) String() string { return eventTypes.text(uint32(t)) }
