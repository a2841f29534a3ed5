package read_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/waves/read"
)

// head declares one variable of each kind; the changes begin in line 10.
const head = `$timescale 1ps $end
$scope module t $end
$var wire 1 ! a $end
$var wire 4 " b [3:0] $end
$var real 64 # r $end
$var string 1 $ s $end
$var event 1 % e $end
$upscope $end
$enddefinitions $end
`

// What tools write that trips other readers, and is read here.
func TestPitfallsThatAreRead(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a colon in a name", replaced(" a $end", " x:1 $end") + "#0\n1!\n", "t.x:1 wire 1 0=1"},
		{"an index that is glued to a name of 4 bits", replaced(" b [3:0]", " mem[3]") + "#0\nb1 \"\n", "t.mem[3] wire 4 0=0001"},
		{"a range that is glued", replaced(" b [3:0]", " b[3:0]") + "#0\nb1 \"\n", "t.b wire 4[3:0] 0=0001"},
		{"an index and a range", replaced(" b [3:0]", " mem[3] [3:0]") + "#0\nb1 \"\n", "t.mem[3] wire 4[3:0] 0=0001"},
		{"a bit of a vector", replaced(" a $end", " q [2] $end") + "#0\n1!\n", "t.q[2] wire 1 0=1"},
		{"an escaped name", replaced(" a $end", ` \a.b[1] $end`) + "#0\n1!\n", "t.a.b[1] wire 1 0=1"},
		{"a variable over several lines", replaced("$var wire 1 ! a $end", "$var\nwire\n1 !\r\n\ta $end") + "#0\n1!\n", "t.a wire 1 0=1"},
		{"two changes on a line", head + "#0 1! b10 \" #5 0!\n", "t.a wire 1 0=1 5=0\nt.b wire 4[3:0] 0=0010"},
		{"a comment among the changes", head + "#0\n1!\n$comment\n#5000\n0!\n$end\n#6\n0!\n", "t.a wire 1 0=1 6=0"},
		{"$end within a word of a comment", "$comment 5$end of $ending $end\n" + head + "#0\n1!\n", "t.a wire 1 0=1"},
		{"an empty string", head + "#0\nsA $\n#2\ns $\n", `t.s string 0 0="A" 2=""`},
		{"escapes in a string", head + "#0\ns\\040\\x41\\n\\\\\\134\\q $\n", `t.s string 0 0=" A\n\\\\\\q"`},
		{"a string in UTF-8", head + "#0\nsü $\n", `t.s string 0 0="ü"`},
		{"the same code twice", replaced("$var wire 4 \" b [3:0]", "$var wire 1 ! b") + "#0\n1!\n", "t.a wire 1 0=1\nt.b wire 1 0=1"},
		{"the same name twice", replaced(" b [3:0]", " a [3:0]") + "#0\nb1 \"\n1!\n", "t.a wire 1 0=1\nt.a wire 4[3:0] 0=0001"},
		{"a timescale of several words", replaced("$timescale 1ps $end", "$timescale\n\t100\n\tns\n$end") + "#0\n1!\n", "100ns 0..0"},
		{"b for one bit", head + "#0\nb1 !\n", "t.a wire 1 0=1"},
		{"upper case", head + "#0\nX!\nB1Z \"\n#1\nZ!\nR2 #\n", "t.a wire 1 0=x 1=z\nt.b wire 4[3:0] 0=001z"},
		{"no $dumpvars, and a first change later", head + "#0\n#3\n1!\n", "t.a wire 1 0=x 3=1"},
		{"values before any time", head + "$dumpvars\n0!\n$end\n#3\n1!\n", "t.a wire 1 0=0 3=1"},
		{"a real of no width", replaced("real 64", "real 0") + "#0\nr-2.5e3 #\n", "t.r real 0 0=-2500"},
		{"reals that are no numbers", head + "#0\nrNaN #\n#1\nrinf #\n", "t.r real 0 0=NaN 1=+Inf"},
		{"a byte order mark", "\xef\xbb\xbf" + head + "#0\n1!\n", "t.a wire 1 0=1"},
		{"a date of another language", "$date Fr. 3. März $end\n" + head + "#0\n1!\n", "t.a wire 1 0=1"},
		{"CR LF", strings.ReplaceAll(head+"#0\n1!\nsA $\n", "\n", "\r\n"), "t.a wire 1 0=1"},
		{"long codes", strings.ReplaceAll(head, " ! a", " clk_of_the_whole_thing a") + "#0\n1clk_of_the_whole_thing\n", "t.a wire 1 0=1"},
		{"glitches", head + "#1\n0!\n1!\n0!\n#2\n0!\n1!\n", "t.a wire 1 1=0 2=1"},
		{"an event that happens again", head + "#1\n1%\n#2\n1%\n#3\n1!\n#4\nx%\n", "t.e event 1 1 2"},
		{"extension to the left", head + "#1\nbx \"\n#2\nb0x \"\n#3\nbz1 \"\n#4\nb1x \"\n#5\nbu \"\n", "t.b wire 4[3:0] 1=xxxx 2=000x 3=zzz1 4=001x 5=uuuu"},
		{"std_logic", head + "#1\nu!\n#2\nw!\n#3\nl!\n#4\nh!\n#5\n-!\n#6\nbUXZW \"\n#7\nbLH-0 \"\n", "t.a wire 1 1=u 2=w 3=l 4=h 5=-\nt.b wire 4[3:0] 1=xxxx 6=uxzw 7=lh-0"},
		{"a type that nobody knows", replaced("wire 1", "quantum 1") + "#0\n1!\n", "t.a quantum 1 0=1"},
		{"a scope that nobody knows", replaced("module", "sv_whatever") + "#0\n1!\n", "t.a wire 1 0=1"},
		{"directives that nobody knows", "$timezero 3 $end\n" + head + "#0\n1!\n", "t.a wire 1 0=1"},
		{"the whole state in the middle", head + "#0\n$dumpvars 0! $end\n#1\n$dumpoff x! $end\n#2\n$dumpon 1! $end\n#3\n$dumpall 1! $end\n", "t.a wire 1 0=0 1=x 2=1"},
		{"the same time again", head + "#0\n1!\n#4\n0!\n#4\nb1 \"\n", "1ps 0..4"},
		{"a time of 64 bits", head + "#0\n#18446744073709551615\n1!\n", "0..18446744073709551615"},
		{"no timescale", replaced("$timescale 1ps $end\n", "") + "#0\n1!\n", "1ns 0..0"},
		{"the end of a dump", head + "#0\n1!\n$vcdclose #7 $end\n", "t.a wire 1 0=1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Contains(t, canon(t, vcd(t, c.text), true), c.want+map[bool]string{true: "\n"}[!strings.Contains(c.want, "ps ")])
		})
	}
}

func replaced(old, with string) string {
	if !strings.Contains(head, old) {
		panic(old)
	}
	return strings.Replace(head, old, with, 1)
}

// What cannot be understood in one way only is told with its line.
func TestPitfallsThatAreFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a space in a string", head + "#0\nsA b $\n", `line 11: no variable has the code "b", of the value "sA"`},
		{"a scalar for a vector", head + "#0\n1\"\n", `line 11: the value "1" for t.b, which has 4 bits`},
		{"a code of two widths", replaced("4 \" b", "4 ! b") + "#0\n", `line 4: $var wire 4 ! b [3:0]: the code "!" is taken by a variable of another width or kind`},
		{"a code of two kinds", replaced("real 64 #", "real 64 !") + "#0\n", `line 5: $var real 64 ! r: the code "!" is taken by a variable of another width or kind`},
		{"a variable after the header", head + "#0\n$var wire 1 & late $end\n", "line 11: $var after $enddefinitions: all must be declared before the first value"},
		{"time that goes back", head + "#5\n1!\n#4\n", "line 12: time 4 after 5"},
		{"a time that is cut", head + "#2999\n1!\n#30", "line 12: time 30 after 2999"},
		{"a time with a fraction", head + "#10.0\n", `line 10: time "#10.0" is no whole number`},
		{"a time below zero", head + "#-1\n", `line 10: time "#-1" is no whole number`},
		{"a time of 65 bits", head + "#18446744073709551616\n", `line 10: time "#18446744073709551616" is beyond 64 bits`},
		{"no time", head + "#\n", "line 10: # without a time"},
		{"a timescale of 435 ps", replaced("1ps", "435ps"), `line 1: timescale "435ps": must be 1, 10 or 100 of s, ms, us, ns, ps or fs`},
		{"a timescale of 0", replaced("1ps", "0ps"), `line 1: timescale "0ps": must be 1, 10 or 100 of s, ms, us, ns, ps or fs`},
		{"0b before a vector", head + "#0\n0b1010 \"\n", `line 11: no variable has the code "b1010", of the value "0"`},
		{"1'b0", head + "#0\n1'b0 !\n", `line 11: no variable has the code "'b0", of the value "1"`},
		{"no space before the code", head + "#0\nb1010\"\n", `line 12: the file ends within a change: "b1010\"" has no code`},
		{"no space before the code, and more", head + "#0\nb1010\"\n1!\n", `line 12: the value "b1010\"" has "\"", which is no digit: a space missing before the code?`},
		{"a space before the code of a scalar", head + "#0\n1 !\n", `line 11: the value "1" has no code: a space before it?`},
		{"a parameter of no width", replaced("wire 1", "parameter 0"), "line 3: $var parameter 0 ! a: a width of 0"},
		{"a width of no number", replaced("wire 1", "wire one"), `line 3: $var wire one ! a: "one" is no width`},
		{"a width that is huge", replaced("wire 1", "wire 1048577"), "line 3: a variable of 1048577 bits: at most 1048576"},
		{"a variable without a name", replaced(" a $end", " $end"), `line 3: $var "wire 1 !": must have a type, a width, a code and a name`},
		{"a code glued to the name", replaced("! a", "!a"), `line 3: $var "wire 1 !a": must have a type, a width, a code and a name`},
		{"a scope without a type", replaced("module t", "t"), `line 2: $scope "t": must have a type and a name`},
		{"$unscope", replaced("$upscope", "$unscope"), "line 9: the header ends within the scope t"},
		{"one $upscope too many", replaced("$upscope $end", "$upscope $end $upscope $end"), "line 8: the end of a scope that has not begun"},
		{"two files in one", head + "#0\n1!\n" + head, "line 12: $timescale after $enddefinitions: a second VCD in the file?"},
		{"a value too wide", head + "#0\nb10000 \"\n", "line 11: a value of 5 digits for t.b, which has 4 bits"},
		{"no digits", head + "#0\nb \"\n", "line 11: a value of 0 digits for t.b, which has 4 bits"},
		{"a real for a vector", head + "#0\nr1 \"\n", `line 11: the value "r1" for t.b, which has 4 bits`},
		{"a vector for a string", head + "#0\nb1 $\n", `line 11: the value "b1" for t.s, which is of type string`},
		{"a real with a comma", head + "#0\nr1,5 #\n", `line 11: "1,5" is no real number`},
		{"a code that is not declared", head + "#0\n1&\n", `line 11: no variable has the code "&", of the value "1"`},
		{"a long code that is not declared", head + "#0\n1abcdefgh\n", `line 11: no variable has the code "abcdefgh", of the value "1"`},
		{"a word that is nothing", head + "#0\nhello!\n", `line 11: no variable has the code "ello!", of the value "h"`},
		{"another word", head + "#0\nquit\n", `line 11: "quit" is no change, time or directive`},
		{"a directive that is none", head + "#0\n$dumpit\n", `line 11: "$dumpit" is no directive`},
		{"$end of nothing", head + "#0\n$end\n", "line 11: $end of nothing"},
		{"a dump within a dump", head + "#0\n$dumpvars\n$dumpall\n", "line 12: $dumpall within the $dumpvars of line 11"},
		{"a dump that does not end", head + "#0\n$dumpvars\n1!\n", "line 13: the file ends within the $dumpvars of line 11"},
		{"a comment that does not end", head + "#0\n$comment\n1!\n", "line 13: $comment of line 11 does not end"},
		{"a header that does not end", "$timescale 1ps $end\n", "line 2: the header does not end"},
		{"a directive that does not end", "$timescale 1ps\n", "line 2: $timescale of line 1 does not end"},
		{"values before the end of the header", "$timescale 1ps $end\n$dumpvars\n", "line 2: $dumpvars before $enddefinitions"},
		{"a word before the header", "hello\n" + head, `line 1: "hello" where a directive should begin`},
		{"extended VCD", head + "#0\n$dumpports\n", "line 11: $dumpports: extended VCD is not read"},
		{"a port", replaced("wire 1", "port 1"), "line 3: a port: extended VCD is not read"},
		{"a change of a port", head + "#0\npX 0 6 !\n", `line 11: "pX": extended VCD is not read`},
		{"a byte of 0", head + "#0\n\x001!\n", "line 11: byte 0x00"},
		{"an enum of no table", "$attrbegin misc 07 \"\" 3 $end\n" + head, "line 1: $attrbegin: enum 3 has no table"},
		{"an enum of too few values", "$attrbegin misc 07 st 2 A B 0 3 $end\n" + head, `line 1: a table of an enum says "2" values and has 3 words for them`},
		{"an enum without a number", "$attrbegin misc 07 st 1 A 0 x $end\n" + head, `line 1: $attrbegin: "x" is no number of an enum`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := read.NewVCD("a.vcd", strings.NewReader(c.text))
			if err == nil {
				for f.Next() {
				}
				err = f.Err()
				require.False(t, f.Next())
			}
			require.EqualError(t, err, "a.vcd: "+c.want)
		})
	}
}

// What hides nothing is a note.
func TestNotes(t *testing.T) {
	f := vcd(t, strings.TrimSuffix(replaced("$timescale 1ps $end\n", "")+"#3\n1!\n", "\n"))
	for f.Next() {
	}
	require.NoError(t, f.Err())
	require.Equal(t, []string{"a.vcd: no $timescale: 1ns is assumed", "a.vcd: line 10: the last line has no end: the file may be cut"}, f.Notes())
}

func TestDumping(t *testing.T) {
	for _, name := range []string{"icarus.vcd", "icarus-lz4.fst"} {
		f := open(t, "testdata", name)
		var off []uint64
		for f.Next() {
			if !f.Dumping() {
				off = append(off, f.Time())
			}
		}
		require.NoError(t, f.Err())
		require.Equal(t, []uint64{250}, off, name)
	}
}

func TestGzip(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, err := w.Write(bytesOf(t, "testdata", "icarus.vcd"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	want := canon(t, open(t, "testdata", "icarus.vcd"), true)
	require.Equal(t, want, canon(t, vcd(t, z.String()), true))
	cut, err := read.NewVCD("a.vcd", bytes.NewReader(z.Bytes()[:z.Len()-20]))
	require.NoError(t, err)
	for cut.Next() {
	}
	require.ErrorContains(t, cut.Err(), "unexpected EOF")

	z.Reset()
	w.Reset(&z)
	_, err = w.Write(bytesOf(t, "testdata", "verilator.fst"))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	_, err = read.NewVCD("a.fst.gz", &z)
	require.EqualError(t, err, "a.fst.gz: an FST within gzip: it is read in places, so unpack it first")
}

func TestTimescale(t *testing.T) {
	for _, c := range []string{"1fs", "10fs", "100fs", "1ps", "10ns", "100us", "1ms", "10ms", "1s", "10s", "100s"} {
		f := vcd(t, replaced("1ps", c)+"#0\n")
		require.Equal(t, c, f.Timescale())
	}
}
