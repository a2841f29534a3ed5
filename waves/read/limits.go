package read

// Limits of what a file may ask for; see the package documentation.
const (
	maxVars      = 1 << 24
	maxScopes    = 1 << 24
	maxDepth     = 1 << 10
	maxName      = 1<<16 - 1
	maxWidth     = 1 << 20 // bits
	maxBits      = 1 << 26 // of all values
	maxWord      = 1 << 24 // bytes
	maxHierarchy = 1 << 29
	maxSection   = 1 << 30
	maxNotes     = 20
)
