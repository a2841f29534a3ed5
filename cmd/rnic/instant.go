package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"rnic/tb"
	"rnic/waves/read"
)

// instant is a simulated time of a flag: 1.5us, or c1234 for the beginning of a cycle.
type instant time.Duration

// plainTime is a time of one unit, as waveform tools print them.
var plainTime = regexp.MustCompile(`^\d[\d.]*[munp]?s$`)

// UnmarshalText reads the flag.
func (i *instant) UnmarshalText(b []byte) error {
	text := string(b)
	if number, ok := strings.CutPrefix(text, "c"); ok {
		n, err := strconv.ParseUint(number, 10, 64)
		const period = instant(tb.PeriodPs * time.Nanosecond / 1000)
		if err != nil || n > uint64(maxWindow/period) {
			return fmt.Errorf("%q: must be c0 to c%d", text, int64(maxWindow/period))
		}
		*i = instant(n) * period
		return nil
	}
	if plainTime.MatchString(text) { // ParseDuration has no ps, and drops a part of a ns
		n, err := (&read.Header{Exponent: -9}).ParseTime(text, nil)
		if err != nil {
			return err
		}
		*i = instant(min(n, math.MaxInt64))
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q: must be as 123ns, 1.5us or c1234", text)
	}
	*i = instant(d)
	return nil
}

// String is the time.
func (i instant) String() string { return time.Duration(i).String() }

// ps is the time in picoseconds; 0 without one.
func (i *instant) ps() int64 {
	if i == nil {
		return 0
	}
	return tb.Picoseconds(time.Duration(*i))
}
