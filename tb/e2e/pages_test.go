package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

const anyAccess = abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

// buffers are two ways to have n bytes of memory: few large pages one behind the
// other, or many 4 KiB frames in no order. Both start at an odd address.
var buffers = []struct {
	name string
	log  uint8 // of the pages that the device gets
	off  int   // of the region in the buffer
	make func(d *driver.Device, n int) (*driver.Buffer, error)
}{
	{"2 MiB pages", 21, 4097, contiguous},
	{"shuffled 4 KiB frames", 12, 0, func(d *driver.Device, n int) (*driver.Buffer, error) { return d.AllocBuffer(n, 1237) }},
}

// contiguous makes a buffer whose virtual and bus address differ in bit 21, so
// that larger pages do not fit.
func contiguous(d *driver.Device, n int) (*driver.Buffer, error) {
	b, err := d.AllocContiguous(1, 2<<20)
	if err == nil {
		err = b.Free() // the bus address comes again, the virtual one does not
	}
	if err != nil {
		return nil, err
	}
	return d.AllocContiguous(n, 2<<20)
}

// TestPages: SEND, WRITE and READ through a region whose pages the device gets as
// large ones or as many small ones, across page borders and to both ends.
func TestPages(t *testing.T) {
	const n = 4<<20 + 54_321
	for _, c := range buffers {
		t.Run(c.name, func(t *testing.T) {
			s := e2e.New(t, e2e.Options{})
			p := s.Pair()
			buf, mr := make([]*driver.Buffer, 2), make([]*driver.MR, 2)
			image := [][]byte{e2e.Bytes(n, 1), e2e.Bytes(n, 2)}
			for i, d := range []*e2e.Side{s.A, s.B} {
				var err error
				d.Do(func() {
					if buf[i], err = c.make(d.Dev, c.off+n); err == nil {
						mr[i], err = d.PD.RegMRRange(buf[i], c.off, n, anyAccess)
					}
				})
				require.NoError(t, err)
				require.NotZero(t, mr[i].Addr%2)
				require.Equal(t, c.log, d.NIC.MPT.KeyTable.Peek(int(mr[i].RKey.Index())).LogPage)
				_, err = buf[i].WriteAt(image[i], int64(c.off))
				require.NoError(t, err)
				broken := 0 // frames that do not follow the one before
				for k, f := range buf[i].Pages()[1:] {
					if f != buf[i].Pages()[k]+4096 {
						broken++
					}
				}
				require.Equal(t, c.log == 12, broken > len(buf[i].Pages())/2)
			}
			border := int(1<<21 - mr[0].Addr%(1<<21)) // the first of 2 MiB
			require.Equal(t, mr[0].Addr%(1<<21), mr[1].Addr%(1<<21))
			id := uint64(0)
			for _, m := range []struct{ src, dst, n int }{
				{0, n - 5001, 5001},
				{border - 1, border - 4096, 2},
				{border - 3333, border - 1, 7777},
				{n - 1, 0, 1},
				{border + 2<<20 - 1000, border + 1000, 20_001},
			} {
				id++
				sge := []driver.SGE{mr[0].SGE(m.src, m.n)}
				wr := driver.SendWR{ID: id, Op: abi.OpWrite, Signaled: true, SGEs: sge, RemoteAddr: mr[1].Addr + uint64(m.dst), RKey: mr[1].RKey}
				p.A.Send(wr)
				p.A.Sent(e2e.OK(id)...)
				copy(image[1][m.dst:m.dst+m.n], image[0][m.src:])

				wr.Op, wr.RemoteAddr = abi.OpRead, mr[1].Addr+uint64(m.src)
				p.A.Send(wr)
				p.A.Sent(e2e.OK(id)...)
				copy(image[0][m.src:m.src+m.n], image[1][m.src:])

				p.A.Recv(driver.RecvWR{ID: id, SGEs: []driver.SGE{mr[0].SGE(m.dst, m.n)}})
				p.B.Send(driver.SendWR{ID: id, Op: abi.OpSend, Signaled: true, SGEs: []driver.SGE{mr[1].SGE(m.dst, m.n)}})
				p.B.Sent(e2e.OK(id)...)
				p.A.Received(e2e.OK(id)...)
				copy(image[0][m.dst:m.dst+m.n], image[1][m.dst:])
			}
			for i := range buf { // every byte, so that nothing went elsewhere
				got := make([]byte, n)
				_, err := buf[i].ReadAt(got, int64(c.off))
				require.NoError(t, err)
				require.True(t, string(got) == string(image[i]), "memory of side %d", i)
			}
			s.Close()
		})
	}
}

// TestKeyLowByte: a key with another low byte than that of the registration is
// refused, here and at the peer, whichever bit it is; a region that is registered again at the same
// number has another, and the one before is stale.
func TestKeyLowByte(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	var stale, mr *driver.MR
	for mr == nil || mr.RKey.Index() != stale.RKey.Index() { // until the number comes again
		var err error
		s.B.Do(func() {
			if mr == nil {
				if stale, err = s.B.PD.RegMR(s.B.Buf, anyAccess); err == nil {
					err = stale.Dereg()
				}
			} else {
				err = mr.Dereg()
			}
			if err == nil {
				mr, err = s.B.PD.RegMR(s.B.Buf, anyAccess)
			}
		})
		require.NoError(t, err)
	}
	require.NotEqual(t, stale.RKey, mr.RKey)
	p.A.Fill(0, 64, 1)
	p.B.Fill(0, 64, 2)
	keys := []abi.Key{stale.RKey}
	for bit := range 8 {
		keys = append(keys, mr.RKey^1<<bit)
	}
	for _, key := range keys {
		p.A.Send(driver.SendWR{ID: 1, Op: abi.OpWrite, SGEs: []driver.SGE{p.A.MR.SGE(0, 64)}, RemoteAddr: mr.Addr, RKey: key})
		require.Equal(t, abi.VendorNAKAccess, p.A.Sent(e2e.All(abi.StatusRemAccess, 1)...)[0].VendorErr)
		again(t, s, p)
		sge := p.B.MR.SGE(0, 64)
		sge.LKey = key
		p.B.Send(driver.SendWR{ID: 2, Op: abi.OpSend, SGEs: []driver.SGE{sge}})
		require.Equal(t, abi.VendorLKeyUnknown, p.B.Sent(e2e.All(abi.StatusLocProt, 2)...)[0].VendorErr)
		again(t, s, p)
	}
	p.B.Fill(0, 64, 2)
	p.A.Fill(0, 64, 1)
	p.A.Send(driver.SendWR{ID: 3, Op: abi.OpWrite, Signaled: true, SGEs: []driver.SGE{p.A.MR.SGE(0, 64)}, RemoteAddr: mr.Addr, RKey: mr.RKey})
	p.A.Sent(e2e.OK(3)...)
	p.B.Demand(0, e2e.Bytes(64, 1))
}
