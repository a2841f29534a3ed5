package accept

import "rnic/roce"

// seq is a PSN counted in 64 bits: its low 24 are the PSN. Those of a connection
// begin in the second round, so that none is negative.
type seq int64

const round = 1 << 24

// begin is the first of a connection.
func begin(p roce.PSN) seq { return round + seq(p) }

// unwrap is the seq of a PSN that is nearest to ref: up to 2^23 before it, or fewer
// than 2^23 after it (roce.md, "PSN arithmetic").
func unwrap(p roce.PSN, ref seq) seq {
	d := (int64(p) - int64(ref)) & (round - 1)
	if d >= round/2 {
		d -= round
	}
	return ref + seq(d)
}

// psn is the PSN of s.
func (s seq) psn() uint32 { return uint32(s) & (round - 1) }

// window is how many PSNs may be outstanding.
const window = round / 2

// credits is the number of receive WQEs of a credit code; 31 gives none. The table
// grows by halves: 2, 3, 4, 6, 8, 12, ...
func credits(code uint8) (n int, given bool) {
	switch {
	case code >= 31:
		return 0, false
	case code < 2:
		return int(code), true
	}
	return (2 + int(code)&1) << (code/2 - 1), true
}

// rnrUnits is the wait of an RNR timer code in units of 10 us: 1, 2, 3, 4, 6, 8, 12,
// ..., and 65,536 for code 0.
func rnrUnits(code uint8) uint64 {
	switch code {
	case 0:
		return 65536
	case 1:
		return 1
	}
	return (2 + uint64(code)&1) << (code/2 - 1)
}
