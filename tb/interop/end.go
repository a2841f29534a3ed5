package interop

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rnic/tb/console"
)

// end is one of the two machines, as cases drive it: by lines.
type end struct {
	side  side
	do    func(line string, limit time.Duration) (string, error)
	addr  uint64
	rkey  uint64
	gids  [2]string
	mac   string
	other *end
}

func (e *end) String() string { return e.side.String() }

// ask has the end execute a line and returns the answer without its mark.
func (e *end) ask(format string, args ...any) (string, error) {
	line := fmt.Sprintf(format, args...)
	r, err := e.do(line, answerLimit)
	if err != nil {
		return "", fmt.Errorf("%v: %s: %w", e, line, err)
	}
	out, ok := strings.CutPrefix(r, "= ")
	if !ok {
		return "", fmt.Errorf("%v: %s: %s", e, line, strings.TrimPrefix(r, "! "))
	}
	return out, nil
}

// answerLimit is what a line may take beyond its own limit.
const answerLimit = 60 * time.Second

// fields are the name=value parts of an answer.
func fields(answer string) map[string]string {
	m := map[string]string{}
	for _, w := range strings.Fields(answer) {
		if k, v, ok := strings.Cut(w, "="); ok {
			m[k] = v
		}
	}
	return m
}

// number is a field of an answer as a number.
func number(answer, name string) uint64 {
	n, _ := strconv.ParseUint(fields(answer)[name], 0, 64)
	return n
}

// learn asks the end who it is.
func (e *end) learn() error {
	r, err := e.ask("info")
	if err != nil {
		return err
	}
	e.addr, e.rkey = number(r, "addr"), number(r, "rkey")
	e.gids = [2]string{fields(r)["gid0"], fields(r)["gid1"]}
	if e.mac = fields(r)["mac"]; e.mac == "" {
		e.mac = guestMAC
	}
	if e.addr == 0 || e.rkey == 0 || e.gids[1] == "" {
		return fmt.Errorf("%v: info: %s", e, r)
	}
	return nil
}

// pattern are the bytes that "fill" writes.
func pattern(n int, seed uint32) []byte {
	b := make([]byte, n)
	console.Pattern(b, seed)
	return b
}
