package accept

import "rnic/abi"

// Region is memory that was registered.
type Region struct {
	PD     int
	Addr   uint64 // virtual
	Len    uint64
	Access abi.AccessFlags
	Read   func(off, n int) []byte // its bytes now; may be nil: they are not judged
	Of     abi.Key                 // it is memory of that region, at address At; 0: its own
	At     uint64
	QPN    uint32 // a window of type 2: that of the QP that alone it serves; 0: all of the PD
}

// region is one and when it was there. Keys are not used twice while anybody may
// remember them.
type region struct {
	Region
	gone uint64 // cycle since when it may be deregistered or invalidated; 0: it is there
	dead uint64 // cycle since when it is
	weak bool   // whether it is there yet is not known
}

// Register tells of a region, before the peer can know of it.
func (a *Acceptor) Register(_ uint64, key abi.Key, r Region) { a.regions[key] = &region{Region: r} }

// Deregister tells that a region is about to go.
func (a *Acceptor) Deregister(now uint64, key abi.Key) {
	if r := a.regions[key]; r != nil && r.gone == 0 {
		r.gone = max(now, 1)
	}
}

// Deregistered tells that it has gone.
func (a *Acceptor) Deregistered(now uint64, key abi.Key) {
	if r := a.regions[key]; r != nil {
		r.dead = max(now, 1)
	}
}

// verdict of an access.
type verdict uint8

const (
	good   verdict = iota
	bad            // refused
	either         // the region comes or goes meanwhile
)

// access judges n bytes at va by a key, of a QP. No bytes are always good.
func (a *Acceptor) access(now uint64, pd int, qpn uint32, key abi.Key, va uint64, n int, need abi.AccessFlags) verdict {
	if n == 0 {
		return good
	}
	r := a.regions[key]
	if r == nil || r.PD != pd || r.QPN != 0 && r.QPN != qpn || r.Access&need != need || va < r.Addr || va-r.Addr > r.Len || uint64(n) > r.Len-(va-r.Addr) {
		return bad
	}
	switch {
	case r.weak && r.dead == 0:
		return either
	case r.gone == 0:
		return good
	case r.dead != 0 && now > r.dead+a.p.Inside:
		return bad
	}
	return either
}

// local judges the elements of a work request that hold bytes [from, from+n) of a
// message.
func (a *Acceptor) local(pd int, sges []abi.SGE, from, n int, write bool) bool {
	need := abi.AccessFlags(0)
	if write {
		need = abi.AccessLocalWrite
	}
	for _, e := range sges {
		l := int(e.Length)
		skip := min(from, l)
		k := min(n, l-skip)
		from -= skip
		n -= k
		if k > 0 && a.access(0, pd, 0, e.LKey, e.Addr+uint64(skip), k, need) == bad {
			return false
		}
	}
	return true
}

// bytes are those of a region's memory now; nil if nobody can tell.
func (a *Acceptor) bytes(key abi.Key, va uint64, n int) []byte {
	if r := a.regions[key]; r != nil && r.Read != nil && n > 0 {
		return r.Read(int(va-r.Addr), n)
	}
	return nil
}
