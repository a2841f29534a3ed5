package read

// chars takes numbers off bytes. When these are too few it gives 0 and tells.
type chars struct {
	b     []byte
	at    int
	short bool
}

func (c *chars) byte() byte {
	if c.at >= len(c.b) {
		c.short = true
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

// number is unsigned LEB128 of at most 64 bits.
func (c *chars) number() (v uint64) {
	for shift := 0; shift < 64; shift += 7 {
		b := c.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	c.short = true
	return 0
}

// signed is signed LEB128 of at most 64 bits.
func (c *chars) signed() (v int64) {
	for shift := 0; shift < 64; {
		b := c.byte()
		v |= int64(b&0x7f) << shift
		shift += 7
		if b < 0x80 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
	c.short = true
	return 0
}

// text is to a byte of 0.
func (c *chars) text() string {
	from := c.at
	for c.at < len(c.b) {
		if c.b[c.at] == 0 {
			c.at++
			return string(c.b[from : c.at-1])
		}
		c.at++
	}
	c.short = true
	return ""
}
