package read

// codes finds the ID of a code. Most tools number codes through, as digits 1 to 94 with
// the least first: these are in a table.
type codes struct {
	table []int32 // ID + 1 by number
	rest  map[string]int32
}

const tableSize = 1 << 22

// number is the place in the table; -1 if it has none.
func number(code []byte) int {
	if len(code) > 4 {
		return -1
	}
	n := 0
	for i := len(code) - 1; i >= 0; i-- {
		if code[i] < '!' || code[i] > '~' {
			return -1
		}
		n = n*94 + int(code[i]-'!') + 1
	}
	if n >= tableSize {
		return -1
	}
	return n
}

func (c *codes) find(code []byte) (int32, bool) {
	if n := number(code); n >= 0 {
		if n < len(c.table) {
			id := c.table[n] - 1
			return id, id >= 0
		}
		return 0, false
	}
	id, ok := c.rest[string(code)]
	return id, ok
}

func (c *codes) add(code []byte, id int32) {
	n := number(code)
	if n < 0 {
		if c.rest == nil {
			c.rest = map[string]int32{}
		}
		c.rest[string(code)] = id
		return
	}
	if n >= len(c.table) {
		c.table = append(c.table, make([]int32, n+1-len(c.table))...)
	}
	c.table[n] = id + 1
}
