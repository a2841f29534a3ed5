package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
}

// short is random traffic of one seed.
var short = []Judge{{Name: "random", Pkg: "tb/mutants/judge", Args: []string{"random", "2"}}}

// TestCaught: a fault of the list is caught, a change that changes nothing survives,
// and the tree is as it was.
func TestCaught(t *testing.T) {
	root, err := moduleRoot()
	require.NoError(t, err)
	all, err := Parse(list)
	require.NoError(t, err)
	var faults []Fault
	for _, f := range all {
		if f.Name == "completion-phase" {
			faults = append(faults, f)
		}
	}
	require.Len(t, faults, 1)
	same := faults[0]
	same.Name, same.Is, same.New = "nothing", "nothing is wrong", "// Right.\n"+same.Old
	path := filepath.Join(root, same.File)
	before, err := os.ReadFile(path)
	require.NoError(t, err)

	var out bytes.Buffer
	err = tryAll(context.Background(), root, append(faults, same), short, 2, &out)
	require.ErrorContains(t, err, "fault nothing survives: rtl/cq_writer/cq.go:")
	require.NotContains(t, err.Error(), "completion-phase")
	require.Regexp(t, `^completion-phase +random, [\d.]+ s: seed 2: .+
nothing +SURVIVES
2 faults, 1 caught
$`, out.String())

	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestUnsound: judges that fail without a fault say nothing about one.
func TestUnsound(t *testing.T) {
	root, err := moduleRoot()
	require.NoError(t, err)
	judge := []Judge{{Name: "random", Pkg: "tb/mutants/judge", Args: []string{"random", "no seed"}}}
	err = tryAll(context.Background(), root, nil, judge, 1, &bytes.Buffer{})
	require.EqualError(t, err, `random fails without a fault: strconv.ParseUint: parsing "no seed": invalid syntax`)
}

func TestReason(t *testing.T) {
	for out, want := range map[string]string{
		"seed 3: nothing has moved\nhost_a, cycle 7: QP 0x2: wrong (IBTA 1)\nrepeat it: x\n": "seed 3: host_a, cycle 7: QP 0x2: wrong (IBTA 1)",
		"seed 3: nothing has moved\n\trepeat it\n":                                           "seed 3: nothing has moved",
		"--- FAIL: TestA (0.1s)\n    a_test.go:3: \n        \tError Trace:\ta_test.go:3\n        \tError:      \tNot equal: \n        \t            \texpected: 1\n        \t            \tactual  : 2\n": "TestA: Not equal: expected: 1",
		"panic: no\n\ngoroutine 1": "panic: no",
	} {
		require.Equal(t, want, reason(out))
	}
}
