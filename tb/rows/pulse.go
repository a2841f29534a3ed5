package rows

import (
	"math"

	"rnic/waves"
)

// pulses are the rows that show something which has no duration.
type pulses struct {
	next int64 // ps: the first end; 0: there is none
	open []pulse
}

type pulse struct {
	row *waves.Row
	end int64
}

// show has a row show a text from now on, for some time in ps, or until another.
func (p *pulses) show(row *waves.Row, now, ps int64, text string) {
	row.Set(now, text)
	p.drop(row)
	p.open = append(p.open, pulse{row, now + ps})
	p.again()
}

// drop forgets the end of what a row shows.
func (p *pulses) drop(row *waves.Row) {
	for i := range p.open {
		if p.open[i].row == row {
			p.open = append(p.open[:i], p.open[i+1:]...)
			p.again()
			return
		}
	}
}

func (p *pulses) again() {
	p.next = 0
	for _, x := range p.open {
		if p.next == 0 || x.end < p.next {
			p.next = x.end
		}
	}
}

// end ends those whose time has come.
func (p *pulses) end(now int64) {
	if p.next == 0 || now < p.next {
		return
	}
	left := p.open[:0]
	p.next = math.MaxInt64
	for _, x := range p.open {
		if x.end > now {
			left = append(left, x)
			p.next = min(p.next, x.end)
			continue
		}
		x.row.Set(x.end, "")
	}
	if p.open = left; len(left) == 0 {
		p.next = 0
	}
}
