package accept_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/accept"
)

// shows are the counters that differ from what a script may have led to.
func (s *script) shows(values map[abi.Counter]uint64) []error {
	before := len(s.Errors())
	_ = s.Counters(func(c abi.Counter) (uint64, error) { return values[c], nil })
	return s.Errors()[before:]
}

// TestMissingTimeout: a request that is not answered is sent again within 4 T, and a
// wait that an RNR NAK asks for is added to that.
func TestMissingTimeout(t *testing.T) {
	const tolerance = 2*inside + 2000
	demand(t, []rule{
		{"within 4 T", "", func(s *script) { s.three().at(4*ackTimer).gets(only, 7, 5) }, nil},
		{"beyond", "no answer and nothing sent again since", func(s *script) { s.three().at(4*ackTimer+tolerance).gets(only, 7, 5) }, nil},
		{"at the end", "no answer and nothing sent again since", func(s *script) { s.three().at(4*ackTimer + tolerance).settles() }, nil},
		{"no timer", "", func(s *script) { s.three().at(40*ackTimer).gets(only, 7, 5) }, func(c *accept.Connection) { c.Timeout = 0 }},
		{"answered", "", func(s *script) {
			s.three().gets(ackOp, 0, 0, ok(1)).completes(1, 0, abi.WCSend, 0).at(9*ackTimer).gets(only, 7, 5)
		}, nil},
		{"sent again meanwhile", "", func(s *script) {
			s.three().at(2*ackTimer).sends(first, 0xfffffe, 512).at(3*ackTimer).gets(only, 7, 5)
		}, nil},
		{"after an RNR NAK", "", func(s *script) {
			s.three().gets(ackOp, 0xfffffe, 0, rnr(0)).at(rnrWait+4*ackTimer).gets(only, 7, 5)
		}, nil},
		{"in ERR nothing is sent again", "", func(s *script) {
			s.three().Stop(s.now, qpn, false)
			s.at(9*ackTimer).gets(only, 7, 5)
		}, nil},
	})
}

// TestTimeoutsCounted: one for each time that something was sent again for want of an
// answer, and no more than there is time for.
func TestTimeoutsCounted(t *testing.T) {
	for n, want := range []string{"by what was seen 1 to 1", "", "by what was seen 1 to 1"} {
		s := newScript().three().at(ackTimer).sends(first, 0xfffffe, 512).gets(ackOp, 0, 0, ok(1)).completes(1, 0, abi.WCSend, 0).settles()
		require.Empty(t, s.Errors())
		c := s.Counts()
		errs := s.shows(map[abi.Counter]uint64{
			abi.TxPackets: c.TxPackets, abi.TxBytes: c.TxBytes, abi.RxPackets: c.RxPackets, abi.RxBytes: c.RxBytes,
			abi.LocalAckTimeoutErr: uint64(n),
		})
		if want == "" {
			require.Empty(t, errs)
			continue
		}
		require.Len(t, errs, 1)
		require.ErrorContains(t, errs[0], want)
	}
}

// TestDropsCounted: each packet that is dropped, under its counter.
func TestDropsCounted(t *testing.T) {
	s := newScript()
	s.gets(only, 9, 5).sends(ackOp, 7, 0, nak(roce.NAKSequence, 0))  // a gap
	s.gets(only, 10, 5)                                              // behind it: dropped
	s.gets(ackOp, 100, 0, ok(1))                                     // a ghost: dropped
	s.gets(only, 7, 5, func(p *roce.Packet) { p.BTH.DestQP = 77 })   // no such QP
	s.gets(only, 7, 5, func(p *roce.Packet) { p.BTH.PKey = 0x1234 }) // of another partition
	s.gets(roce.Opcode(0x64), 7, 5)                                  // of another transport
	s.Overflow(s.now, packet(2, 1, qpn, only, 7, 5, nil))            // no room
	require.Empty(t, s.Errors())
	c := s.Counts()
	right := map[abi.Counter]uint64{
		abi.TxPackets: c.TxPackets, abi.TxBytes: c.TxBytes, abi.RxPackets: 7, abi.RxBytes: c.RxBytes, abi.NaksSent: 1,
		abi.OutOfSequence: 2, abi.RxDropOther: 2, abi.RxDropBadQPN: 1, abi.RxDropBadPKey: 1, abi.RxDropBadTransport: 1, abi.RxDropOverflow: 1,
	}
	require.Empty(t, s.shows(right))
	for _, d := range []abi.Counter{abi.RxDropOther, abi.RxDropBadQPN, abi.RxDropBadPKey, abi.RxDropBadTransport, abi.RxDropOverflow} {
		right[d]++
		require.Len(t, s.shows(right), 1, d.String())
		right[d] -= 2
		if d != abi.RxDropBadQPN { // or dropped in a QP of another program
			require.Len(t, s.shows(right), 1, d.String())
		}
		right[d]++
	}
}

// TestEvents: a request that is refused raises an event where no receive can carry the
// error, and nothing else does.
func TestEvents(t *testing.T) {
	refused := func() *script {
		s := newScript()
		return s.gets(roce.RCWriteOnly, 7, 5, reth(base, 0x999, 5)).sends(ackOp, 7, 0, nak(roce.NAKRemoteAccess, 0))
	}
	event := func(typ abi.EventType, n uint32) accept.Event { return accept.Event{Type: typ, Number: n} }
	access := event(abi.EventQPAccessErr, qpn)
	for _, c := range []struct {
		s    *script
		got  []accept.Event
		want string
	}{
		{refused(), []accept.Event{access}, ""},
		{refused(), nil, "0 events QP_ACCESS_ERR, by what was seen 1 to 1"},
		{refused(), []accept.Event{access, access}, "2 events QP_ACCESS_ERR"},
		{refused(), []accept.Event{access, event(abi.EventQPReqErr, qpn)}, "1 events QP_REQ_ERR, by what was seen 0 to 0"},
		{newScript(), []accept.Event{event(abi.EventQPFatal, qpn)}, "1 events QP_FATAL"},
		{newScript(), []accept.Event{event(abi.EventCommEst, qpn)}, "1 events COMM_EST"},
		{newScript(), nil, ""},
	} {
		require.Empty(t, c.s.Errors())
		c.s.Events(c.got)
		if c.want == "" {
			require.Empty(t, c.s.Errors())
			continue
		}
		require.Len(t, c.s.Errors(), 1)
		require.ErrorContains(t, c.s.Errors()[0], c.want)
	}
}

// TestSpent: a NAK for which no retry is left ends the connection, also when its PSN is
// acknowledged right behind it.
func TestSpent(t *testing.T) {
	none := func(c *accept.Connection) { c.RetryCnt = 0 }
	late := func(s *script) *script {
		return s.three().gets(ackOp, 0xffffff, 0, nak(roce.NAKSequence, 0)).gets(ackOp, 0, 0, ok(1))
	}
	demand(t, []rule{
		{"none left", "", func(s *script) { late(s).completes(1, abi.StatusRetryExc, abi.WCSend, 0) }, none},
		{"some left", "for which there is no reason", func(s *script) { late(s).completes(1, abi.StatusRetryExc, abi.WCSend, 0) }, nil},
		{"of another work request", "for which there is no reason", func(s *script) {
			late(s).completes(1, 0, abi.WCSend, 0).at(2*inside).post(2, abi.OpSend, 5).sends(only, 1, 5).completes(2, abi.StatusRetryExc, abi.WCSend, 0)
		}, none},
	})
}
