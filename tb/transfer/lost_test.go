package transfer_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/fault"
	"rnic/tb/host"
	"rnic/tb/transfer"
)

// lossy runs 24 messages over two QPs with faults.
func lossy(t *testing.T, tr abi.QPType, op abi.WQEOp, size int, srq bool, texts ...string) (transfer.Result, error) {
	t.Helper()
	specs, err := fault.ParseAll(texts...)
	require.NoError(t, err)
	b, err := tb.New(tb.Config{Seed: 1})
	require.NoError(t, err)
	defer b.Close()
	j := transfer.Job{
		Data: bytes.NewReader(payload(24*size, 1)), Transport: tr, Op: op, MTU: roce.MTU1024, QPs: 2, MsgSize: size, Depth: 4,
		SRQ: srq, Faults: fault.New(1, specs...),
	}
	return j.Run(b)
}

// TestLost: of UC and UD what is lost is told, and what comes again too. Nothing else is
// lost.
func TestLost(t *testing.T) {
	for _, c := range []struct {
		tr             abi.QPType
		op             abi.WQEOp
		size           int
		lost, repeated int
		faults         []string
	}{
		{abi.QPTypeUC, abi.OpSend, 3000, 2, 0, []string{"drop b nth=5", "drop b nth=25"}},
		{abi.QPTypeUC, abi.OpSendImm, 3000, 1, 0, []string{"drop b first nth=3"}},
		{abi.QPTypeUC, abi.OpWrite, 3000, 3, 0, []string{"drop b first nth=3", "drop b last nth=6", "badfcs b middle nth=9"}},
		{abi.QPTypeUC, abi.OpWriteImm, 3000, 1, 0, []string{"corrupt b nth=70"}},
		{abi.QPTypeUC, abi.OpSend, 500, 1, 3, []string{"duplicate b nth=2 times=3", "drop b only nth=24"}},
		{abi.QPTypeUC, abi.OpSend, 500, 24, 0, []string{"drop b times=all nth=1"}},
		{abi.QPTypeUD, abi.OpSend, 1000, 2, 0, []string{"drop b nth=5", "truncate=60 b nth=24"}},
		{abi.QPTypeUD, abi.OpSendImm, 1000, 0, 24, []string{"duplicate=500us b nth=1 times=all"}},
		{abi.QPTypeUD, abi.OpSend, 1000, 1, 0, []string{"reorder=5 b nth=2", "delay=700us b nth=20", "corrupt b field=qkey repair nth=7"}},
		{abi.QPTypeUD, abi.OpSend, 1000, 0, 0, []string{"pcie b stop=80us nth=30", "pcie b read delay=300us nth=2", "pcie a stop=90us nth=30"}},
	} {
		for _, srq := range []bool{false, c.op != abi.OpWrite} {
			t.Run(fmt.Sprint(c.tr, c.op, c.faults, srq), func(t *testing.T) {
				r, err := lossy(t, c.tr, c.op, c.size, srq, c.faults...)
				require.NoError(t, err)
				require.Equal(t, c.lost, r.Lost)
				require.Equal(t, 24-c.lost, r.Messages)
				require.Equal(t, int64((24-c.lost)*c.size), r.Bytes)
				require.Equal(t, c.repeated, r.Repeated)
				require.Equal(t, c.lost < 24, r.GoodputGbps > 0)
			})
		}
	}
}

// TestWrong: what arrives must have been sent.
func TestWrong(t *testing.T) {
	for _, c := range []struct {
		tr   abi.QPType
		op   abi.WQEOp
		text string
		want string
	}{
		{abi.QPTypeUC, abi.OpSend, "corrupt b byte=60 repair nth=5", "which are no message: message 4: byte 6 is"},
		{abi.QPTypeUC, abi.OpWrite, "corrupt b byte=80 repair nth=5", "message 4: byte 10 is"},
		{abi.QPTypeUD, abi.OpSend, "corrupt b byte=80 repair nth=5", "which are no message"},
		{abi.QPTypeUD, abi.OpSendImm, "corrupt b field=imm set=7 repair nth=5", "immediate data 7"},
		{abi.QPTypeUD, abi.OpSendImm, "drop b nth=25", `fault "drop b nth=25" struck 0 of 1 times at host b, where 24 matched`},
	} {
		_, err := lossy(t, c.tr, c.op, 500, false, c.text)
		require.ErrorContains(t, err, c.want, c.text)
	}
}

// TestRounds: messages of UC and UD over several rounds, of which each has its share of
// losses.
func TestRounds(t *testing.T) {
	for _, tr := range []abi.QPType{abi.QPTypeUC, abi.QPTypeUD} {
		for _, srq := range []bool{false, true} {
			specs, err := fault.ParseAll("drop b 2%", "duplicate b 1%")
			require.NoError(t, err)
			b, err := tb.New(tb.Config{Seed: 1})
			require.NoError(t, err)
			j := transfer.Job{
				Data: bytes.NewReader(payload(13001*4, 1)), Transport: tr, MTU: roce.MTU256, QPs: 3, MsgSize: 4, Depth: 32, Batch: 8, SRQ: srq,
				Faults: fault.New(1, specs...),
			}
			r, err := j.Run(b)
			b.Close()
			require.NoError(t, err)
			require.Equal(t, 13001, r.Messages+r.Lost)
			require.InDelta(t, 260, r.Lost, 80)
			require.InDelta(t, 130, r.Repeated, 60)
		}
	}
}

// TestNoRoom: a host that is too slow loses messages of UC and UD without a fault, and
// says where.
func TestNoRoom(t *testing.T) {
	for _, tr := range []abi.QPType{abi.QPTypeUC, abi.QPTypeUD} {
		b, err := tb.New(tb.Config{Seed: 1})
		require.NoError(t, err)
		b.Hosts[1].Machine.RC.Params.Read = host.Constant(40_000_000)
		j := transfer.Job{Data: bytes.NewReader(make([]byte, 200*4096)), Transport: tr, MTU: roce.MTU4096, QPs: 1, MsgSize: 4096, Depth: 64, Batch: 8}
		r, err := j.Run(b)
		b.Close()
		require.NoError(t, err)
		require.Positive(t, r.Lost)
		require.Equal(t, 200, r.Messages+r.Lost)
		require.Equal(t, uint64(r.Lost), r.Counters[1][abi.RxDropOverflow]+r.Counters[1][abi.OutOfBuffer])
		require.Less(t, r.GoodputGbps, 0.9*r.WireLimitGbps)
	}
}

// TestTransportChecked: what a transport cannot do is refused.
func TestTransportChecked(t *testing.T) {
	reserved, twice := uint16(0x1fff), uint8(2)
	for want, change := range map[string]func(*transfer.Job){
		"transport RAW_PACKET: must be RC, UC or UD":               func(j *transfer.Job) { j.Transport = abi.QPTypeRaw },
		"READ over UC: must be SEND, SEND_IMM, WRITE or WRITE_IMM": func(j *transfer.Job) { j.Transport, j.Op = abi.QPTypeUC, abi.OpRead },
		"WRITE over UD: must be SEND or SEND_IMM":                  func(j *transfer.Job) { j.Transport, j.Op = abi.QPTypeUD, abi.OpWrite },
		"messages of 1025 bytes over UD: at most the MTU, 1024":    func(j *transfer.Job) { j.Transport, j.MsgSize = abi.QPTypeUD, 1025 },
		"both ways over UC: must be RC":                            func(j *transfer.Job) { j.Transport, j.Op, j.TwoWay = abi.QPTypeUC, abi.OpWrite, true },
		"retries over UD, which acknowledges nothing: must be RC":  func(j *transfer.Job) { j.Transport, j.Retries.RetryCnt = abi.QPTypeUD, &twice },
		"an SRQ with WRITE, which takes no receives":               func(j *transfer.Job) { j.SRQ, j.Op = true, abi.OpWrite },
		"VLAN 4095: must be 0 to 4094":                             func(j *transfer.Job) { j.VLAN = &reserved },
		"messages of 33554432 bytes over 4 QPs of UC: at most 67108864 bytes together": func(j *transfer.Job) {
			j.Transport, j.QPs, j.MsgSize = abi.QPTypeUC, 4, 32<<20
		},
	} {
		j := transfer.Job{Data: bytes.NewReader(payload(64, 1)), MTU: roce.MTU1024, QPs: 1, MsgSize: 64, Depth: 4}
		change(&j)
		require.EqualError(t, j.Check(), want)
	}
}
