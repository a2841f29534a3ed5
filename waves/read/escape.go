package read

import "strconv"

// letters are the escapes of one letter.
var letters = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v', '\\': '\\', '"': '"', '\'': '\'', '?': '?'}

// unescape appends a text with its escapes undone: \ooo, \xhh, and those of one letter.
// What is no escape stays as it is.
func unescape(dst, s []byte) []byte {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			dst = append(dst, s[i])
			continue
		}
		c := s[i+1]
		if base := map[bool]int{true: 8, false: 16}[c >= '0' && c <= '7']; base == 8 || c == 'x' {
			first, most := i+1, 3
			if base == 16 {
				first, most = i+2, 2
			}
			end := first
			for end < len(s) && end < first+most {
				if _, err := strconv.ParseUint(string(s[end]), base, 8); err != nil {
					break
				}
				end++
			}
			if n, err := strconv.ParseUint(string(s[first:end]), base, 8); err == nil {
				dst = append(dst, byte(n))
				i = end - 1
				continue
			}
		}
		if l, ok := letters[c]; ok {
			dst = append(dst, l)
			i++
			continue
		}
		dst = append(dst, '\\')
	}
	return dst
}
