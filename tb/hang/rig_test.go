package hang_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/pcie"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/hang"
	"rnic/tb/host"
)

// limit of the Dogs of tests, cycles.
const limit = 200_000

// rig is two hosts with a connected QP each.
type rig struct {
	t    *testing.T
	b    *tb.Bench
	dog  *hang.Dog
	ends [2]*end
}

// end is what a host has.
type end struct {
	h   *tb.Host
	dev *driver.Device
	cq  *driver.CQ
	qp  *driver.QP
	mr  *driver.MR
	far hello // the other host's
}

type hello struct {
	QP   driver.Endpoint
	Addr uint64
	Key  abi.Key
}

// attr is how the QPs are connected, and the devices opened.
type attr struct {
	timeout, retries, rnr, timer uint8
	noPush                       bool
}

// newRig sets two hosts up; the dog watches from then on.
func newRig(t *testing.T, c tb.Config, a attr) *rig {
	t.Helper()
	b, err := tb.New(c)
	require.NoError(t, err)
	t.Cleanup(b.Close)
	r := &rig{t: t, b: b}
	for n, h := range b.Hosts {
		e := &end{h: h}
		r.ends[n] = e
		h.Go("setup", func(th *hdl.Thread, bus *host.Bus) { require.NoError(t, e.setup(th, bus, a)) })
	}
	r.dog = hang.Watch(b, hang.Options{Limit: limit})
	require.NoError(t, b.Run(10_000_000))
	return r
}

const size = 64 << 10 // bytes of a buffer

func (e *end) setup(t *hdl.Thread, bus *host.Bus, a attr) (err error) {
	k := uint8(e.h.Index)
	c := driver.Config{MAC: roce.HostMAC(k), IPv4: roce.HostIPv4(k), GID: roce.HostIPv6(k), NoPush: a.noPush, Seed: 5}
	if e.dev, err = driver.Open(bus, c); err != nil {
		return err
	}
	pd, err := e.dev.AllocPD()
	if err != nil {
		return err
	}
	buf, err := e.dev.AllocBuffer(size, 0)
	if err != nil {
		return err
	}
	if e.mr, err = pd.RegMR(buf, abi.AccessLocalWrite|abi.AccessRemoteWrite|abi.AccessRemoteRead|abi.AccessRemoteAtomic); err != nil {
		return err
	}
	if e.cq, err = e.dev.CreateCQ(64, driver.CQOptions{}); err != nil {
		return err
	}
	if e.qp, err = pd.CreateQP(driver.QPConfig{SendCQ: e.cq, RecvCQ: e.cq, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 1, MaxRecvSGE: 1}); err != nil {
		return err
	}
	m, err := json.Marshal(hello{e.qp.Endpoint(), e.mr.SGE(0, 0).Addr, e.mr.RKey})
	if err != nil {
		return err
	}
	e.h.OOB.Send(m)
	if err := json.Unmarshal(e.h.OOB.Recv(t), &e.far); err != nil {
		return err
	}
	if err := e.connect(a); err != nil {
		return err
	}
	t.Sleep(10_000)
	return nil
}

// connect takes the QP to RTS. Unlike driver.QP.Connect it takes a timeout of 0.
func (e *end) connect(a attr) error {
	access := abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic
	if err := e.qp.Init(access); err != nil {
		return err
	}
	av := abi.AV{DMAC: e.far.QP.MAC, HopLimit: 64, DGID: e.far.QP.GID, UDPSPort: 0xc000, SGIDIndex: 1}
	err := e.qp.Modify(driver.QPAttr{
		State: abi.QPRTR, AV: av, PathMTU: abi.MTU1024, DestQPN: e.far.QP.QPN, RQPSN: e.far.QP.PSN, MaxDestRdAtomic: 16,
		MinRNRTimer: a.timer, Access: access,
	}, abi.AttrState|abi.AttrAV|abi.AttrPathMTU|abi.AttrDestQPN|abi.AttrRQPSN|abi.AttrMaxDestRdAtomic|abi.AttrMinRNRTimer|abi.AttrAccessFlags)
	if err != nil {
		return err
	}
	return e.qp.Modify(driver.QPAttr{
		State: abi.QPRTS, Timeout: a.timeout, RetryCnt: a.retries, RNRRetry: a.rnr, SQPSN: e.qp.Endpoint().PSN, MaxRdAtomic: 16,
	}, abi.AttrState|abi.AttrTimeout|abi.AttrRetryCnt|abi.AttrRNRRetry|abi.AttrSQPSN|abi.AttrMaxRdAtomic)
}

// do has a thread of host n run a script.
func (r *rig) do(n int, name string, fn func(t *hdl.Thread, e *end) error) {
	e := r.ends[n]
	e.h.Go(name, func(t *hdl.Thread, bus *host.Bus) {
		d := e.dev.On(bus)
		if err := fn(t, &end{e.h, d, e.cq.On(d), e.qp.On(d), e.mr, e.far}); err != nil {
			r.t.Errorf("%s: %v", name, err)
			e.h.K.Stop()
		}
	})
}

// wr is a work request of n bytes.
func (e *end) wr(op abi.WQEOp, n int) driver.SendWR {
	w := driver.SendWR{ID: 1, Op: op, Signaled: true, SGEs: []driver.SGE{e.mr.SGE(0, n)}}
	if op >= abi.OpWrite {
		w.RemoteAddr, w.RKey = e.far.Addr, e.far.Key
	}
	return w
}

// post posts one and waits for its completion.
func (e *end) post(op abi.WQEOp, n int) error {
	if _, err := e.qp.PostSend(e.wr(op, n)); err != nil {
		return err
	}
	return e.wait()
}

// wait waits for a completion.
func (e *end) wait() error {
	wcs := make([]driver.WC, 1)
	_, err := e.cq.Wait(wcs, math.MaxInt64)
	return err
}

// hangs runs the rig until it hangs.
func (r *rig) hangs() *hang.Hang {
	r.t.Helper()
	err := r.dog.Run(r.b.Done, r.b.World.Now()+1_000_000_000)
	var h *hang.Hang
	require.ErrorAs(r.t, err, &h)
	r.t.Log(h)
	return h
}

// ends runs it to its end.
func (r *rig) finishes() {
	r.t.Helper()
	require.NoError(r.t, r.dog.Run(r.b.Done, r.b.World.Now()+4_000_000_000))
	require.True(r.t, r.b.Done())
}

// poller keeps the hosts awake.
func (r *rig) poller() {
	r.do(1, "poller", func(th *hdl.Thread, _ *end) error {
		for range 1_000_000 {
			th.Sleep(100)
		}
		return nil
	})
}

// receive posts a receive and waits for it.
func (e *end) receive() error {
	if _, err := e.qp.PostRecv(driver.RecvWR{ID: 9, SGEs: []abi.SGE{e.mr.SGE(0, 1000)}}); err != nil {
		return err
	}
	return e.wait()
}

// stop has a host stand still as fn says, at its reads.
func (r *rig) stop(n int, fn func() host.Verdict) {
	r.ends[n].h.Machine.RC.Params.Fault = func(*pcie.TLP) host.Verdict { return fn() }
}
