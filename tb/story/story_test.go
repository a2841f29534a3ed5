package story_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/fault"
	"rnic/tb/story"
	"rnic/tb/transfer"
	"rnic/waves"
)

var update = flag.Bool("update", false, "write testdata")

// shape is a small run.
type shape struct {
	op     abi.WQEOp
	qps    int
	size   int // of a message
	count  int
	faults []string
	srq    bool
	config tb.Config
	limit  int
	fst    string // file of waves
	digest *uint64
	watch  func(*story.Recorder)
	naked  bool // without a Recorder
}

// run does a transfer and tells its story.
func run(t *testing.T, c shape) *story.Story {
	t.Helper()
	c.config.Seed = 1
	c.config.Digest = c.digest != nil
	b, err := tb.New(c.config)
	require.NoError(t, err)
	defer b.Close()
	var rec *story.Recorder
	if !c.naked {
		rec, err = story.Attach(b, story.Options{Limit: c.limit})
		require.NoError(t, err)
		if c.watch != nil {
			c.watch(rec)
		}
	}
	var w *waves.File
	if c.fst != "" {
		w, err = waves.CreateFST(c.fst, waves.Options{}, b.Hosts[0].K, b.Hosts[1].K)
		require.NoError(t, err)
	}
	data := make([]byte, c.size*c.count)
	for i := range data {
		data[i] = byte(i * 7)
	}
	job := transfer.Job{Data: bytes.NewReader(data), Op: c.op, MTU: roce.MTU1024, QPs: c.qps, MsgSize: c.size, Depth: 8, SRQ: c.srq}
	if c.faults != nil {
		specs, err := fault.ParseAll(c.faults...)
		require.NoError(t, err)
		job.Faults = fault.New(1, specs...)
	}
	_, err = job.Run(b)
	require.NoError(t, err)
	if w != nil {
		require.NoError(t, w.Close())
	}
	if c.digest != nil {
		*c.digest = b.World.Digest()
	}
	if rec == nil {
		return nil
	}
	return readBack(t, rec.Finish())
}

// readBack reads the file of a story, which is the same.
func readBack(t *testing.T, s *story.Story) *story.Story {
	t.Helper()
	b, err := s.JSON()
	require.NoError(t, err)
	back, err := story.Decode(bytes.NewReader(b))
	require.NoError(t, err)
	again, err := back.JSON()
	require.NoError(t, err)
	require.True(t, bytes.Equal(b, again))
	return s
}

var lossy = shape{op: abi.OpSend, qps: 2, size: 4096, count: 6, faults: []string{"drop b nth=5", "drop b nth=9", "drop a ack nth=6"}}

// TestLossy compares the file with the one that is kept.
func TestLossy(t *testing.T) {
	s := run(t, lossy)
	path := filepath.Join(t.TempDir(), "story.json")
	require.NoError(t, story.Write(path, s))
	got, err := os.ReadFile(path)
	require.NoError(t, err)
	const kept = "testdata/lossy.json"
	if *update {
		require.NoError(t, os.WriteFile(kept, got, 0o666))
	}
	want, err := os.ReadFile(kept)
	require.NoError(t, err)
	require.True(t, bytes.Equal(want, got), "the story of a lossy run is another: go test ./tb/story -update")
	back, err := story.Read(path)
	require.NoError(t, err)
	require.Equal(t, s, back)
}
