package accept

import (
	"slices"
	"sort"
)

// shared is a shared receive queue. QPs take its work requests in the order of posting,
// each when a message comes: so the one whose message came first has the older one. Which
// one it is, a completion tells.
type shared struct {
	a      *Acceptor
	n      uint32
	pd     int
	posts  []receive
	index  map[uint64]int // of what has not completed, by ID
	taken  []taking       // what has completed, by order
	past   span           // taken by QPs that are no more, or were reset
	limit  int            // 0: none is set
	may    bool           // since it was set fewer may have been left
	events span           // that earlier limits have led to
}

// taking is a work request that a message took.
type taking struct{ order, index int }

// SRQ tells of a shared receive queue that was made.
func (a *Acceptor) SRQ(srqn uint32, pd int) {
	a.srqs[srqn] = &shared{a: a, n: srqn, pd: pd, index: map[uint64]int{}}
}

// PostShared tells of a receive, before the NIC can know of it. IDs of a queue are unique.
func (a *Acceptor) PostShared(now uint64, srqn uint32, w RecvWR) {
	sh := a.srqs[srqn]
	sh.index[w.ID] = len(sh.posts)
	sh.posts = append(sh.posts, receive{RecvWR: w, posted: now})
}

// RungShared tells that the NIC has been told of all of them.
func (a *Acceptor) RungShared(now uint64, srqn uint32) {
	l := a.srqs[srqn].posts
	for i := len(l) - 1; i >= 0 && l[i].rung == 0; i-- {
		l[i].rung = max(now, 1)
	}
}

// Limit tells that a limit is about to be set.
func (a *Acceptor) Limit(srqn uint32, limit int) {
	sh := a.srqs[srqn]
	if sh.limit != 0 && sh.may {
		sh.events.hi++
	}
	sh.limit, sh.may = limit, limit > 0 // it may have been below at once
}

// use is how many work requests are taken, at least and at most, but for those of a QP.
func (sh *shared) use(but *qp) span {
	n := sh.past
	for _, q := range sh.a.qps {
		if q.shared == sh && q != but {
			n.add(q.takes())
		}
	}
	return n
}

// takes is how many receives the responder has taken, at least and at most.
func (q *qp) takes() span {
	r := &q.responds
	if q.hazy || q.broken { // what came meanwhile has completed, or not
		return span{uint64(r.done), 1 << 40}
	}
	if len(r.states) == 0 {
		return span{}
	}
	n := span{uint64(r.states[0].taken), 0}
	for _, s := range r.states {
		n.lo, n.hi = min(n.lo, uint64(s.taken)), max(n.hi, uint64(s.taken))
	}
	return n
}

// lasts tells whether there is a work request for one more message of a state for
// certain, and whether there can't be.
func (sh *shared) lasts(now uint64, q *qp, s *state) (sure, never bool) {
	n := sh.use(q)
	i := int(n.hi) + s.taken
	if q.failed != 0 {
		return false, false
	}
	return i < len(sh.posts) && sh.a.there(now, &sh.posts[i]), int(n.lo)+s.taken > len(sh.posts)
}

// sizes are the bytes of the smallest and of the largest work request that may be taken
// now, those still to be posted left out.
func (sh *shared) sizes() (least, most int) {
	least = 1 << 62
	for _, i := range sh.index {
		n := 0
		for _, e := range sh.posts[i].SGEs {
			n += int(e.Length)
		}
		least, most = min(least, n), max(most, n)
	}
	return least, most
}

// claim gives a completion of a QP the work request that it names; nil: it is none.
func (sh *shared) claim(id uint64) *receive {
	i, ok := sh.index[id]
	if !ok {
		return nil
	}
	delete(sh.index, id)
	return &sh.posts[i]
}

// inOrder leaves those states whose last message may have taken the work request that it
// completed. Which one that is, is noted if they agree.
func (q *qp) inOrder(l []*state, id uint64) []*state {
	sh := q.shared
	if sh == nil || len(l) == 0 {
		return l
	}
	i := slices.IndexFunc(sh.posts, func(r receive) bool { return r.ID == id })
	place := func(s *state) int {
		return sort.Search(len(sh.taken), func(k int) bool { return sh.taken[k].order >= s.last })
	}
	l = slices.DeleteFunc(l, func(s *state) bool {
		k := place(s)
		return k > 0 && sh.taken[k-1].index > i || k < len(sh.taken) && sh.taken[k].index < i
	})
	if len(l) > 0 && !slices.ContainsFunc(l, func(s *state) bool { return s.last != l[0].last }) {
		sh.taken = slices.Insert(sh.taken, place(l[0]), taking{l[0].last, i})
	}
	return l
}

// leave notes what a QP has taken that is no more.
func (q *qp) leave() {
	if q.shared != nil {
		q.shared.past.add(q.takes())
	}
}

// watch notes whether fewer work requests may be left than the limit.
func (sh *shared) watch() {
	if sh.limit != 0 {
		sh.may = sh.may || len(sh.posts)-int(sh.use(nil).hi) < sh.limit
	}
}

// told is how many events of the limit there must have been.
func (sh *shared) told() span {
	sh.watch()
	n := sh.events
	if sh.limit != 0 && sh.may {
		n.hi++
	}
	if sh.limit != 0 && len(sh.posts)-int(sh.use(nil).lo) < sh.limit {
		n.lo++
	}
	return n
}
