package driver

import "slices"

// numbers hands out object numbers in turn, so that one is used again as late as
// possible.
type numbers struct {
	first uint32
	used  []bool // from first on
	next  int
	count int

	resting []uint32 // given up, and still used: see takeUnnamed
}

func newNumbers(first, limit uint32) numbers {
	n := max(limit, first) - first
	return numbers{first: first, used: make([]bool, n)}
}

func (n *numbers) take() (uint32, error) {
	if n.count == len(n.used) {
		return 0, ErrNoMemory
	}
	for n.used[n.next] {
		n.next = (n.next + 1) % len(n.used)
	}
	i := n.next
	n.used[i] = true
	n.count++
	n.next = (i + 1) % len(n.used)
	return n.first + uint32(i), nil
}

func (n *numbers) give(v uint32) {
	n.used[v-n.first] = false
	n.count--
}

// rest gives a number up that must not be handed out before wake.
func (n *numbers) rest(v uint32) { n.resting = append(n.resting, v) }

// wake gives the numbers back that rest, but for those that are named.
func (n *numbers) wake(named map[uint32]bool) {
	n.resting = slices.DeleteFunc(n.resting, func(v uint32) bool {
		if named[v] {
			return false
		}
		n.give(v)
		return true
	})
}

// extent is a run of page entries.
type extent struct{ first, n uint32 }

// extents are the free page entries of the device, by position, neighbours joined.
type extents []extent

// take finds the first run of n entries.
func (e *extents) take(n uint32) (uint32, error) {
	for i, x := range *e {
		if x.n < n {
			continue
		}
		if x.n == n {
			*e = slices.Delete(*e, i, i+1)
		} else {
			(*e)[i] = extent{x.first + n, x.n - n}
		}
		return x.first, nil
	}
	return 0, ErrNoMemory
}

func (e *extents) give(first, n uint32) {
	if n == 0 {
		return
	}
	i, _ := slices.BinarySearchFunc(*e, first, func(x extent, f uint32) int { return int(int64(x.first) - int64(f)) })
	x := extent{first, n}
	if i < len(*e) && first+n == (*e)[i].first {
		x.n += (*e)[i].n
		*e = slices.Delete(*e, i, i+1)
	}
	if i > 0 && (*e)[i-1].first+(*e)[i-1].n == first {
		(*e)[i-1].n += x.n
		return
	}
	*e = slices.Insert(*e, i, x)
}
