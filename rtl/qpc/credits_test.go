package qpc

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

func TestGrant(t *testing.T) {
	for _, c := range []struct {
		name      string
		limit     port.MSN // before
		s         roce.Syndrome
		msn       port.MSN
		news      bool
		after     port.MSN
		unlimited bool
	}{
		{"none at all", 0, roce.ACKSyndrome(0), 0, false, 0, false},
		{"one", 0, roce.ACKSyndrome(1), 0, true, 1, false},
		{"code 5 is 6", 0, roce.ACKSyndrome(5), 10, true, 16, false},
		{"the same", 16, roce.ACKSyndrome(5), 10, false, 16, false},
		{"less: rounded down", 32, roce.ACKSyndrome(9), 1, false, 32, false}, // 32, then 31: 24
		{"old", 32, roce.ACKSyndrome(4), 7, false, 32, false},
		{"most", 5, roce.ACKSyndrome(30), 5, true, 32773, false},
		{"over the end", 0xfffffe, roce.ACKSyndrome(3), 0xffffff, true, 2, false},
		{"no limit", 7, roce.ACKSyndrome(roce.NoCredits), 7, true, 7, true},
	} {
		x := inState(abi.QPRTS)
		x.Requester.Limit = c.limit
		require.Equal(t, c.news, x.grant(c.s, c.msn), c.name)
		require.Equal(t, c.after, x.Requester.Limit, c.name)
		require.Equal(t, c.unlimited, x.Requester.Unlimited, c.name)
		require.False(t, x.grant(c.s, c.msn), "%s, again", c.name)
	}
}

func TestCreditsOfAService(t *testing.T) {
	open := func(x *Context) uint16 {
		x.SQ.PI = x.SQ.Exec + 10
		return x.get(&port.SQGet{Packets: 16}, &env).Credits
	}
	x := inState(abi.QPRTS)
	require.Equal(t, uint16(1), open(x), "a probe before the first acknowledgement")
	x.put(&port.SQPut{NextPSN: una.Add(1), Requests: 1, Credited: 1})
	require.Equal(t, uint16(0), open(x))
	x.put(&port.SQPut{NextPSN: una.Add(4), Requests: 3})
	require.Equal(t, uint16(0), open(x), "requests that take no receive WQE change nothing")
	x.judge(func() port.RxPkt { p := ackOf(una.Add(3), roce.ACKSyndrome(2)); p.MSN = 4; return p }())
	x.put(&port.SQPut{NextPSN: una.Add(4)})
	require.Equal(t, uint16(3), open(x))
	// Those that are sent after the service was opened come on top, those before not.
	x.judge(func() port.RxPkt { p := ackOf(una.Add(4), roce.ACKSyndrome(2)); p.MSN = 5; return p }())
	x.put(&port.SQPut{NextPSN: una.Add(9), Requests: 5, Credited: 1}) // 5..9
	require.Equal(t, port.MSN(9), x.SQ.Requests)
	require.Equal(t, port.MSN(6+4), x.SQ.Limit)
	require.Equal(t, uint16(2), open(x))
	x.Requester.Unlimited = true
	x.put(&port.SQPut{NextPSN: una.Add(9)})
	require.Equal(t, uint16(0xffff), open(x))
	require.Equal(t, uint16(0xffff), open(x), "for good")
}

func TestCreditsWrapAndSaturate(t *testing.T) {
	x := inState(abi.QPRTS)
	for _, c := range []struct {
		requests, limit port.MSN
		want            uint16
	}{
		{0xffffff, 0, 2}, {0, 0xffffff, 0}, {5, 4, 0}, {5, 3, 0}, {0, 0xfffd, 0xfffe}, {0, 0x10000, 0xfffe}, {0, 0xfffe, 0xfffe},
	} {
		x.SQ.Requests, x.SQ.Limit, x.Requester.Limit = c.requests, c.limit, c.limit
		require.Equal(t, c.want, x.credits(&env), "%+v", c)
		require.Equal(t, uint16(unlimited), x.credits(&Env{NoCredits: true}))
	}
}

// An acknowledgement of what is acknowledged brings credits, and nothing else.
func TestUnsolicitedAcknowledgement(t *testing.T) {
	credits := func(psn roce.PSN, code uint8) port.RxPkt { return ackOf(psn, roce.ACKSyndrome(code)) }
	for _, c := range []struct {
		name string
		p    port.RxPkt
		news bool
	}{
		{"credits", credits(una-1, 3), true},
		{"the limit is lifted", credits(una-1, 31), true},
		{"none", credits(una-1, 0), false},
		{"older", credits(una-2, 3), false},
		{"not sent yet", credits(una.Add(20), 3), false},
		{"NAK", ackOf(una-1, 0x60), false},
		{"RNR NAK", ackOf(una-1, 0x23), false},
		{"READ response", answerOf(roce.RCReadRespOnly, una-1, 0), false},
	} {
		x := inFlight(20)
		x.SQ.PI = 9
		want := x.Requester
		v, w := x.judge(c.p)
		require.Equal(t, c.news, x.Requester != want, c.name)
		require.Equal(t, c.news, w != 0, c.name)
		require.Equal(t, c.news, x.opens(&v), "%s: the send queue may go on", c.name)
		require.Equal(t, una, x.Requester.Una)
		if c.news {
			require.Equal(t, port.RxAck, v.Action)
			require.Zero(t, v.Drop)
			require.Equal(t, port.AckEvent{QPN: 1, Una: una, Arm: 17 << 20}, v.Event)
		} else {
			require.Equal(t, abi.RxDropOther, v.Drop, c.name)
		}
	}
}

func TestCreditsOfResponses(t *testing.T) {
	x := reading(1024, -1)
	x.Requester.Unlimited = false
	p := answerOf(roce.RCReadRespOnly, una, 1024)
	p.Syndrome, p.MSN = 4, 1
	x.judge(p)
	require.Equal(t, port.MSN(5), x.Requester.Limit)
	p = answerOf(roce.RCAtomicAck, una.Add(1), 0)
	p.Syndrome, p.MSN = 4, 2
	x.judge(p)
	require.Equal(t, port.MSN(6), x.Requester.Limit)
}

// Syndromes of the responder: the receive WQEs left.
func TestCreditsGiven(t *testing.T) {
	x := ready(abi.QPRTS, 0)
	for n, code := range map[uint16]uint8{0: 0, 1: 1, 4: 4, 5: 4, 6: 5, 31: 9, 32: 10, 32768: 30} {
		x.Responder.PI = x.Responder.CI + n
		require.Equal(t, code, x.ack(&env), "%d", n)
		require.Equal(t, uint8(31), x.ack(&Env{NoCredits: true}))
	}
}

// exchange is a requester and its peer, with requests and acknowledgements on
// their way.
type exchange struct {
	x, y    *Context
	open    bool // a service is
	left    uint16
	put     port.SQPut
	next    roce.PSN
	exec    uint16
	wire    []port.RxPkt
	covered []bool // of the requests on their way, those that must find a receive WQE
	acks    []port.RxPkt
}

// service opens or closes a service.
func (e *exchange) service() {
	if e.open {
		e.put.NextPSN, e.put.EnteredPSN, e.put.ExecIdx, e.put.Entered = e.next, e.next, e.exec, e.exec
		e.x.put(&e.put)
	} else {
		e.x.SQ.PI = e.exec + 60
		e.left = e.x.get(&port.SQGet{Packets: 250}, &env).Credits
		e.put = port.SQPut{}
	}
	e.open = !e.open
}

// send sends a request, if credits allow it. The last one that they allow is a probe.
func (e *exchange) send(op roce.Opcode) {
	takes := op.TakesReceive()
	if !e.open || e.put.Requests == 60 || takes && e.left == 0 {
		return
	}
	p := from2(op, e.next)
	p.AckReq = true
	e.wire, e.covered = append(e.wire, p), append(e.covered, takes && e.left > 1)
	if takes {
		e.left--
		e.put.Credited++
	}
	e.put.Requests++
	e.next, e.exec = e.next.Add(1), e.exec+1
}

// arrive delivers a request. A probe that finds nothing comes again when it would.
func (e *exchange) arrive(t require.TestingT) {
	if len(e.wire) == 0 {
		return
	}
	p, covered, r := e.wire[0], e.covered[0], &e.y.Responder
	e.wire, e.covered = e.wire[1:], e.covered[1:]
	if p.Opcode.TakesReceive() && r.PI == r.CI {
		require.False(t, covered, "a request within the limit meets an empty receive queue")
		r.PI++
	}
	v, _ := e.y.judge(p)
	require.Equal(t, port.RxPlace, v.Action)
	a := ackOf(v.Ack.PSN, roce.Syndrome(v.Ack.Syndrome))
	a.MSN = v.Ack.MSN
	e.acks = append(e.acks, a)
}

// learn delivers an acknowledgement, of several perhaps the newest alone.
func (e *exchange) learn(n int) {
	if n = min(n, len(e.acks)); n > 0 {
		e.x.judge(e.acks[n-1])
		e.acks = e.acks[n:]
	}
}

// A requester that obeys the limit meets an empty receive queue only with its
// probe, and always comes on.
func TestCreditsKeepTheReceiveQueue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := exchange{x: inState(abi.QPRTS), y: inState(abi.QPRTS), next: una}
		e.y.Responder.Expected, e.y.Common.RQLog = una, 15
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "step") {
			case 0:
				e.service()
			case 1, 2:
				e.send(roce.RCSendOnly)
			case 3:
				e.send(roce.RCWriteOnly)
			case 4, 5:
				e.arrive(t)
			case 6:
				e.learn(rapid.IntRange(1, 3).Draw(t, "acknowledgements"))
			case 7:
				e.y.Responder.PI += uint16(rapid.IntRange(0, 3).Draw(t, "posted"))
			}
		}
		for len(e.wire) > 0 {
			e.arrive(t)
		}
		e.learn(len(e.acks))
		if e.open {
			e.service()
		}
		e.service()
		require.Positive(t, e.left, "one more may always be tried")
		r := &e.y.Responder
		require.LessOrEqual(t, int(e.left)-1, int(r.PI-r.CI), "no more than are posted, and the probe")
	})
}
