package replay

import (
	"fmt"

	"rnic/abi"
	"rnic/roce"
)

// unanswered is the oldest PSN that no answer which arrived acknowledges.
func (c *Conversation) unanswered() roce.PSN {
	una := c.First
	for i := range c.Events {
		e := &c.Events[i]
		if !e.Answer || e.Lost != "" {
			continue
		}
		acked := e.BTH.PSN
		if !isNAK(&e.Packet) {
			acked = acked.Add(1)
		}
		if acked.After(una) {
			una = acked
		}
	}
	return una
}

// endings checks how the work requests ended: those that the answers which arrived
// acknowledge with success, one that is refused with the status of the NAK.
func (c *Conversation) endings(r *requester) (wrong []string) {
	if c.Transport != roce.RC {
		return sentAll(r)
	}
	una, refused, fatal := c.unanswered(), roce.PSN(0), roce.NAKCode(0)
	dead := false
	for i := range c.Events {
		e := &c.Events[i]
		if code, ok := fatalNAK(&e.Packet); ok && !dead && e.Answer && e.Lost == "" {
			dead, refused, fatal = true, e.BTH.PSN, code
		}
	}
	status := map[uint64]abi.WCStatus{}
	for i := range r.done {
		status[r.done[i].ID] = r.done[i].Status
	}
	for i := range r.jobs {
		j := &r.jobs[i]
		var want abi.WCStatus
		switch {
		case dead && refused.Within(j.first, j.psns):
			want = refusals[fatal]
		case dead && j.first.After(refused):
			want = abi.StatusWRFlush
		case una.Before(j.first.Add(j.psns)):
			return wrong // not acknowledged: by timers alone
		case len(j.data) == 0 && j.length > 0 && c.brought(j) == nil:
			return wrong
		}
		if got, ok := status[j.wr.ID]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s of PSN %06x has not ended; it should with %s", j.wr.Op, uint32(j.first), want))
		} else if got != want {
			wrong = append(wrong, fmt.Sprintf("%s of PSN %06x ended with %s, not %s", j.wr.Op, uint32(j.first), got, want))
		}
	}
	return wrong
}

// sentAll checks that every work request of UC or UD ended well: when its last packet
// had left.
func sentAll(r *requester) (wrong []string) {
	good := 0
	for i := range r.done {
		if s := r.done[i].Status; s != abi.StatusSuccess {
			wrong = append(wrong, fmt.Sprintf("%s ended with %s", r.jobs[r.done[i].ID].wr.Op, s))
		} else {
			good++
		}
	}
	if n := len(r.jobs) - good; n > 0 && len(wrong) == 0 {
		wrong = append(wrong, fmt.Sprintf("%d work requests have not ended", n))
	}
	return wrong
}

// refusals are the statuses of fatal NAKs.
var refusals = map[roce.NAKCode]abi.WCStatus{
	roce.NAKInvalidRequest: abi.StatusRemInvReq, roce.NAKRemoteAccess: abi.StatusRemAccess, roce.NAKRemoteOperation: abi.StatusRemOp,
}
