package rnic_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// leaves know nothing of the NIC; abi and roce may use bits.
var leaves = []string{"hdl", "bits", "abi", "roce", "pcie"}

// allowed is what each part of the project may import of it. A test package may
// import anything: the bench lies above what it tests.
func allowed(from, to string) bool {
	in := func(list ...string) bool {
		for _, l := range list {
			if to == l || strings.HasPrefix(to, l+"/") {
				return true
			}
		}
		return false
	}
	part, _, _ := strings.Cut(from, "/")
	switch part {
	case "bits", "hdl":
		return in(part)
	case "abi", "roce", "pcie":
		return in(part, "bits")
	case "rtl":
		return in(append(leaves, "rtl")...)
	case "driver":
		return in("abi", "bits", "driver")
	case "waves":
		return in("hdl", "roce", "waves", "bits")
	case "bench":
		return in("hdl", "roce", "waves", "bench")
	case "tb", "cmd":
		return !in("cmd")
	}
	return false
}

// TestImports enforces the layers of the project.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	require.NoError(t, err)
	n := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); ; n++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		from := strings.TrimPrefix(p.ImportPath, "rnic/")
		for _, i := range p.Imports {
			if to, ours := strings.CutPrefix(i, "rnic/"); ours && !allowed(from, to) {
				t.Errorf("%s must not import %s", from, to)
			}
		}
	}
	require.Greater(t, n, 10, "packages found")
}
