package console

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
)

// args are the words of a line. The first fault is kept.
type args struct {
	verb string
	id   int
	kv   map[string]string
	err  error
}

func parse(line string) *args {
	a := &args{kv: map[string]string{}, id: -1}
	for i, w := range strings.Fields(line) {
		k, v, ok := strings.Cut(w, "=")
		switch {
		case i == 0:
			a.verb = w
		case ok:
			a.kv[k] = v
		case i == 1:
			n, err := strconv.ParseUint(w, 0, 16)
			if err != nil {
				a.kv["word"] = w
			}
			a.id = int(n)
		default:
			a.fail("%q: not name=value", w)
		}
	}
	return a
}

func (a *args) fail(format string, v ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, v...)
	}
}

// num is a number, or def if it is not given.
func (a *args) num(name string, def uint64) uint64 {
	s, ok := a.kv[name]
	if !ok {
		return def
	}
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		a.fail("%s=%s: not a number", name, s)
	}
	return n
}

// length is a number that counts bytes of the buffer, or objects.
func (a *args) length(name string, def int) int {
	n := a.num(name, uint64(def))
	if n > 1<<31 {
		a.fail("%s=%d: too many", name, n)
		return 0
	}
	return int(n)
}

// gid is an address, IPv4 or IPv6.
func (a *args) gid(name string) [16]byte {
	ip, err := netip.ParseAddr(a.kv[name])
	if err != nil {
		a.fail("%s=%s: no address", name, a.kv[name])
	}
	return ip.As16()
}

// mac is an Ethernet address.
func (a *args) mac(name string) (m [6]byte) {
	b, err := net.ParseMAC(a.kv[name])
	if err != nil || len(b) != len(m) {
		a.fail("%s=%s: no Ethernet address", name, a.kv[name])
		return m
	}
	return [6]byte(b)
}
