package driver

// slotList is the slots of a shared receive queue. Those that are free are a list, in
// the order in which they came back: the next work request goes to the head and names
// the slot behind it, which is then the head. So the tail is never used.
type slotList struct {
	slots      []slot
	head, tail uint16
}

// slot is free, and then names the next one that is (the tail: any), or has a work
// request.
type slot struct {
	id     uint64
	next   uint16
	posted bool
}

// grow makes the list one of n slots; the new ones are free.
func (l *slotList) grow(n int) {
	first := len(l.slots)
	l.slots = append(make([]slot, 0, n), l.slots...)[:n]
	for i := first; i < n; i++ {
		l.slots[i].next = uint16(i + 1)
	}
	if first > 0 {
		l.slots[l.tail].next = uint16(first)
	}
	l.tail = uint16(n - 1)
}

// full tells whether there is no room for another work request.
func (l *slotList) full() bool { return l.head == l.tail }

// next is the slot of the next work request, and of the one behind it. The list must
// not be full.
func (l *slotList) next() (at, behind uint16) { return l.head, l.slots[l.head].next }

// post enters a work request in the next slot.
func (l *slotList) post(id uint64) {
	s := &l.slots[l.head]
	l.head = s.next
	s.id, s.posted = id, true
}

// free ends the work request of a slot; ok is false if there is none.
func (l *slotList) free(at uint16) (id uint64, ok bool) {
	if int(at) >= len(l.slots) || !l.slots[at].posted {
		return 0, false
	}
	s := &l.slots[at]
	s.posted = false
	l.slots[l.tail].next = at
	l.tail = at
	return s.id, true
}
