package fault

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rnic/tb"
)

// number reads a decimal number, or one with 0x, from lo to hi.
func number(v string, lo, hi uint64) (uint64, error) {
	base, digits := 10, v
	if h, ok := strings.CutPrefix(v, "0x"); ok {
		base, digits = 16, h
	}
	n, err := strconv.ParseUint(digits, base, 64)
	if err != nil || n < lo || n > hi {
		if hi > 1<<32 {
			return 0, fmt.Errorf("must be a number from %d on", lo)
		}
		return 0, fmt.Errorf("must be a number from %d to %d", lo, hi)
	}
	return n, nil
}

// maxFrame is beyond any frame, bytes.
const maxFrame = 9999

// signed reads an offset in a frame, or one from its end.
func signed(v string) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil || n < -maxFrame || n > maxFrame {
		return 0, fmt.Errorf("must be a number from %d to %d", -maxFrame, maxFrame)
	}
	return n, nil
}

// span reads a time over 0 of whole nanoseconds: 300ns, 5us, 1.5ms, or 20cycles.
func span(v string) (time.Duration, error) {
	wrong := fmt.Errorf("must be a time from 1ns to %v, as 300ns, 5us, 1.5ms or 20cycles", maxWait)
	if n, ok := strings.CutSuffix(strings.TrimSuffix(v, "s"), "cycle"); ok {
		c, err := number(n, 1, uint64(maxWait/tb.Period))
		if err != nil {
			return 0, wrong
		}
		return time.Duration(c) * tb.Period, nil
	}
	d, err := time.ParseDuration(v)
	if err != nil || d < 1 || d > maxWait {
		return 0, wrong
	}
	return d, nil
}

// short writes a time as it is read.
func short(d time.Duration) string {
	for _, u := range []struct {
		d    time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "us"}} {
		if d%u.d == 0 {
			return fmt.Sprint(int64(d/u.d), u.name)
		}
	}
	return fmt.Sprint(int64(d), "ns")
}

// million is a rate of 1.
const million = 1_000_000

// percent reads what stands before a percent sign, exactly, as parts of a million.
func percent(v string) (uint32, error) {
	whole, frac, _ := strings.Cut(v, ".")
	n, err := strconv.ParseUint(whole+(frac + "0000")[:4], 10, 32)
	if err != nil || len(frac) > 4 || whole == "" || n == 0 || n > million {
		return 0, fmt.Errorf("must be a rate from 0.0001%% to 100%%, with at most 4 digits behind the point")
	}
	return uint32(n), nil
}

// rate writes a rate as it is read.
func rate(ppm uint32) string {
	s := fmt.Sprintf("%d.%04d", ppm/10_000, ppm%10_000)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".") + "%"
}
