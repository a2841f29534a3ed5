package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/e2e"
	plans "rnic/tb/fault"
)

// again7 are timeout8 with seven retries.
var again7 = driver.ConnectOptions{Timeout: 8, RetryCnt: 7}

// demandSame demands that packets of a PSN that A sent are the same each time, but for
// AckReq and what is of the frame: IP ID, its checksum, ICRC. It returns how many were
// sent again.
func demandSame(t *testing.T, s *e2e.Scene) (again int) {
	t.Helper()
	first := map[roce.PSN]roce.Packet{}
	for _, r := range s.A.Requests(0) {
		r.BTH.AckReq, r.IP4.ID, r.IP4.Checksum, r.ICRC = false, 0, 0, 0
		if was, ok := first[r.BTH.PSN]; ok {
			again++
			require.Equal(t, was, r)
		}
		first[r.BTH.PSN] = r
	}
	return again
}

// TestWritesUnderLoss (B034): WRITEs of many lengths while 1 % of all packets is lost,
// both ways. All are done, memory is right, and what is sent again is what was sent.
func TestWritesUnderLoss(t *testing.T) {
	specs, err := plans.ParseAll("drop b 1%", "drop a 1%")
	require.NoError(t, err)
	for _, c := range []struct {
		mtu         abi.MTU
		size, times int
	}{
		{abi.MTU1024, 4 << 10, 64}, {abi.MTU1024, 8 << 10, 32}, {abi.MTU1024, 8191, 32}, {abi.MTU1024, 64 << 10, 4},
		{abi.MTU256, 64<<10 - 3, 2}, {abi.MTU4096, 64 << 10, 16}, {abi.MTU1024, 1 << 20, 1},
	} {
		s := e2e.New(t, quick)
		o := again7
		o.MTU = c.mtu
		p := s.Join(s.A.QP(driver.QPConfig{}), s.B.QP(driver.QPConfig{}), o)
		far := open(t, s.B)
		plan := plans.New(5, specs...)
		plan.Attach(s.Bench)
		plan.Start(0)
		plan.Start(1)
		p.A.Fill(0, 1<<20, 7)
		for i := range c.times {
			at := i * c.size
			wr := p.A.SendWR(uint64(i), at, c.size)
			wr.Op, wr.RemoteAddr, wr.RKey = abi.OpWrite, far.Addr+uint64(at), far.RKey
			p.A.Send(wr)
			if i%8 == 7 || i == c.times-1 {
				var ids []uint64
				for j := i &^ 7; j <= i; j++ {
					ids = append(ids, uint64(j))
				}
				p.A.Sent(e2e.OK(ids...)...)
			}
		}
		p.B.Demand(0, e2e.Bytes(1<<20, 7)[:c.times*c.size])
		require.NotZero(t, plan.Report()[0].Struck, "%d", c.size)
		require.NotZero(t, demandSame(t, s), "%d", c.size)
		s.Close()
	}
}

// TestReadAfterWrite (B022): responses of a READ are lost, and a WRITE behind it to the
// same memory is executed. The READ is asked for again with its PSNs, and brings what
// is there now.
func TestReadAfterWrite(t *testing.T) {
	const n = 3000
	for lost := range 3 {
		w := reach(t, driver.QPConfig{}, again7)
		psn := w.B.FirstPSN()
		drop := &tb.Strike{Name: "response", Times: 3 - lost, Match: func(p *roce.Packet) bool {
			return p.BTH.Opcode.IsResponse() && p.BTH.Opcode != roce.RCAck && !p.BTH.PSN.Before(psn.Add(uint32(lost)))
		}}
		w.s.A.SetFault(tb.Strikes(drop))
		w.A.Send(w.op(1, abi.OpRead, 50_000, n), w.op(2, abi.OpWrite, 0, n))
		w.A.Sent(e2e.OK(1, 2)...)
		require.NoError(t, tb.Missed(drop))
		copy(w.a[50_000:], w.b[farAt:farAt+1024*lost])
		copy(w.a[50_000+1024*lost:50_000+n], w.a[1024*lost:n])
		copy(w.b[farAt:], w.a[:n])
		w.A.Demand(0, w.a)
		w.B.Demand(0, w.b)
		reads := []roce.Packet{}
		for _, r := range w.s.A.Requests(0) {
			if r.BTH.Opcode == roce.RCReadRequest {
				reads = append(reads, r)
			}
		}
		require.Equal(t, 2, len(reads))
		require.Equal(t, psn, reads[0].BTH.PSN)
		require.Equal(t, psn.Add(uint32(lost)), reads[1].BTH.PSN)
		require.Equal(t, reads[0].RETH.VA+uint64(1024*lost), reads[1].RETH.VA)
		require.EqualValues(t, n-1024*lost, reads[1].RETH.Length)
		for _, r := range responses(w.s.B) {
			require.Less(t, r.BTH.PSN.Sub(uint32(psn)), roce.PSN(3))
		}
		w.s.Close()
	}
}
