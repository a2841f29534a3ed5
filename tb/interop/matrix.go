package interop

// Matrix is all cases, in their order.
func Matrix() []Case {
	return transfers()
}
