package driver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

func TestRawFrames(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{Type: abi.QPTypeRaw, MaxSend: 4, MaxRecv: 4, MaxSendSGE: 2, MaxRecvSGE: 1, MaxInline: 64})
	require.NoError(t, p.a.Start(0))
	require.NoError(t, p.b.Start(0))
	_, err := p.a.PostRecv(driver.RecvWR{ID: 1, SGEs: []driver.SGE{p.mr.SGE(0, 200)}}, driver.RecvWR{ID: 2, SGEs: []driver.SGE{p.mr.SGE(200, 200)}})
	require.NoError(t, err)
	p.m.settle()
	p.m.frame([]byte("nobody is there"), false, 0)
	require.NoError(t, p.dev.SetRawQP(p.a))
	p.m.settle()
	p.m.frame([]byte("a frame"), false, 0)
	p.m.frame([]byte("tagged"), true, 0xa123)
	wcs := poll(t, p.cq)
	require.Equal(t, []uint64{1, 2}, ids(wcs))
	require.Zero(t, wcs[0].Flags)
	require.Equal(t, abi.CQEVLAN, wcs[1].Flags)
	require.EqualValues(t, 0xa123, wcs[1].Imm)
	require.Equal(t, "a frame", read(t, p.buf, 0, 7))
	require.EqualValues(t, 6, wcs[1].ByteLen)

	frame := strings.Repeat("0123456789", 5)
	write(t, p.buf, 1000, frame)
	_, err = p.b.PostSend(
		driver.SendWR{ID: 3, Op: abi.OpSend, Inline: []byte(frame), Signaled: true},
		driver.SendWR{ID: 4, Op: abi.OpSend, SGEs: []driver.SGE{p.mr.SGE(1000, 14), p.mr.SGE(1020, 30)}, Signaled: true},
		driver.SendWR{ID: 5, Op: abi.OpSend, Inline: []byte(frame[:13])},
	)
	require.NoError(t, err)
	p.m.settle()
	require.Equal(t, []string{frame, frame[:14] + frame[20:]}, p.m.wire)
	wcs = poll(t, p.cq)
	require.Equal(t, []uint64{3, 4, 5}, ids(wcs))
	require.Equal(t, abi.StatusLocLen, wcs[2].Status, "the device judges")
	require.NoError(t, p.b.Modify(driver.QPAttr{State: abi.QPRTS}, abi.AttrState), "from SQE")
}

func TestSetRawQP(t *testing.T) {
	p := unconnected(t, driver.Config{}, driver.QPConfig{Type: abi.QPTypeRaw})
	reg := func() uint32 { p.m.settle(); return p.m.reg[abi.RegRawQPN/4] }
	require.NoError(t, p.dev.SetRawQP(p.b))
	require.Equal(t, p.b.Number(), reg())
	require.NoError(t, p.dev.SetRawQP(p.a))
	require.Equal(t, p.a.Number(), reg())
	require.NoError(t, p.b.Destroy())
	require.Equal(t, p.a.Number(), reg(), "another QP's end")
	require.NoError(t, p.a.Destroy())
	require.Zero(t, reg())
	require.ErrorIs(t, p.dev.SetRawQP(p.a), driver.ErrInvalid, "destroyed")
	rc, err := p.pd.CreateQP(driver.QPConfig{SendCQ: p.cq, RecvCQ: p.cq})
	require.NoError(t, err)
	require.ErrorIs(t, p.dev.SetRawQP(rc), driver.ErrInvalid)
	other := unconnected(t, driver.Config{}, driver.QPConfig{Type: abi.QPTypeRaw})
	require.ErrorIs(t, p.dev.SetRawQP(other.a), driver.ErrInvalid)
	require.NoError(t, other.dev.SetRawQP(other.a))
	require.NoError(t, other.dev.SetRawQP(nil))
	other.m.settle()
	require.Zero(t, other.m.reg[abi.RegRawQPN/4])
	require.NoError(t, p.dev.Close())
	require.ErrorIs(t, p.dev.SetRawQP(nil), driver.ErrInvalid)
}
