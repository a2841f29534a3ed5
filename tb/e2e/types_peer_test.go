package e2e_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestPeersOfTypes: the QP at the other end is of another type, or not in a state to
// receive. Nothing is answered and nothing is taken; who waits for an answer runs out of
// retries, and who does not never knows.
func TestPeersOfTypes(t *testing.T) {
	peers := []struct {
		typ   abi.QPType
		state abi.QPState
	}{
		{abi.QPTypeRC, abi.QPReset}, {abi.QPTypeRC, abi.QPInit}, {abi.QPTypeRC, abi.QPErr}, {abi.QPTypeRC, abi.QPRTS},
		{abi.QPTypeUC, abi.QPReset}, {abi.QPTypeUC, abi.QPInit}, {abi.QPTypeUC, abi.QPErr}, {abi.QPTypeUC, abi.QPRTS},
		{abi.QPTypeUD, abi.QPReset}, {abi.QPTypeUD, abi.QPInit}, {abi.QPTypeUD, abi.QPErr}, {abi.QPTypeUD, abi.QPRTS},
		{abi.QPTypeRaw, abi.QPReset}, {abi.QPTypeRaw, abi.QPInit}, {abi.QPTypeRaw, abi.QPErr}, {abi.QPTypeRaw, abi.QPRTS},
	}
	for _, typ := range fourTypes[:3] {
		for _, p := range peers {
			if p.typ == typ && p.state == abi.QPRTS {
				continue // they talk
			}
			for _, op := range []abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead, abi.OpFetchAdd} {
				if op != abi.OpSend && typ == abi.QPTypeUD || op > abi.OpWriteImm && typ == abi.QPTypeUC {
					continue
				}
				t.Run(fmt.Sprintf("%v of %v to %v in %v", op, typ, p.typ, p.state), func(t *testing.T) {
					s := e2e.New(t, quick)
					a := s.A.QP(driver.QPConfig{Type: typ})
					w := &walker{End: s.B.QP(driver.QPConfig{Type: p.typ}), t: t, typ: p.typ, attr: driver.QPAttr{
						Port: 1, PathMTU: abi.MTU1024, MinRNRTimer: 12, Timeout: 14, QKey: e2e.QKey, MaxRdAtomic: 1, MaxDestRdAtomic: 1,
						Access: abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic,
					}}
					s.Couple(a, w.End)
					me := a.QP.Endpoint()
					w.attr.DestQPN, w.attr.RQPSN = me.QPN, me.PSN
					w.attr.AV = abi.AV{DMAC: me.MAC, HopLimit: 64, DGID: me.GID, SGIDIndex: 1, UDPSPort: 0xc000}
					w.bring(p.state)
					posted := p.state == abi.QPInit || p.state == abi.QPRTS
					if posted {
						w.Recv(w.Recvs(0, 4096, 11, 12)...)
					}
					far := region(t, s.B, s.B.PD, farAt, farSize, all)
					s.B.Fill(0, image, 2)
					wr := driver.SendWR{ID: 1, Op: op, Signaled: true, SGEs: []driver.SGE{s.A.MR.SGE(0, 8)}, RemoteAddr: far.Addr, RKey: far.RKey}
					if typ == abi.QPTypeUD {
						a.Start()
						wr.AH, wr.RemoteQPN, wr.RemoteQKey = s.A.AHTo(w.End), w.QP.Number(), e2e.QKey
					} else {
						a.Connection = timeout8
						a.Reconnect()
					}
					before := s.B.Faults()
					a.Send(wr)
					if typ == abi.QPTypeRC {
						require.Equal(t, abi.VendorTimeout, a.Sent(e2e.All(abi.StatusRetryExc, 1)...)[0].VendorErr)
						a.DemandState(abi.QPErr)
					} else {
						a.Sent(e2e.OK(1)...)
						a.DemandState(abi.QPRTS)
					}
					s.Sleep(2000)
					f := s.B.Faults().Since(before)
					require.Len(t, f, 1)
					if p.typ != typ {
						require.NotZero(t, f[abi.RxDropBadTransport]+f[abi.RxDropBadState], "%v", f)
					} else {
						require.NotZero(t, f[abi.RxDropBadState], "%v", f)
					}
					require.Empty(t, s.B.Answers(0))
					require.Empty(t, s.A.Events())
					require.Empty(t, s.B.Events())
					w.DemandState(p.state)
					s.B.Demand(0, e2e.Bytes(image, 2))
					w.DemandNone(w.RCQ)
					if posted { // they are there still
						w.Fail()
						w.Received(e2e.Flushed(11, 12)...)
					}
				})
			}
		}
	}
}

// TestSharedDomainsOfTypes: a receive of a shared queue is of the queue's domain: a region
// of the QP's alone does not do. RC is told; UC and UD senders see SUCCESS; the QP fails,
// and the others of the queue do not.
func TestSharedDomainsOfTypes(t *testing.T) {
	for _, typ := range fourTypes[:3] {
		t.Run(typ.String(), func(t *testing.T) {
			s := e2e.New(t, quick)
			other := domain(s.B)
			good := region(t, s.B, other, slot(1), 4096, abi.AccessLocalWrite)
			var srq *driver.SRQ
			s.B.Must(func() (err error) {
				srq, err = other.CreateSRQ(driver.SRQAttr{MaxRecv: 4, MaxSGE: 1})
				return err
			})
			k := newTalk(t, s, typ, driver.QPConfig{}, driver.QPConfig{SRQ: srq})
			o := newTalk(t, s, typ, driver.QPConfig{}, driver.QPConfig{SRQ: srq})
			s.B.Must(func() error {
				_, err := srq.PostRecv(k.B.RecvWR(11, slot(0), 4096), driver.RecvWR{ID: 12, SGEs: []driver.SGE{good.SGE(0, 4096)}})
				return err
			})
			k.A.Send(k.send(1, 0, 64))
			k.A.Sent(k.failed(abi.StatusRemOp, 1)...)
			wc := k.B.Received(e2e.All(abi.StatusLocProt, 11)...)[0]
			require.Equal(t, abi.VendorLKeyPD, wc.VendorErr)
			k.B.DemandState(abi.QPErr)
			o.A.Send(o.send(2, 100, 64))
			o.A.Sent(e2e.OK(2)...)
			o.B.Received(e2e.OK(12)...)
			o.demand(1, 100, 64)
			s.Sleep(1000)
			es := s.B.Events()
			require.Equal(t, []abi.EventType{abi.EventQPLastWQEReached}, types(es))
			require.Equal(t, k.B.QP.Number(), es[0].Number)
		})
	}
}
