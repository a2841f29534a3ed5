package loss

import (
	"errors"
	"fmt"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/fault"
)

// Expiry is when an ACK timer, or an RNR wait, came to its end. All but Code and
// TimeUnit are cycles.
type Expiry struct {
	Code     uint8  // timeout of the connection, or RNR timer
	TimeUnit uint16 // cycles for 4.096 us
	Least    uint64 // that it has to last
	Most     uint64 // that the ACK timer may last: 9/8 of Least
	// Decision is from the last bit of the request on the wire to when retrans tells of
	// the timeout. Of an RNR wait it is 0.
	Decision uint64
	// Again is from there, or from the last bit of the RNR NAK at the MAC, to the first
	// bit of the request that is sent again.
	Again uint64
}

// single is one message of 64 bytes.
func single(op abi.WQEOp, timeout uint8, unit uint16) Load {
	return Load{Op: op, MTU: 1024, QPs: 1, MsgSize: 64, Messages: 1, Depth: 1, Timeout: timeout, TimeUnit: unit}
}

// ACKTimeout loses a request and waits for the timer; timeout is 1 to 31.
func ACKTimeout(c tb.Config, timeout uint8, unit uint16) (Expiry, error) {
	l := single(abi.OpWrite, timeout, unit)
	b, err := tb.New(c)
	if err != nil {
		return Expiry{}, err
	}
	defer b.Close()
	const retire = "nic.retrans.retire.put"
	t, err := newTrace(b.Hosts[0], retire)
	if err != nil {
		return Expiry{}, err
	}
	n := 0
	b.Hosts[1].SetLoss(func() bool { n++; return n == 1 })
	if _, err := l.transfer(b, fault.New(0)); err != nil {
		return Expiry{}, err
	}
	t.finish()
	isRequest := func(p *roce.Packet) bool { return p.BTH.Opcode.IsRequest() }
	first := t.find(0, true, isRequest)
	second := t.find(first+1, true, isRequest)
	if first < 0 || second < 0 {
		return Expiry{}, errors.New("the request was not sent twice")
	}
	e := Expiry{Code: timeout, TimeUnit: unit, Least: uint64(unit) << timeout}
	e.Most = e.Least + e.Least/8
	left := t.frames[first].last
	expired, ok := t.next(retire, left)
	if !ok {
		return e, errors.New("no timeout")
	}
	e.Decision, e.Again = expired-left, t.frames[second].first-left
	return e, nil
}

// RNRWait has the acknowledgement of a SEND arrive as an RNR NAK with a timer code, 0
// to 31.
func RNRWait(c tb.Config, code uint8, unit uint16) (Expiry, error) {
	l := single(abi.OpSend, 14, unit)
	b, err := tb.New(c)
	if err != nil {
		return Expiry{}, err
	}
	defer b.Close()
	t, err := newTrace(b.Hosts[0])
	if err != nil {
		return Expiry{}, err
	}
	spec, err := fault.Parse(fmt.Sprintf("corrupt a ack nth=1 field=syndrome set=%#x repair", 0x20|code))
	if err != nil {
		return Expiry{}, err
	}
	if _, err := l.transfer(b, fault.New(0, spec)); err != nil {
		return Expiry{}, err
	}
	t.finish()
	nak := t.find(0, false, func(p *roce.Packet) bool { return p.BTH.Opcode == roce.RCAck })
	again := t.find(nak, true, func(p *roce.Packet) bool { return p.BTH.Opcode.IsRequest() })
	if nak < 0 || again < 0 {
		return Expiry{}, errors.New("the request was not sent again")
	}
	// 10 us are 10,000 / 4,096 units, and the timer is rounded up.
	n := uint64(roce.RNRDelay(code)) * uint64(unit) * 10_000
	return Expiry{Code: code, TimeUnit: unit, Least: (n + 4095) / 4096, Again: t.frames[again].first - t.frames[nak].last}, nil
}
