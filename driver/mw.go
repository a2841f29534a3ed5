package driver

import (
	"fmt"

	"rnic/abi"
)

// MW is a memory window: a part of a region that a peer may access by a key of its own,
// from a bind on until it is bound elsewhere, or invalidated. It has a field
//
//	RKey abi.Key
//
// that all handles of the window share: the key, valid when a bind has been executed.
// Posting a bind changes it, and nothing else may.
type MW struct {
	*mw
	dev *Device
}

type mw struct {
	RKey abi.Key // promoted to MW

	kind abi.KeyKind
	pd   *pd
	dead bool
}

// AllocMW makes a window, which is not bound. One of type 1, abi.KeyWindow1, is bound by
// Bind, again and again, and serves all QPs of the PD; one of type 2, abi.KeyWindow2, by
// a BIND_MW work request when it is not bound, and serves the QP that it is posted to.
// Errors wrap ErrInvalid, ErrNotSupported or ErrNoMemory.
func (p *PD) AllocMW(kind abi.KeyKind) (*MW, error) {
	d := p.dev
	if err := d.usable(); err != nil {
		return nil, fmt.Errorf("window: %w", err)
	}
	switch {
	case p.destroyed:
		return nil, fmt.Errorf("window: PD %d is destroyed: %w", p.num, ErrInvalid)
	case kind != abi.KeyWindow1 && kind != abi.KeyWindow2:
		return nil, fmt.Errorf("window of kind %s: %w", kind, ErrInvalid)
	case d.Attr.Access&abi.AccessMWBind == 0:
		return nil, fmt.Errorf("memory windows: %w", ErrNotSupported)
	}
	key, err := d.takeKey()
	if err != nil {
		return nil, err
	}
	w := &mw{RKey: key, kind: kind, pd: p.pd}
	p.refs++
	var b [abi.MailboxSize]byte
	abi.MRMailboxLayout.Encode(&abi.MRMailbox{PD: p.num, KeyLow: key.Low(), Kind: kind}, b[:])
	if err := d.command(abi.AdminRegMR, key.Index(), &b, false); err != nil {
		p.refs--
		d.keys.give(key.Index())
		return nil, fmt.Errorf("window: %w", err)
	}
	d.mws[key.Index()] = w
	return &MW{mw: w, dev: d}, nil
}

// takeKey takes a key, with another low byte than the last of its index.
func (d *Device) takeKey() (abi.Key, error) {
	index, err := d.takeUnnamed(&d.keys, (*qp).namesKeys)
	if err != nil {
		return 0, fmt.Errorf("memory key: %w", err)
	}
	d.keyLow[index]++
	return abi.MakeKey(index, d.keyLow[index]), nil
}

// On returns the window as the thread of another handle of the device sees it.
func (w *MW) On(d *Device) *MW { return &MW{mw: w.mw, dev: d} }

// Key is the field RKey: what the peer names when it accesses the window.
func (w *MW) Key() abi.Key { return w.RKey }

// Kind is abi.KeyWindow1 or abi.KeyWindow2.
func (w *MW) Kind() abi.KeyKind { return w.kind }

// Dealloc ends the window, bound or not. When it returns, no access by it is in flight.
// Binds of it that have not begun fail, with MW_BIND_ERR.
func (w *MW) Dealloc() error {
	if w.dead {
		return fmt.Errorf("window %#x is deallocated: %w", w.RKey, ErrInvalid)
	}
	w.dead = true
	if err := w.dev.command(abi.AdminDeregMR, w.RKey.Index(), nil, false); err != nil {
		w.dead = false
		return err
	}
	w.dev.mws[w.RKey.Index()] = nil
	w.dev.giveKey(w.RKey)
	w.pd.refs--
	return nil
}

// giveKey gives a key back. The low byte of the next of its index is one more, so that an
// index has the same key again after 256 others.
func (d *device) giveKey(k abi.Key) {
	d.keyLow[k.Index()] = k.Low()
	d.keys.rest(k.Index())
}

// Bind is what a BIND_MW work request says: which bytes of which region a window opens,
// and for what. What it needs the device judges: the region has MW_BIND, for remote
// write or atomics local write too, and the same PD as the QP, and has the bytes. A bind
// that is refused completes with MW_BIND_ERR and ends the QP.
type Bind struct {
	MW     *MW
	RKey   abi.Key         // type 2: the new key, of the window's index with any low byte
	MR     *MR             // may be nil if Length is 0
	Addr   uint64          // virtual address of the first byte
	Length uint64          // bytes; 0 unbinds a window of type 1
	Access abi.AccessFlags // REMOTE_*
}

// BindWR is a bind of a window of type 1.
type BindWR struct {
	ID       uint64
	Signaled bool
	Fence    bool
	Bind     Bind // RKey is not looked at
}

// Bind posts a bind of a window of type 1 to the send queue of a QP, as PostSend does.
// RKey is the new key from then on; it works, and the one before it no more, when the
// bind is executed.
func (w *MW) Bind(q *QP, wr BindWR) error {
	if q == nil {
		return fmt.Errorf("bind window %#x by no QP: %w", w.RKey, ErrInvalid)
	}
	if w.kind != abi.KeyWindow1 {
		return fmt.Errorf("bind window %#x of kind %s, which takes a BIND_MW work request: %w", w.RKey, w.kind, ErrInvalid)
	}
	b := wr.Bind
	b.MW, b.RKey = w, abi.MakeKey(w.RKey.Index(), w.RKey.Low()+1)
	_, err := q.post([]SendWR{{ID: wr.ID, Op: abi.OpBindMW, Signaled: wr.Signaled, Fence: wr.Fence, Bind: &b}}, abi.KeyWindow1)
	return err
}

// checkBind judges a bind.
func (q *QP) checkBind(b *Bind, kind abi.KeyKind) error {
	switch {
	case b == nil || b.MW == nil || b.MW.dead || b.MW.dev.device != q.dev.device:
		return fmt.Errorf("bind of no window of this device: %w", ErrInvalid)
	case b.MW.kind != kind:
		return fmt.Errorf("BIND_MW of window %#x of kind %s: %w", b.MW.RKey, b.MW.kind, ErrInvalid)
	case b.RKey.Index() != b.MW.RKey.Index():
		return fmt.Errorf("BIND_MW of window %#x with key %#x: %w", b.MW.RKey, b.RKey, ErrInvalid)
	case b.MR == nil && b.Length != 0, b.MR != nil && (b.MR.dead || b.MR.dev.device != q.dev.device):
		return fmt.Errorf("BIND_MW of window %#x to no region of this device: %w", b.MW.RKey, ErrInvalid)
	case b.Access&^(abi.AccessRemoteWrite|abi.AccessRemoteRead|abi.AccessRemoteAtomic) != 0:
		return fmt.Errorf("BIND_MW of window %#x with access %s: %w", b.MW.RKey, b.Access, ErrInvalid)
	}
	return nil
}
