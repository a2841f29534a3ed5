package main_test

import (
	"flag"
	"fmt"
	"image"
	_ "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/waves/vcdnorm"
)

var update = flag.Bool("update", false, "write the cycles of docs/send.md anew")

const docs = "../../docs"

// row is a row of a table with cycles: cycle, perhaps cycles since the first row of
// the run that has them, and at the end the signal, which of its beats, and the value of a
// field of it.
var row = regexp.MustCompile("^\\| (\\d+) \\|(?: \\+(\\d+) \\|)?(.*)`(host_[ab][\\w.]*)\\.fire` (first|last|\\d+(?:st|nd|rd|th))(?:; `\\.([\\w.]+)` (\\w+))? \\|$")

// beats are the cycles in which a stream moves, in order.
func beats(t testing.TB, f *vcdnorm.File, stream string) []int64 {
	v := f.Find(stream + ".fire")
	require.NotNil(t, v, stream)
	var cycles []int64
	for i, c := range v.Changes {
		end := f.End
		if i+1 < len(v.Changes) {
			end = v.Changes[i+1].Time
		}
		for at := c.Time; c.Value == "1" && at < end; at += period {
			cycles = append(cycles, at/period)
		}
	}
	require.NotEmpty(t, cycles, stream)
	return cycles
}

// The cycles of docs/send.md are those of the runs that it names.
func TestSendDoc(t *testing.T) {
	path := filepath.Join(docs, "send.md")
	dir := t.TempDir()
	var f *vcdnorm.File
	var base, before int64
	rows, lines := 0, strings.Split(string(read(t, path)), "\n")
	for i, l := range lines {
		if args, ok := strings.CutPrefix(l, "rnic run "); ok {
			rnic(t, dir, append(strings.Fields("run "+args), "--out", "o")...)
			f, base, before = parse(t, dir, "o", "rnic.vcd"), -1, 0
		}
		if strings.HasPrefix(l, "| cycle |") {
			before = 0
		}
		m := row.FindStringSubmatch(l)
		if m == nil {
			require.NotRegexp(t, `^\| *\d`, l, "line %d", i+1)
			continue
		}
		rows++
		all := beats(t, f, m[4])
		var cycle int64
		switch m[5] {
		case "first":
			cycle = all[slices.IndexFunc(all, func(c int64) bool { return c >= base })]
		case "last":
			cycle = all[len(all)-1]
		default:
			n, err := strconv.Atoi(m[5][:len(m[5])-2])
			require.NoError(t, err)
			cycle = all[n-1]
		}
		if m[2] != "" && base < 0 {
			base = cycle
		}
		require.GreaterOrEqual(t, cycle, before, "line %d: earlier than the row before", i+1)
		before = cycle
		if m[6] != "" {
			name := m[4] + "." + m[6]
			require.Equal(t, m[7], f.At(name+"_name", cycle*period), "line %d", i+1)
		}
		rest := l[strings.Index(l[2:], " |")+2:]
		want := fmt.Sprintf("| %d%s", cycle, rest)
		if m[2] != "" {
			want = fmt.Sprintf("| %d | +%d |%s", cycle, cycle-base, strings.SplitN(l, "|", 4)[3])
		}
		if *update {
			lines[i] = want
		} else {
			require.Equal(t, want, l, "line %d: go test ./cmd/rnic -run SendDoc -update", i+1)
		}
	}
	require.Greater(t, rows, 40)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o666))
	}
}

// What the documents point to is there.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	n := 0
	for _, doc := range []string{"send.md", "faults.md", "loss.md", "waves-tools.md", "debugging.md", "scenarios.md", "../README.md"} {
		path := filepath.Join(docs, doc)
		for _, m := range link.FindAllStringSubmatch(string(read(t, path)), -1) {
			if !strings.Contains(m[1], "://") {
				require.FileExists(t, existing(filepath.Join(filepath.Dir(path), m[1])), "%s: %s", doc, m[1])
				n++
			}
		}
	}
	require.Greater(t, n, 30)
}

// existing is a file in the place of a folder.
func existing(path string) string {
	if s, err := os.Stat(path); err == nil && s.IsDir() {
		if files, err := filepath.Glob(filepath.Join(path, "*.*")); err == nil && len(files) > 0 {
			return files[0]
		}
	}
	return path
}

// The pictures are pictures, and not large.
func TestPictures(t *testing.T) {
	for _, name := range []string{"waveform.png", "packets.png", "lost-ack.png", "timeout.png", "wrong-rkey.png", "deadlock.png"} {
		p := filepath.Join(docs, "img", name)
		b := read(t, p)
		require.Less(t, len(b), 300<<10, name)
		f, err := os.Open(p)
		require.NoError(t, err)
		defer f.Close()
		img, _, err := image.Decode(f)
		require.NoError(t, err)
		require.Greater(t, img.Bounds().Dx(), 1000)
		colours := map[[4]uint32]bool{}
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				r, g, b, a := img.At(x, y).RGBA()
				colours[[4]uint32{r, g, b, a}] = true
			}
		}
		require.Greater(t, len(colours), 50, "%s is blank", name)
	}
}

// A tool that make waves lacks is named in one line.
func TestPicturesNeedTools(t *testing.T) {
	bin := t.TempDir()
	for _, tool := range []string{"bash", "dirname"} {
		p, err := exec.LookPath(tool)
		if err != nil {
			t.Skipf("%s is missing", tool)
		}
		require.NoError(t, os.Symlink(p, filepath.Join(bin, tool)))
	}
	c := exec.Command(filepath.Join(bin, "bash"), filepath.Join(docs, "make-pictures.sh"))
	c.Env = []string{"PATH=" + bin}
	out, err := c.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, "make waves: missing: go gtkwave Xvfb xvfb-run xauth wireshark xdotool convert import awk chromium (Debian: golang gtkwave xvfb xauth wireshark xdotool imagemagick chromium)\n", string(out))
}
