package e2e_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestObjectsInUse: what something else is made of does not go: EBUSY, and all of it works
// afterwards; when the others are gone, it does.
func TestObjectsInUse(t *testing.T) {
	s := e2e.New(t, quick)
	d := s.B
	pd := domain(d)
	busy := func(destroy func() error) {
		t.Helper()
		d.Refused(driver.ErrBusy, destroy)
	}
	// The domain, by each of its children.
	mr := region(t, d, pd, 0, 4096, all|abi.AccessMWBind)
	busy(pd.Destroy)
	busy(d.Buf.Free)
	d.Must(mr.Dereg)
	for _, kind := range []abi.KeyKind{abi.KeyWindow1, abi.KeyWindow2} {
		var w *driver.MW
		d.Must(func() (err error) { w, err = pd.AllocMW(kind); return err })
		busy(pd.Destroy)
		d.Must(w.Dealloc)
	}
	var fast *driver.MR
	d.Must(func() (err error) { fast, err = pd.AllocFastMR(4); return err })
	busy(pd.Destroy)
	d.Must(fast.Dereg)
	var ah *driver.AH
	d.Must(func() (err error) {
		ah, err = pd.CreateAH(driver.AHAttr{MAC: hostA, DGID: s.A.QP(driver.QPConfig{}).QP.Endpoint().GID})
		return err
	})
	busy(pd.Destroy)
	d.Must(ah.Destroy)
	var srq *driver.SRQ
	d.Must(func() (err error) { srq, err = pd.CreateSRQ(driver.SRQAttr{MaxRecv: 4, MaxSGE: 1}); return err })
	busy(pd.Destroy)

	// QPs of each type, in each state, on queues of their own.
	for _, c := range qpTypes {
		for _, state := range []abi.QPState{abi.QPReset, abi.QPRTS, abi.QPErr} {
			cfg := driver.QPConfig{Type: c.typ, SendCQ: d.CQ(16), RecvCQ: d.CQ(16), MaxSend: 4, MaxRecv: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
			if c.srq {
				cfg.SRQ = srq
			}
			own := d.PD
			d.PD = pd
			e := d.QP(cfg)
			d.PD = own
			w := &walker{End: e, t: t, typ: c.typ, attr: driver.QPAttr{
				Port: 1, PathMTU: abi.MTU1024, QKey: 1, AV: abi.AV{DMAC: hostA, HopLimit: 64, DGID: s.A.QP(driver.QPConfig{}).QP.Endpoint().GID, SGIDIndex: 1, UDPSPort: 0xc000},
			}}
			w.bring(state)
			busy(pd.Destroy)
			busy(e.SCQ.Destroy)
			busy(e.RCQ.Destroy)
			if c.srq {
				busy(srq.Destroy)
			}
			w.DemandState(state) // nothing has changed
			if state == abi.QPRTS {
				e.Send(driver.SendWR{ID: 1, Op: abi.OpNop, Signaled: true})
				e.Sent(e2e.OK(1)...)
			}
			d.Must(e.QP.Destroy)
		}
	}
	d.Must(srq.Destroy)
	d.Must(pd.Destroy)
	d.Refused(driver.ErrInvalid, pd.Destroy)
	d.Events()
}

// TestObjectsRefused: calls with things that there are not, that are gone, of another device
// or of another kind. Each is refused, and nothing is made.
func TestObjectsRefused(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Datagrams(driver.QPConfig{})
	d, to := s.A, p.B.QP.Endpoint()
	refused := func(name string, call func() error) {
		t.Helper()
		s.A.Do(func() { require.ErrorIs(t, call(), driver.ErrInvalid, name) })
	}
	gone := domain(d)
	d.Must(gone.Destroy)
	good := driver.AHAttr{MAC: to.MAC, DGID: to.GID}

	// Address handles.
	for name, change := range map[string]func(a *driver.AHAttr){
		"no address":                   func(a *driver.AHAttr) { a.DGID = [16]byte{} },
		"own address that there isn't": func(a *driver.AHAttr) { a.SGIDIndex = 9 },
		"own address beyond the table": func(a *driver.AHAttr) { a.SGIDIndex = abi.NumGIDs },
		"negative index":               func(a *driver.AHAttr) { a.SGIDIndex = -1 },
		"another family":               func(a *driver.AHAttr) { a.DGID, a.SGIDIndex = s.B.Dev.GIDs()[0].As16(), 1 },
		"flow label of 21 bits":        func(a *driver.AHAttr) { a.FlowLabel = 1 << 20 },
		"port of no entropy":           func(a *driver.AHAttr) { a.UDPSPort = 4791 },
	} {
		bad := good
		change(&bad)
		refused("AH, "+name, func() error { _, err := d.PD.CreateAH(bad); return err })
	}
	refused("AH of a domain that is gone", func() error { _, err := gone.CreateAH(good); return err })
	ah, theirs := s.A.AHTo(p.B), s.B.AHTo(p.A)
	old := s.A.AHTo(p.B)
	d.Must(old.Destroy)
	refused("AH destroyed twice", old.Destroy)
	for name, change := range map[string]func(wr *driver.SendWR){
		"no AH":                func(wr *driver.SendWR) { wr.AH = nil },
		"AH that is gone":      func(wr *driver.SendWR) { wr.AH = old },
		"AH of another device": func(wr *driver.SendWR) { wr.AH = theirs },
		"QPN of 25 bits":       func(wr *driver.SendWR) { wr.RemoteQPN = 1 << 24 },
	} {
		wr := p.A.Datagram(1, 0, 10, ah, p.B)
		change(&wr)
		refused("datagram, "+name, func() error { _, err := p.A.QP.PostSend(wr); return err })
	}

	// QPs.
	cq, srqGone := s.A.CQ(4), s.A.SRQ(driver.SRQAttr{MaxRecv: 1})
	var cqGone *driver.CQ
	d.Must(func() (err error) { cqGone, err = d.Dev.CreateCQ(4, driver.CQOptions{}); return err })
	d.Must(cqGone.Destroy)
	refused("CQ that is gone", func() error { return cqGone.Arm(false) })
	d.Must(srqGone.Destroy)
	theirSRQ := s.B.SRQ(driver.SRQAttr{MaxRecv: 1})
	for name, c := range map[string]driver.QPConfig{
		"no CQ":                    {},
		"CQ that is gone":          {SendCQ: cqGone, RecvCQ: cq},
		"receive CQ that is gone":  {SendCQ: cq, RecvCQ: cqGone},
		"CQ of another device":     {SendCQ: cq, RecvCQ: p.B.RCQ},
		"SRQ that is gone":         {SendCQ: cq, RecvCQ: cq, SRQ: srqGone},
		"SRQ of another device":    {SendCQ: cq, RecvCQ: cq, SRQ: theirSRQ},
		"too many sends":           {SendCQ: cq, RecvCQ: cq, MaxSend: 1 << 20},
		"too many receives":        {SendCQ: cq, RecvCQ: cq, MaxRecv: 1 << 20},
		"too many elements":        {SendCQ: cq, RecvCQ: cq, MaxSendSGE: 100},
		"too much inline data":     {SendCQ: cq, RecvCQ: cq, MaxInline: 1 << 20},
		"address that there isn't": {SendCQ: cq, RecvCQ: cq, GIDIndex: abi.NumGIDs},
		"PSN of 25 bits":           {SendCQ: cq, RecvCQ: cq, PSN: 1 << 24},
	} {
		for _, typ := range fourTypes {
			c.Type = typ
			refused("QP, "+name, func() error { _, err := d.PD.CreateQP(c); return err })
		}
	}
	refused("QP of a domain that is gone", func() error {
		_, err := gone.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq})
		return err
	})
	d.Refused(driver.ErrNotSupported, func() error { // frames have a queue of their own
		q, err := d.PD.CreateSRQ(driver.SRQAttr{MaxRecv: 1})
		if err != nil {
			return err
		}
		_, err = d.PD.CreateQP(driver.QPConfig{Type: abi.QPTypeRaw, SendCQ: cq, RecvCQ: cq, SRQ: q})
		return errors.Join(err, q.Destroy())
	})
	refused("a peer for UD", func() error { return p.A.QP.Connect(to, driver.ConnectOptions{}) })
	rc := s.A.QP(driver.QPConfig{})
	refused("RC without a peer", func() error { return rc.QP.Start(0) })

	// CQs, SRQs, regions, windows.
	for _, n := range []int{0, -1, 1 << 24} {
		refused("CQ size", func() error { _, err := d.Dev.CreateCQ(n, driver.CQOptions{}); return err })
	}
	for _, v := range []int{-1, d.Dev.Config.Vectors, 1 << 20} {
		refused("CQ vector", func() error { _, err := d.Dev.CreateCQ(4, driver.CQOptions{Vector: v}); return err })
	}
	refused("SRQ of a domain that is gone", func() error { _, err := gone.CreateSRQ(driver.SRQAttr{MaxRecv: 1}); return err })
	for _, a := range []abi.AccessFlags{
		abi.AccessRemoteWrite, abi.AccessRemoteAtomic, abi.AccessRemoteWrite | abi.AccessRemoteRead, abi.AccessRemoteAtomic | abi.AccessMWBind,
	} {
		refused("region without local write", func() error { _, err := d.PD.RegMR(d.Buf, a); return err })
	}
	refused("region of a domain that is gone", func() error { _, err := gone.RegMR(d.Buf, all); return err })
	refused("region beyond the buffer", func() error { _, err := d.PD.RegMRRange(d.Buf, 1<<20-1, 2, all); return err })
	refused("window of a domain that is gone", func() error { _, err := gone.AllocMW(abi.KeyWindow1); return err })
	refused("window that is a region", func() error { _, err := d.PD.AllocMW(abi.KeyRegion); return err })

	// All is well.
	p.B.Recv(p.B.RecvWR(11, 0, 100))
	p.A.Send(p.A.Datagram(1, 0, 10, ah, p.B))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(11)...)
}
