package driver

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A set of slots and a queue of the free ones is the model.
func TestSlotListAgainstAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l slotList
		size := 1 << rapid.IntRange(1, 4).Draw(t, "log")
		l.grow(size)
		posted := map[uint16]uint64{}
		promised := uint16(0) // the slot that the work request before has named
		for id := range uint64(80) {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0:
				if size < 64 {
					size *= 2
					l.grow(size)
				}
			case 1, 2:
				slot := rapid.Uint16Range(0, uint16(size+2)).Draw(t, "slot")
				got, ok := l.free(slot)
				want, there := posted[slot]
				require.Equal(t, there, ok)
				require.Equal(t, want, got)
				delete(posted, slot)
			default:
				require.Equal(t, len(posted) == size-1, l.full())
				if l.full() {
					continue
				}
				at, behind := l.next()
				require.Equal(t, promised, at)
				require.NotContains(t, posted, at)
				require.NotContains(t, posted, behind)
				require.NotEqual(t, at, behind)
				require.Less(t, int(behind), size)
				l.post(id)
				posted[at], promised = id, behind
			}
		}
	})
}
