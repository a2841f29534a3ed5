package driver

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
)

// Endpoint is what the peer of a QP must know, or of a UD QP whoever sends to it. Its text and its binary form may be
// sent to the peer by any other way.
type Endpoint struct {
	QPN uint32 // 24 bits
	PSN uint32 // first PSN that this side sends, 24 bits
	GID [16]byte
	MAC [6]byte
}

// EndpointSize is the bytes of an Endpoint's binary form.
const EndpointSize = 30

// Endpoint describes this QP.
func (q *QP) Endpoint() Endpoint {
	return Endpoint{QPN: q.num, PSN: q.psn, GID: q.dev.gids[q.gid], MAC: q.dev.Config.MAC}
}

// String is the text form: qpn=0x000012,psn=0x123456,gid=::ffff:10.0.0.1,mac=02:00:00:00:00:01.
func (e Endpoint) String() string {
	return fmt.Sprintf("qpn=%#06x,psn=%#06x,gid=%s,mac=%s", e.QPN, e.PSN, netip.AddrFrom16(e.GID), net.HardwareAddr(e.MAC[:]))
}

// MarshalText returns the text form.
func (e Endpoint) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// UnmarshalText reads the text form. The error wraps ErrInvalid.
func (e *Endpoint) UnmarshalText(b []byte) error {
	var n Endpoint
	parts := bytes.Split(b, []byte(","))
	if len(parts) != 4 {
		return fmt.Errorf("endpoint %q has %d parts, not 4: %w", b, len(parts), ErrInvalid)
	}
	for i, key := range []string{"qpn=", "psn=", "gid=", "mac="} {
		v, ok := bytes.CutPrefix(parts[i], []byte(key))
		if !ok {
			return fmt.Errorf("endpoint %q: no %s: %w", b, key, ErrInvalid)
		}
		if err := n.field(i, string(v)); err != nil {
			return fmt.Errorf("endpoint %q: %w: %w", b, ErrInvalid, err)
		}
	}
	*e = n
	return nil
}

// field reads one part of the text form.
func (e *Endpoint) field(i int, v string) error {
	switch i {
	case 0:
		return number(v, &e.QPN)
	case 1:
		return number(v, &e.PSN)
	case 2:
		a, err := netip.ParseAddr(v)
		if err == nil && a.Zone() != "" {
			err = fmt.Errorf("GID %s has a zone", v)
		}
		e.GID = a.As16()
		return err
	}
	m, err := net.ParseMAC(v)
	if err == nil && len(m) != len(e.MAC) {
		err = fmt.Errorf("MAC address of %d bytes", len(m))
	}
	copy(e.MAC[:], m)
	return err
}

// MarshalBinary returns QPN, PSN, GID, MAC: EndpointSize bytes, big-endian.
func (e Endpoint) MarshalBinary() ([]byte, error) {
	b := make([]byte, 0, EndpointSize)
	b = binary.BigEndian.AppendUint32(b, e.QPN)
	b = binary.BigEndian.AppendUint32(b, e.PSN)
	b = append(b, e.GID[:]...)
	return append(b, e.MAC[:]...), nil
}

// UnmarshalBinary reads the binary form. The error wraps ErrInvalid.
func (e *Endpoint) UnmarshalBinary(b []byte) error {
	if len(b) != EndpointSize {
		return fmt.Errorf("endpoint of %d bytes, not %d: %w", len(b), EndpointSize, ErrInvalid)
	}
	n := Endpoint{QPN: binary.BigEndian.Uint32(b), PSN: binary.BigEndian.Uint32(b[4:])}
	if n.QPN >= 1<<24 || n.PSN >= 1<<24 {
		return fmt.Errorf("endpoint with QPN %#x, PSN %#x: %w", n.QPN, n.PSN, ErrInvalid)
	}
	copy(n.GID[:], b[8:])
	copy(n.MAC[:], b[24:])
	*e = n
	return nil
}

// number reads 24 bits, in any base that Go knows.
func number(s string, v *uint32) error {
	n, err := strconv.ParseUint(s, 0, 24)
	*v = uint32(n)
	return err
}
