package interop

import "slices"

// Matrix is all cases, in their order.
func Matrix() []Case {
	return slices.Concat(transfers(), ipv6(), atomics(), invalidates(), windows(), wraps(), bursts(), reuses(), wrongs(), unready(), losses(),
		ucCases(), datagramCases(), sharedCases(), pings(), tools())
}
