package rows

import (
	"fmt"

	"rnic/waves"
)

// lanes are rows that show what overlaps, one thing each; the last counts what is left.
type lanes struct {
	rows []*waves.Row
	used []bool
	over int     // shown by the last
	told []int64 // ps, when each was told something last
}

func (s *side) lanes(path string, n int) *lanes {
	l := &lanes{used: make([]bool, n-1)}
	for i := range n {
		l.rows, l.told = append(l.rows, s.row(fmt.Sprintf("%s_%d", path, i))), append(l.told, 0)
	}
	return l
}

// open shows a text in a free lane and gives its number.
func (l *lanes) open(now int64, text string) int {
	for i, used := range l.used {
		if !used {
			l.used[i] = true
			l.set(i, now, text)
			return i
		}
	}
	l.over++
	l.more(now)
	return len(l.used)
}

func (l *lanes) update(lane int, now int64, text string) {
	if lane < len(l.used) {
		l.set(lane, now, text)
	}
}

// set tells a row, of an instant before that of the last time of that one.
func (l *lanes) set(lane int, ps int64, text string) {
	l.told[lane] = max(l.told[lane], ps)
	l.rows[lane].Set(l.told[lane], text)
}

func (l *lanes) close(lane int, now int64) {
	if lane < len(l.used) {
		l.used[lane] = false
		l.set(lane, now, "")
		return
	}
	l.over--
	l.more(now)
}

func (l *lanes) more(now int64) {
	text := ""
	if l.over > 0 {
		text = fmt.Sprintf("%d more", l.over)
	}
	l.set(len(l.used), now, text)
}
