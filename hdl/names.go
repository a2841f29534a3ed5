package hdl

import "strings"

// snake turns a Go field name into a hierarchy name: QPN into qpn, WQESched into
// wqe_sched, RxBuf into rx_buf, QPs into qps.
func snake(s string) string {
	upper := func(i int) bool { return i < len(s) && 'A' <= s[i] && s[i] <= 'Z' }
	lower := func(i int) bool { return i < len(s) && 'a' <= s[i] && s[i] <= 'z' }
	plural := func(i int) bool { return s[i] == 's' && (i+1 == len(s) || upper(i+1)) }
	var b strings.Builder
	for i := range len(s) {
		if upper(i) && i > 0 && s[i-1] != '_' && (!upper(i-1) || lower(i+1) && !plural(i+1)) {
			b.WriteByte('_')
		}
		c := s[i]
		if upper(i) {
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}
