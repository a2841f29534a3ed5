package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/bits"
)

// gcc compiles a program that includes the header and returns what it prints.
// Without gcc the test is skipped, but fails where CI is set.
func gcc(t *testing.T, source string, flags ...string) string {
	t.Helper()
	if _, err := exec.LookPath("gcc"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("gcc is not installed")
		}
		t.Skip("gcc is not installed: the C header is not checked")
	}
	dir := t.TempDir()
	src, bin := filepath.Join(dir, "x.c"), filepath.Join(dir, "x")
	require.NoError(t, os.WriteFile(src, []byte(source), 0o644))
	args := append([]string{"-std=c11", "-Wall", "-Wextra", "-pedantic", "-I", root + "/include", src, "-o", bin}, flags...)
	out, err := exec.Command("gcc", args...).CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command(bin).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

const mainC = `#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "rnic_abi.h"

void dump(const void *p, size_t n);
void dump(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("%02x", ((const unsigned char *)p)[i]);
	printf("\n");
}

int main(void)
{
`

// TestBytesEqualC fills every structure in C, member by member, and compares
// its bytes with those of the Go encoder for the same values.
func TestBytesEqualC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var c bytes.Buffer
	var want, names []string
	c.WriteString(mainC)
	add := func(name string, source string, encoded []byte) {
		c.WriteString(source)
		want = append(want, hex.EncodeToString(encoded))
		names = append(names, name)
	}
	oracle(t, rng, add, abi.MSIXEntryLayout)
	oracle(t, rng, add, abi.DoorbellLayout)
	oracle(t, rng, add, abi.WQEControlLayout)
	oracle(t, rng, add, abi.RemoteSegmentLayout)
	oracle(t, rng, add, abi.SGELayout)
	oracle(t, rng, add, abi.AtomicSegmentLayout)
	oracle(t, rng, add, abi.AHSegmentLayout)
	oracle(t, rng, add, abi.BindSegmentLayout)
	oracle(t, rng, add, abi.FastRegSegmentLayout)
	oracle(t, rng, add, abi.WQELayout)
	oracle(t, rng, add, abi.WQEInlineLayout)
	oracle(t, rng, add, abi.WQEAtomicLayout)
	oracle(t, rng, add, abi.WQESGEsLayout)
	oracle(t, rng, add, abi.WQEUDLayout)
	oracle(t, rng, add, abi.WQEBindLayout)
	oracle(t, rng, add, abi.WQEFastRegLayout)
	oracle(t, rng, add, abi.RWQEControlLayout)
	oracle(t, rng, add, abi.CQELayout)
	oracle(t, rng, add, abi.EventLayout)
	oracle(t, rng, add, abi.AdminCommandLayout)
	oracle(t, rng, add, abi.AdminCompletionLayout)
	oracle(t, rng, add, abi.DeviceMailboxLayout)
	oracle(t, rng, add, abi.EQMailboxLayout)
	oracle(t, rng, add, abi.CQMailboxLayout)
	oracle(t, rng, add, abi.MRMailboxLayout)
	oracle(t, rng, add, abi.AVLayout)
	oracle(t, rng, add, abi.QPMailboxLayout)
	oracle(t, rng, add, abi.AHMailboxLayout)
	oracle(t, rng, add, abi.SRQMailboxLayout)
	covered := map[string]bool{}
	for _, n := range names {
		covered[n] = true
	}
	for _, s := range abi.Structures() {
		require.True(t, covered[s.CName], "%s is not compared", s.Name)
	}
	c.WriteString("\treturn 0;\n}\n")
	got := strings.Fields(gcc(t, c.String(), "-Werror"))
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i], got[i], "%s, case %d", names[i], i)
	}
}

// oracle adds cases for one structure: all ones, then random values.
func oracle[T any](t *testing.T, rng *rand.Rand, add func(string, string, []byte), l *bits.Layout[T]) {
	for round := range 4 {
		var v T
		var c bytes.Buffer
		fmt.Fprintf(&c, "\t{\n\t\tstruct rnic_%s s;\n\t\tmemset(&s, 0, sizeof s);\n", l.Name)
		s, _ := nestedStructure(reflect.TypeFor[T]())
		require.NotNil(t, s, l.Name)
		fill(t, &c, *s, "s", reflect.ValueOf(&v).Elem(), func() uint64 {
			if round == 0 {
				return ^uint64(0)
			}
			return rng.Uint64()
		})
		c.WriteString("\t\tdump(&s, sizeof s);\n\t}\n")
		b := make([]byte, l.Size)
		l.Encode(&v, b)
		add(l.Name, c.String(), b)
	}
}

// fill draws a value for every field of structure s, stores it in the Go value
// and writes the C statements that do the same to path.
func fill(t *testing.T, c *bytes.Buffer, s abi.Structure, path string, v reflect.Value, draw func() uint64) {
	ms, err := members(s)
	require.NoError(t, err)
	for i := range ms {
		m := &ms[i]
		target := path + "." + m.name
		switch {
		case m.nested != nil && m.count > 0:
			for j := range m.count {
				fill(t, c, *m.nested, fmt.Sprintf("%s[%d]", target, j), v.FieldByName(m.goName).Index(j), draw)
			}
		case m.nested != nil:
			fill(t, c, *m.nested, target, v.FieldByName(m.goName), draw)
		case m.reserved():
		case m.bytes:
			for j := range m.size {
				x := draw() & 0xff
				v.FieldByName(m.fields[0].Name).Index(j).SetUint(x)
				fmt.Fprintf(c, "\t\t%s[%d] = %du;\n", target, j, x)
			}
		default:
			assign(c, m, target, put(m, s, v, draw))
		}
	}
}

// put stores a drawn value in each field of a member and returns the C
// expression of the member's number.
func put(m *member, s abi.Structure, v reflect.Value, draw func() uint64) string {
	var terms []string
	for _, f := range m.fields {
		if f.Reserved {
			continue
		}
		x := draw() >> (64 - f.Width)
		if field := v.FieldByName(f.Name); field.Kind() == reflect.Bool {
			field.SetBool(x == 1)
		} else {
			field.SetUint(x)
		}
		if f.Width == m.size*8 {
			return fmt.Sprintf("UINT64_C(%d)", x)
		}
		terms = append(terms, fmt.Sprintf("RNIC_PUT(RNIC_%s_%s, %du)", strings.ToUpper(s.CName), strings.ToUpper(snake(f.Name)), x))
	}
	return strings.Join(terms, " | ")
}

func assign(c *bytes.Buffer, m *member, target, expr string) {
	switch {
	case m.size == 1:
		fmt.Fprintf(c, "\t\t%s = (uint8_t)(%s);\n", target, expr)
	case m.isWord():
		fmt.Fprintf(c, "\t\t%s = rnic_cpu_to_le%d((uint%d_t)(%s));\n", target, m.size*8, m.size*8, expr)
	default:
		fmt.Fprintf(c, "\t\trnic_put24(%s, (uint32_t)(%s));\n", target, expr)
	}
}

// TestConstantsEqualC prints every constant and the helpers' results from C.
func TestConstantsEqualC(t *testing.T) {
	var c bytes.Buffer
	var want []string
	c.WriteString(mainC)
	eq := func(expr string, value uint64) {
		fmt.Fprintf(&c, "\tprintf(\"%%s=%%\" PRIu64 \"\\n\", %q, (uint64_t)(%s));\n", expr, expr)
		want = append(want, fmt.Sprintf("%s=%d", expr, value))
	}
	for _, k := range constants {
		eq("RNIC_"+k.name, k.value)
	}
	for _, r := range abi.Registers() {
		eq("RNIC_REG_"+r.Name, uint64(r.Offset))
		eq("RNIC_REG_"+r.Name+"_RESET", uint64(r.Reset))
		for _, f := range r.Fields {
			if !f.Reserved && len(r.Fields) > 1 {
				name := "RNIC_" + r.Name + "_" + strings.ToUpper(snake(f.Name))
				eq("RNIC_GET(0xa5c3f00fu, "+name+")", 0xa5c3f00f>>f.BitOffset&(1<<f.Width-1))
			}
		}
	}
	for _, n := range abi.Counters() {
		eq("RNIC_COUNTER_ADDR(RNIC_COUNTER_"+strings.ToUpper(n.String())+")", uint64(abi.CounterAddr(n)))
	}
	for _, e := range abi.Enums() {
		for _, v := range e.Values {
			eq("RNIC_"+e.Prefix+"_"+v.Name, uint64(v.Value))
		}
	}
	for n := range 20 {
		eq(fmt.Sprintf("rnic_wqe_units(%d, 0)", n), uint64(abi.WQEUnits(n, 0)))
		eq(fmt.Sprintf("rnic_wqe_units(0, %d)", n*31+1), uint64(abi.WQEUnits(0, n*31+1)))
		eq(fmt.Sprintf("rnic_rq_stride(%d)", n), uint64(abi.RQStride(n)))
	}
	for _, i := range []uint16{0, 1, 15, 16, 31, 32, 32767, 32768, 65535} {
		for log := uint8(0); log <= abi.MaxLogRing; log++ {
			phase := uint64(0)
			if abi.RingPhase(i, log) {
				phase = 1
			}
			eq(fmt.Sprintf("rnic_ring_phase(%d, %d)", i, log), phase)
			eq(fmt.Sprintf("rnic_ring_slot(%d, %d)", i, log), uint64(abi.RingSlot(i, log)))
		}
	}
	eq("rnic_doorbell_pack(0x123456, RNIC_DOORBELL_CQ_ARM, 1, 0xabcd)",
		abi.Doorbell{Number: 0x123456, Kind: abi.DoorbellCQArm, SolicitedOnly: true, Index: 0xabcd}.Pack())
	eq("rnic_doorbell_pack(0xffffffffu, 0xff, 0, 0xffff)", abi.Doorbell{Number: 0xffffffff, Kind: 0xff, Index: 0xffff}.Pack())
	eq("rnic_key(0x123456, 0x78)", uint64(abi.MakeKey(0x123456, 0x78)))
	eq("rnic_key_index(0x12345678)", uint64(abi.Key(0x12345678).Index()))
	eq("RNIC_DOORBELL_ADDR(255u)", uint64(abi.DoorbellAddr(255)))
	eq("RNIC_PUSH_ADDR(3u)", uint64(abi.PushAddr(3)))
	c.WriteString("\treturn 0;\n}\n")
	require.Equal(t, strings.Join(want, "\n"), strings.TrimSpace(gcc(t, c.String(), "-Werror")))
}

// TestBigEndianHost takes the branch for big-endian hosts, where the functions
// exchange bytes.
func TestBigEndianHost(t *testing.T) {
	out := gcc(t, mainC+`
	uint8_t b[3];
	rnic_put24(b, 0x010203);
	dump(b, sizeof b);
	printf("%x %x %" PRIx64 " %x\n", rnic_cpu_to_le16(0x0102), rnic_cpu_to_le32(0x01020304),
	       rnic_cpu_to_le64(UINT64_C(0x0102030405060708)), rnic_get24(b));
	return 0;
}
`, "-U__BYTE_ORDER__", "-D__BYTE_ORDER__=__ORDER_BIG_ENDIAN__")
	require.Equal(t, "030201\n201 4030201 807060504030201 10203\n", out)
}
