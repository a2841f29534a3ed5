package qpc

import (
	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// depth is the number of READs and atomics that a QP may have outstanding.
const depth = 16

// Read is a READ or atomic that waits for its answer.
type Read struct {
	Atomic  bool
	UnitIdx uint16   // of the WQE
	First   roce.PSN // of its responses
	Last    roce.PSN
	Len     uint32
}

// Reads is the list of READs and atomics of a QP: a ring, entered in the order in
// which they are sent. The requester bank says which of them wait.
type Reads [depth]Read

// post enters a READ or atomic whose request is about to be described. Its PSNs
// become legal to acknowledge besides those granted.
func (c *Context) post(p *port.ReadPost) Bank {
	r := &c.Requester
	if !c.sends() || r.Posted-r.Retired == depth {
		return 0
	}
	c.Reads[r.Posted%depth] = Read{
		Atomic:  p.Op != abi.OpRead,
		UnitIdx: p.UnitIdx,
		First:   p.FirstPSN,
		Last:    p.LastPSN,
		Len:     p.Len,
	}
	if r.Posted == r.Retired {
		r.Oldest = p.FirstPSN
	}
	r.Posted++
	if c.SQ.Busy {
		c.SQ.Granted += p.LastPSN.Diff(p.FirstPSN) + 1
	}
	return InSQ | InRequester | InReads
}

// mayRead is the number of READs and atomics that may still be started, and
// whether a fenced WQE has to wait: until all before it are over.
func (c *Context) mayRead() (more uint8, fence bool) {
	r := &c.Requester
	waiting, kept := r.Posted-r.Answered, r.Posted-r.Retired
	if c.Common.MaxRd > waiting {
		more = min(c.Common.MaxRd-waiting, depth-kept)
	}
	return more, kept != 0
}

// head is the oldest READ or atomic whose answer is not complete, if there is
// one, and the PSN of the response that must come next.
func (c *Context) head() (h *Read, next roce.PSN, ok bool) {
	r := &c.Requester
	h = &c.Reads[r.Answered%depth]
	next = h.First
	if r.Una.Within(h.First, h.Last.Diff(h.First)+1) {
		next = r.Una
	}
	return h, next, r.Posted != r.Answered
}

// retireReads takes READs and atomics for over that lie before una, the oldest PSN
// that is not acknowledged as retrans knows.
func (c *Context) retireReads(una roce.PSN) {
	r := &c.Requester
	for r.Retired != r.Answered && c.Reads[r.Retired%depth].Last.Before(una) {
		r.Retired++
	}
	if r.Retired != r.Posted {
		r.Oldest = c.Reads[r.Retired%depth].First
	}
}

// posted is the PSN before which all that is acknowledged is also in memory: Una,
// or the beginning of a READ that is not over.
func (c *Context) posted() roce.PSN {
	r := &c.Requester
	if r.Posted != r.Retired && r.Oldest.Before(r.Una) {
		return r.Oldest
	}
	return r.Una
}
