package text

import "strconv"

func decimal(n uint64) string { return strconv.FormatUint(n, 10) }
