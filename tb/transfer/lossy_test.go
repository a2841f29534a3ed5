package transfer_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl"
	"rnic/rtl/dma"
	"rnic/tb"
	"rnic/tb/fault"
	"rnic/tb/transfer"
)

// faulty runs 24 messages of 3,000 bytes over two QPs with faults.
func faulty(t *testing.T, seed uint64, op abi.WQEOp, twoWay bool, retries transfer.Retries, texts ...string) (transfer.Result, *fault.Plan, uint64, error) {
	t.Helper()
	specs, err := fault.ParseAll(texts...)
	require.NoError(t, err)
	plan := fault.New(seed, specs...)
	b, err := tb.New(tb.Config{Seed: 1, Digest: true, NIC: rtl.Params{Dma: dma.Params{Timeout: 50_000}}})
	require.NoError(t, err)
	defer b.Close()
	j := transfer.Job{
		Data: bytes.NewReader(payload(24*3000, 1)), Op: op, MTU: roce.MTU1024, QPs: 2, MsgSize: 3000, Depth: 4,
		TwoWay: twoWay, Faults: plan, Retries: retries,
	}
	if op >= abi.OpCompareSwap {
		j.MsgSize = 8
	}
	r, err := j.Run(b)
	return r, plan, b.World.Digest(), err
}

// TestSurvived: faults that need no retry do no harm, whatever the operation; the end
// waits for what is late.
func TestSurvived(t *testing.T) {
	for _, c := range []struct {
		op     abi.WQEOp
		twoWay bool
		faults []string
	}{
		{abi.OpSend, false, []string{"duplicate b nth=1 times=all"}},
		{abi.OpSend, false, []string{"duplicate=500us b nth=72"}},
		{abi.OpSend, false, []string{"delay=5us b nth=72"}},
		{abi.OpSendImm, false, []string{"reorder=5 b nth=72"}},
		{abi.OpWriteImm, false, []string{"duplicate=3us b 20%", "delay=2us a ack 30%", "duplicate a ack 30%"}},
		{abi.OpWrite, true, []string{"duplicate=1us 10%", "delay=1us ack 20%", "reorder=2 ack 10%"}},
		{abi.OpWrite, true, []string{"duplicate=700us request times=all a", "duplicate=900us request times=all b"}},
		{abi.OpRead, false, []string{"duplicate=2us b read-request 20%", "pcie b read delay=3us 5%"}},
		{abi.OpFetchAdd, false, []string{"duplicate=1us b atomic nth=100 times=50"}},
		{abi.OpSend, false, []string{"pcie a read delay=4us nth=3 times=20", "pcie b write delay=5us nth=9"}},
		{abi.OpSend, false, []string{"pcie a stop=8us nth=30", "pcie b stop=8us nth=30", "pcie stop=500ns 5%"}},
		{abi.OpSend, false, []string{"corrupt a byte=6 ack nth=2", "drop 100% cnp"}},
	} {
		t.Run(fmt.Sprint(c.op, c.faults), func(t *testing.T) {
			r, plan, digest, err := faulty(t, 1, c.op, c.twoWay, transfer.Retries{}, c.faults...)
			require.NoError(t, err)
			want := 24
			if c.twoWay {
				want = 48
			}
			if c.op >= abi.OpCompareSwap {
				want = 9000
			} else {
				require.Positive(t, r.GoodputGbps)
			}
			require.Equal(t, want, r.Messages)
			for _, l := range plan.Report() {
				require.True(t, l.Struck > 0 || l.Spec.Rate > 0 && l.Seen < 30, "%v at %v: %d of %d", l.Spec, l.Host, l.Struck, l.Seen)
			}
			_, again, same, err := faulty(t, 1, c.op, c.twoWay, transfer.Retries{}, c.faults...)
			require.NoError(t, err)
			require.Equal(t, digest, same)
			require.Equal(t, plan.Report(), again.Report())
		})
	}
}

// TestFatal: what needs a retry ends a transfer that has none, and says so.
func TestFatal(t *testing.T) {
	none, long := uint8(0), uint8(14)
	retries := transfer.Retries{RetryCnt: &none, Timeout: &long}
	for text, want := range map[string]string{
		"drop b nth=5":                                 "RETRY_EXC_ERR",
		"badfcs b nth=5":                               "RETRY_EXC_ERR",
		"corrupt b nth=5":                              "RETRY_EXC_ERR",
		"truncate=-1 b nth=5":                          "RETRY_EXC_ERR",
		"truncate=60 b send nth=5":                     "RETRY_EXC_ERR",
		"reorder b first nth=3":                        "RETRY_EXC_ERR",
		"delay=1us b first nth=3":                      "RETRY_EXC_ERR",
		"drop a times=all":                             "RETRY_EXC_ERR (TIMEOUT)",
		"corrupt a field=syndrome set=0x63 repair ack": "REM_OP_ERR",
		"corrupt b field=qp repair nth=5":              "RETRY_EXC_ERR",
		"pcie a read ur nth=5":                         "LOC_QP_OP_ERR (DMA_READ)",
		"pcie a read ca nth=5":                         "LOC_QP_OP_ERR (DMA_READ)",
		"pcie a read poison nth=5":                     "LOC_QP_OP_ERR (DMA_READ)",
		"pcie a read never nth=5":                      "LOC_QP_OP_ERR (DMA_READ)",
		"pcie a read delay=300us nth=5":                "LOC_QP_OP_ERR (DMA_READ)", // beyond the completion timeout
	} {
		_, plan, digest, err := faulty(t, 1, abi.OpSend, false, retries, text)
		require.ErrorContains(t, err, want, text)
		require.Positive(t, plan.Report()[0].Struck)
		_, _, same, err2 := faulty(t, 1, abi.OpSend, false, retries, text)
		require.EqualError(t, err2, err.Error())
		require.Equal(t, digest, same)
	}
}

// TestRates: a seed is a run, another another.
func TestRates(t *testing.T) {
	digests := map[uint64]bool{}
	for seed := range uint64(4) {
		_, _, d, err := faulty(t, seed, abi.OpWrite, false, transfer.Retries{}, "duplicate=1us 10%")
		require.NoError(t, err)
		digests[d] = true
	}
	require.Len(t, digests, 4)
}

// TestMissed: a fault that does not strike fails the run.
func TestMissed(t *testing.T) {
	_, _, _, err := faulty(t, 1, abi.OpSend, false, transfer.Retries{}, "drop b nth=73", "duplicate b nth=2", "pcie a read ur nth=10000")
	require.ErrorContains(t, err, `fault "drop b nth=73" struck 0 of 1 times at host b, where 72 matched`)
	require.ErrorContains(t, err, `fault "pcie a read ur nth=10000" struck 0 of 1 times at host a, where `)
	require.NotContains(t, err.Error(), "duplicate")
}

// TestRetriesChecked: attributes that a connection cannot have are refused.
func TestRetriesChecked(t *testing.T) {
	v := func(n uint8) *uint8 { return &n }
	for want, r := range map[string]transfer.Retries{
		"a timeout of 0: must be 1 to 31":         {Timeout: v(0)},
		"a timeout of 32: must be 1 to 31":        {Timeout: v(32)},
		"a retry count of 8: must be 0 to 7":      {RetryCnt: v(8)},
		"an RNR retry count of 8: must be 0 to 7": {RNRRetry: v(8)},
	} {
		j := transfer.Job{Data: bytes.NewReader(payload(64, 1)), Op: abi.OpSend, MTU: roce.MTU1024, QPs: 1, MsgSize: 64, Depth: 4, Retries: r}
		require.EqualError(t, j.Check(), want)
	}
}
