package ether

import (
	"fmt"
	"net"
	"strings"
)

// OpenWire opens the way outside that a text names:
//
//	listen:ADDR         a stream socket on which QEMU, or another, connects
//	dial:ADDR           one that listens
//	dgram:LOCAL,REMOTE  datagrams, one a frame
//	tap:NAME            a TAP device of Linux
//
// An address with a slash is a path of a unix socket, another HOST:PORT, which must
// be of this machine's loopback interface: frames are taken from whoever sends them.
func OpenWire(name string) (Wire, error) {
	kind, rest, _ := strings.Cut(name, ":")
	switch kind {
	case "listen", "dial":
		network, err := networkOf(rest, "tcp")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if kind == "listen" {
			return Listen(network, rest)
		}
		return Dial(network, rest)
	case "dgram":
		local, remote, _ := strings.Cut(rest, ",")
		network, err := networkOf(local, "udp")
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if n, err := networkOf(remote, "udp"); err != nil || n != network {
			return nil, fmt.Errorf("%s: no second address of the kind of the first", name)
		}
		return Datagrams(network, local, remote)
	case "tap":
		return Tap(rest)
	}
	return nil, fmt.Errorf("%q is neither of listen, dial, dgram and tap", name)
}

// networkOf tells unix sockets from those of a host, which must be this one.
func networkOf(addr, inet string) (string, error) {
	if strings.Contains(addr, "/") {
		if inet == "udp" {
			return "unixgram", nil
		}
		return "unix", nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", fmt.Errorf("%s is not of the loopback interface", addr)
	}
	return inet, nil
}
