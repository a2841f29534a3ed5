package vcdnorm

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const good = `$date simulated time $end
$timescale 1ps $end
$scope module top $end
$var wire 1 ! clk $end
$scope struct head $end
$attrbegin misc 07 "" 1 $end
$var reg 4 " state [3:0] $end
$var string 1 # state_name $end
$upscope $end
$upscope $end
$enddefinitions $end
#5
$dumpvars
1!
bx "
s #
$end
#10
0!
b1 "
sA\040\134b #
#20
bx1 "
#30
`

func TestGood(t *testing.T) {
	f, err := Check(strings.NewReader(good))
	require.NoError(t, err)
	require.Equal(t, `1ps 5..30
top.clk wire 1 5="1" 10="0"
top.head.state reg 4 5="xxxx" 10="0001" 20="xxx1"
top.head.state_name string 1 5="" 10="A \\b"
`, f.Canon())
	require.Equal(t, "0001", f.At("top.head.state", 19))
	require.Equal(t, "", f.At("top.head.state", 4))
	require.Equal(t, "", f.At("top.none", 9))
	require.Nil(t, f.Find("top.none"))
	require.Equal(t, "module.struct.", f.Find("top.head.state").Scope)
}

// Each of these trips one reader or another.
func TestCheckRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"$timescale 1ps", "$timescale 435ps"},
		{"$timescale 1ps $end\n", ""},
		{"$scope module top", "$scope top"},
		{"$scope module top", "$scope nonsense top"},
		{"$upscope $end\n$upscope", "$upscope"},
		{"$upscope", "$unscope"},
		{"$upscope $end\n$upscope $end", "$upscope $end\n$upscope $end\n$upscope $end"},
		{" clk ", " x:1 "},
		{" clk ", " q[3] "},
		{" clk ", " a.b "},
		{" clk ", " a b "},
		{" clk ", " head "},
		{" state_name ", " state "},
		{"$var wire 1 ! clk $end", "$var wire 1\n! clk $end"},
		{"$var wire 1 ! clk $end", "$var wire 1 !clk $end"},
		{"$var wire 1 ! clk", "$var bogus 1 ! clk"},
		{"$var wire 1 !", "$var wire 0 !"},
		{" 4 \" state [3:0]", " 4 \" state[3:0]"},
		{" 4 \" state [3:0]", " 4 \" state"},
		{" 4 \" state [3:0]", " 4 ! state [3:0]"},
		{" 4 \" state [3:0]", " 4 $ state [3:0]"},
		{" 4 \" state [3:0]", " 5 \" state [3:0]"},
		{"$date", "\xef\xbb\xbf$date"},
		{"#10", "#10.0"},
		{"#10", "#5"},
		{"#10", "#4"},
		{"#5\n", ""},
		{"$dumpvars\n", ""},
		{"1!\n", ""},
		{"0!", "1!"},
		{"0!", "0 !"},
		{"0!", "b0 !"},
		{"0!", "0!\n1!"},
		{"0!\nb1 \"", "0! b1 \""},
		{"b1 \"", "b1\""},
		{"b1 \"", "b01 \""},
		{"b1 \"", "b11111 \""},
		{"b1 \"", "b0b1 \""},
		{"b1 \"", "b \""},
		{"b1 \"", "1\""},
		{"b1 \"", "b1 &"},
		{"bx1 \"", "bxx1 \""},
		{"sA\\040\\134b #", "sA b #"},
		{"sA\\040\\134b #", "b1 #"},
		{"sA\\040\\134b #", "s\xc3\xbc #"},
		{"b1 \"", "sx \""},
		{"#20", "$comment\n#5000\n$end\n#20"},
		{"#30\n", "#30"},
		{"#20\n", "#20\n\n"},
		{"$enddefinitions $end\n", ""},
		{"$end\n#10", "#10"},
	} {
		bad := strings.Replace(good, c[0], c[1], 1)
		require.NotEqual(t, good, bad, c[0])
		_, err := Check(strings.NewReader(bad))
		require.Error(t, err, "%q for %q", c[1], c[0])
	}
	for i := range good {
		f, err := Check(strings.NewReader(good[:i]))
		require.True(t, err != nil || f.End < 30, "cut at %d", i)
	}
}

// What other tools write is read with the same meaning.
func TestReadIsLenient(t *testing.T) {
	const other = "$date\n\tx\n$end\n$timescale\n\t1ps\n$end\n$comment hello $end\n$scope module top $end\n$scope struct head $end\n" +
		"$var reg 4 0 state [3:0] $end\n$var string 0 1 state_name $end\n$upscope $end\n$var wire 1 2 clk $end\n$upscope $end\n" +
		"$enddefinitions $end\n#5\n$dumpvars\nbxxxx 0\ns 1\n1 2\n$end\n#10\n"
	f, err := Read(strings.NewReader(strings.ReplaceAll(other, "1 2\n", "12\n") + "b0001 0\nsA\\040\\134b 1\n02\n#20\nb0001 0\nbxxx1 0\n#30\n"))
	require.NoError(t, err)
	want, err := Check(strings.NewReader(good))
	require.NoError(t, err)
	require.Equal(t, want.Canon(), f.Canon())
}

func FuzzRead(f *testing.F) {
	f.Add(good)
	f.Add("$scope module a $end $var wire 1 ! b $end $upscope $end")
	f.Fuzz(func(t *testing.T, s string) {
		strict, err := Check(strings.NewReader(s))
		if err != nil {
			return
		}
		lenient, err := Read(strings.NewReader(s))
		require.NoError(t, err)
		require.Equal(t, strict.Canon(), lenient.Canon())
	})
}
