package scenario

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
)

var update = flag.Bool("update", false, "write the tables of docs/scenarios.md")

const shipped = "../../scenarios"

// files are the shipped scenarios.
func files(t testing.TB) []string {
	l, err := filepath.Glob(filepath.Join(shipped, "*.yaml"))
	require.NoError(t, err)
	require.Greater(t, len(l), 30)
	return l
}

func load(t testing.TB, path string) *Scenario {
	s, err := Load(path)
	require.NoError(t, err)
	return s
}

// failures are the checks of a report that failed.
func failures(r *Report) (l []string) {
	for _, c := range r.Checks {
		if !c.Pass {
			l = append(l, fmt.Sprintf("%s: line %d: %s: expected %s, came %s", c.Group, c.Line, c.What, c.Want, c.Got))
		}
	}
	return l
}

// Every shipped scenario passes, and each of its expectations can fail.
func TestShipped(t *testing.T) {
	for _, path := range files(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			s := load(t, path)
			require.NoError(t, s.play(Options{Seed: 1}, func(r *run) {
				require.Empty(t, failures(r.judge()))
				r.breakAll(func(what string, line int) {
					require.NotEmpty(t, failures(r.judge()), "line %d holds when %s", line, what)
				})
				require.Empty(t, failures(r.judge()))
			}))
		})
	}
}

// breakAll breaks one expectation after the other.
func (r *run) breakAll(broken func(what string, line int)) {
	x := &r.s.Expect
	for _, c := range x.Completions {
		old := *c
		c.Status = abi.StatusGeneral
		broken("the status is another", c.Line)
		*c = old
		c.steps = c.steps[1:]
		broken("it is not there", c.Line)
		*c = old
		c.At = Range{true, 1 << 60, 1 << 61}
		broken("its time is another", c.Line)
		*c = old
		if c.Status != abi.StatusSuccess {
			c.Vendor = int(abi.VendorBind)
		} else {
			c.Opcode = int(abi.WCBindMW)
		}
		broken("opcode or vendor error is another", c.Line)
		*c = old
		for _, g := range []*Range{&c.Bytes, &c.Imm} {
			if g.Set {
				g.Lo, g.Hi = g.Lo+1, g.Hi+1
				broken("a number is another", c.Line)
				*c = old
			}
		}
	}
	for _, m := range x.Memory {
		g := r.sides[m.mr.Host]
		for i, mr := range r.s.MRs {
			if mr == m.mr {
				for _, at := range []uint64{m.Offset, m.Offset + m.Size - 1} {
					g.after[i][at] ^= 0x10
					broken("a byte is another", m.Line)
					g.after[i][at] ^= 0x10
				}
			}
		}
	}
	for _, v := range x.Events {
		v.Type++
		broken("its type is another", v.Line)
		v.Type--
	}
	for _, l := range [][]*Packet{x.Packets, x.Order} {
		for _, p := range l {
			old := *p
			p.Count = exactly(1000)
			p.Wait = exactly(1)
			broken("count or wait is another", p.Line)
			*p = old
			if p.PSN.Set {
				p.PSN.N += 1000
				if old.Count.Lo > 0 {
					broken("its PSN is another", p.Line)
				}
				*p = old
			}
		}
	}
	for i := range x.Counters {
		for c, v := range x.Counters[i] {
			x.Counters[i][c] = Counted{v.Pos, exactly(v.Hi + 1)}
			broken(c.String()+" is another", v.Line)
			x.Counters[i][c] = v
		}
	}
	for _, v := range x.States {
		old := v.State
		v.State = abi.QPInit
		broken("the state is another", v.Line)
		v.State = old
	}
}

// A strict run of a scenario is the same run.
func TestStrict(t *testing.T) {
	for _, name := range []string{"send", "lost_read_response", "lost_atomic_ack", "nak_invalid_request", "fence"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := load(t, filepath.Join(shipped, name+".yaml"))
			fast, err := s.Run(Options{Seed: 3, Digest: true})
			require.NoError(t, err)
			strict, err := s.Run(Options{Seed: 3, Strict: true, Order: 7, Digest: true})
			require.NoError(t, err)
			require.Equal(t, fast, strict)
			require.Empty(t, failures(strict))
		})
	}
}

// head is the comment at the top of a file: its first line, and the rest.
func head(t testing.TB, path string) (title, rest string) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	var l []string
	for line := range strings.SplitSeq(string(b), "\n") {
		c, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		l = append(l, strings.TrimSpace(c))
	}
	require.Greater(t, len(l), 2, "%s begins with a comment", path)
	return l[0], strings.Join(l[1:], "\n")
}

// index is the table of the shipped files.
func index(t testing.TB) string {
	var b strings.Builder
	b.WriteString("| file | what happens |\n|---|---|\n")
	for _, path := range files(t) {
		title, rest := head(t, path)
		require.NotEmpty(t, strings.TrimSpace(rest), path)
		name := filepath.Base(path)
		fmt.Fprintf(&b, "| [%s](../scenarios/%s) | %s |\n", name, name, strings.TrimSuffix(title, "."))
	}
	return b.String()
}

// The page of the language has all of it, and all shipped files.
func TestDocs(t *testing.T) {
	const path = "../../docs/scenarios.md"
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	text := string(data)
	for mark, table := range map[string]string{"reference": Reference(), "index": index(t)} {
		begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->"
		before, rest, ok := strings.Cut(text, begin)
		require.True(t, ok, "%s has %q", path, begin)
		have, after, ok := strings.Cut(rest, end)
		require.True(t, ok, "%s has %q", path, end)
		if !*update {
			require.Equal(t, table, have, "go test ./tb/scenario -run TestDocs -update")
		}
		text = before + begin + table + end + after
	}
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o666))
	}
	// The examples of the page are scenarios, and pass.
	blocks := strings.Split(text, "```yaml\n")[1:]
	require.NotEmpty(t, blocks)
	for _, b := range blocks {
		b, _, _ = strings.Cut(b, "```")
		s, err := Read("example", []byte(b))
		require.NoError(t, err)
		r, err := s.Run(Options{Seed: 1})
		require.NoError(t, err)
		require.Empty(t, failures(r))
	}
}
