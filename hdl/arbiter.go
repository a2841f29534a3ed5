package hdl

import "math/bits"

// RoundRobin picks one of the set bits of requests: the first after last, going
// round. It returns -1 if none is set. last is the previous winner, or -1.
func RoundRobin(requests uint64, last int) int {
	if requests == 0 {
		return -1
	}
	if later := requests &^ (1<<(uint(last+1)&63) - 1); last < 63 && later != 0 {
		return bits.TrailingZeros64(later)
	}
	return bits.TrailingZeros64(requests)
}
