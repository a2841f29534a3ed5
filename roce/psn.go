package roce

// PSN is a packet sequence number: 24 bits, modulo 2^24 (IBA chapter 9, "packet
// sequence numbers"). Bits above 23 of an operand are ignored.
type PSN uint32

const psnMask = 1<<24 - 1

// MaxOutstanding is the most PSNs that may be in flight, 2^23.
const MaxOutstanding = 1 << 23

// Width is 24 bits.
func (PSN) Width() int { return 24 }

// Add returns p+n modulo 2^24.
func (p PSN) Add(n uint32) PSN { return (p + PSN(n)) & psnMask }

// Sub returns p-n modulo 2^24.
func (p PSN) Sub(n uint32) PSN { return (p - PSN(n)) & psnMask }

// Diff returns the way from o forward to p, (p-o) mod 2^24.
func (p PSN) Diff(o PSN) uint32 { return uint32(p-o) & psnMask }

// Cmp returns 0 if p is o, 1 if p is after o (p-o mod 2^24 in 1..2^23-1), and -1
// if it is before (the other 2^23 values). Of an arriving PSN compared with the
// expected one, -1 is a duplicate, 0 is new, 1 is a gap.
func (p PSN) Cmp(o PSN) int {
	switch d := p.Diff(o); {
	case d == 0:
		return 0
	case d < MaxOutstanding:
		return 1
	}
	return -1
}

// After tells whether p is after o: p-o mod 2^24 in 1..2^23-1.
func (p PSN) After(o PSN) bool { return p.Cmp(o) > 0 }

// Before tells whether p is one of the 2^23 PSNs before o. It is not the same
// as o.After(p): of two PSNs 2^23 apart each is before the other.
func (p PSN) Before(o PSN) bool { return p.Cmp(o) < 0 }

// Within tells whether p is one of the n PSNs from first on.
func (p PSN) Within(first PSN, n uint32) bool { return p.Diff(first) < n }

// MSN is a message sequence number: 24 bits, modulo 2^24. It counts the messages
// a responder has completed.
type MSN uint32

// Width is 24 bits.
func (MSN) Width() int { return 24 }

// Add returns m+n modulo 2^24.
func (m MSN) Add(n uint32) MSN { return (m + MSN(n)) & psnMask }

// Diff returns the way from o forward to m, (m-o) mod 2^24.
func (m MSN) Diff(o MSN) uint32 { return uint32(m-o) & psnMask }
