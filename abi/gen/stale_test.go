package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
)

const root = "../.."

// TestNotStale fails while a derived file is not what the package says.
func TestNotStale(t *testing.T) {
	files, err := render(root)
	require.NoError(t, err)
	require.Len(t, files, 2)
	for _, f := range files {
		got, err := os.ReadFile(filepath.Join(root, f.path))
		require.NoError(t, err)
		require.True(t, string(f.text) == string(got), "%s is stale: run go generate ./abi", f.path)
	}
}

func TestGenerateWritesBoth(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "abi"), os.DirFS(root+"/abi")))
	require.NoError(t, generate(dir))
	for _, name := range []string{"docs/registers.md", "include/rnic_abi.h"} {
		want, err := os.ReadFile(filepath.Join(root, name))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, string(want), string(got))
	}
	require.Error(t, generate(filepath.Join(dir, "missing")))
}

// TestLinks demands that every link in the reference has its heading, once.
func TestLinks(t *testing.T) {
	p, err := readProse(root + "/abi")
	require.NoError(t, err)
	text, err := markdown(p)
	require.NoError(t, err)
	headings := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(string(text), -1) {
		anchor := strings.ReplaceAll(strings.ToLower(m[1]), " ", "-")
		require.False(t, headings[anchor], "heading %s twice", anchor)
		headings[anchor] = true
	}
	links := regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, links)
	for _, m := range links {
		require.True(t, headings[m[1]], "no heading %s", m[1])
	}
}

// TestReferenceIsComplete looks for everything that the package lists.
func TestReferenceIsComplete(t *testing.T) {
	b, err := os.ReadFile(root + "/docs/registers.md")
	require.NoError(t, err)
	text := string(b)
	for _, r := range abi.Registers() {
		require.Contains(t, text, r.Name)
	}
	for _, c := range abi.Counters() {
		require.Contains(t, text, "| "+c.String()+" |")
	}
	for _, s := range abi.Structures() {
		require.Contains(t, text, "\n### "+s.Name+"\n")
	}
	for _, e := range abi.Enums() {
		require.Contains(t, text, "\n### "+e.Name+"\n")
	}
}

func TestSnake(t *testing.T) {
	for name, want := range map[string]string{
		"Op": "op", "NumSGE": "num_sge", "RKey": "rkey", "LKey": "lkey", "PKeyIndex": "pkey_index", "QKey": "qkey",
		"SQLogUnits": "sq_log_units", "SQDAsyncNotify": "sqd_async_notify", "SQDraining": "sq_draining",
		"RQPSN": "rq_psn", "DestQPN": "dest_qpn", "MinRNRTimer": "min_rnr_timer", "RNRRetryLeft": "rnr_retry_left",
		"UDPSPort": "udp_sport", "SGIDIndex": "sgid_index", "DMAC": "dmac", "VLANValid": "vlan_valid", "VLAN": "vlan",
		"MaxRdAtomic": "max_rd_atomic", "PushWQE": "push_wqe", "LogMaxCQ": "log_max_cq", "MACHi": "mac_hi",
		"Param0": "param0", "WQEOps": "wqe_ops", "QPTypes": "qp_types", "GIDs": "gids", "PKeys": "pkeys", "SRQN": "srqn",
		"WCOpcode": "wc_opcode", "MaxMRSize": "max_mr_size", "MSIX": "msix", "SendCQN": "send_cqn", "AV": "av",
	} {
		require.Equal(t, want, snake(name))
	}
}

// TestMembersCover demands that the members of every structure have different
// names and lie side by side over all of its bytes, aligned as C aligns them.
func TestMembersCover(t *testing.T) {
	for _, s := range abi.Structures() {
		ms, err := members(s)
		require.NoError(t, err)
		names, at := map[string]bool{}, 0
		for i := range ms {
			m := &ms[i]
			require.False(t, names[m.name], "%s.%s twice", s.Name, m.name)
			names[m.name] = true
			require.Equal(t, at, m.off, "%s.%s", s.Name, m.name)
			at += m.size
		}
		require.Equal(t, s.Size, at, s.Name)
	}
}

// TestConstantsComplete demands that every exported constant without a type of
// its own is in the header, registers (which have their table) apart.
func TestConstantsComplete(t *testing.T) {
	known := map[string]bool{"NUMCOUNTERS": true, "GLOBALBASE": true}
	for _, c := range constants {
		known[strings.ReplaceAll(c.name, "_", "")] = true
	}
	p, err := readProse(root + "/abi")
	require.NoError(t, err)
	checked := 0
	for _, group := range p.pkg.Consts {
		for _, name := range group.Names {
			if strings.HasPrefix(name, "Reg") {
				continue
			}
			require.True(t, known[strings.ToUpper(name)], "%s is not in the header", name)
			checked++
		}
	}
	require.GreaterOrEqual(t, checked, len(constants))
}
