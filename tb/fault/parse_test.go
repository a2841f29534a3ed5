package fault

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// specs are one of each kind, as String writes them.
var specs = []string{
	"drop b nth=5", "drop 1%", "drop b 0.0001% not=ack,nak", "drop a ack times=all", "drop b psn=+3 times=2",
	"drop b last qp=0x1a psn=0xfffffe", "drop a read-response first middle 12.5%", "drop b request nth=2 from=10us to=1ms",
	"duplicate b nth=2", "duplicate=5us b send", "delay=300ns b 0.5%", "delay=1500us a answer nth=2", "reorder b nth=1", "reorder=3 b 2%",
	"corrupt b 0.1%", "corrupt b ack byte=50 nth=2", "corrupt a byte=-1 xor=0xff", "corrupt b write field=rkey xor=0x100 repair",
	"corrupt a ack field=syndrome set=0x60 repair", "corrupt a byte=0 set=0x0", "truncate=60 b", "truncate=-4 b only nth=3", "badfcs b 1%",
	"pcie a read delay=5us nth=3", "pcie b write delay=1us 1%", "pcie a read ur nth=2", "pcie read ca 0.1%", "pcie a read poison addr=0x1000",
	"pcie a read never tag=5 times=all", "pcie a read write ur addr=0x1000..0x1fff nth=2", "pcie b stop=20us nth=10", "pcie stop=200ns 5%", "pcie a write poison",
}

// TestWords: a spec and its words are the same.
func TestWords(t *testing.T) {
	for _, text := range specs {
		s, err := Parse(text)
		require.NoError(t, err)
		require.Equal(t, text, s.String())
		var u Spec
		b, err := s.MarshalText()
		require.NoError(t, err)
		require.NoError(t, u.UnmarshalText(b))
		require.Equal(t, s, u)
	}
	for text, same := range map[string]string{
		"  b\tdrop  nth=5 ":            "drop b nth=5",
		"nth=2 byte=0x10 corrupt b":    "",
		"delay=20cycles b":             "delay=80ns b",
		"delay=1cycle b":               "delay=4ns b",
		"duplicate=0.5us b times=1":    "duplicate=500ns b times=1",
		"drop 100% nth=1":              "",
		"drop 100.0%":                  "drop 100%",
		"drop b qp=26":                 "drop b qp=0x1a",
		"a read nth=3 delay=5us pcie":  "pcie a read delay=5us nth=3",
		"drop b send drop":             "",
		"pcie a read ur addr=4096":     "pcie a read ur addr=0x1000",
		"pcie a read ur addr=1..0x1":   "pcie a read ur addr=0x1",
		"corrupt b field=psn xor=0x01": "corrupt b field=psn xor=0x1",
	} {
		s, err := Parse(text)
		if same == "" {
			require.Error(t, err, text)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, same, s.String())
	}
	s, err := Parse("delay=1.5ms b not=rnr,atomic from=1us")
	require.NoError(t, err)
	require.Equal(t, Spec{Action: Delay, Host: B, Wait: 1500 * time.Microsecond, Except: kindOf("rnr") | kindOf("atomic"), From: time.Microsecond}, s)
}

// TestRefused: what is wrong is said, and where it stands.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		text string
		at   int
		want string
	}{
		{"", 1, "says not what is to happen: must have one of drop, duplicate, delay, reorder, corrupt, truncate, badfcs"},
		{"pcie a read", 12, "says not what is to happen: must have one of delay, ur, ca, poison, never, stop"},
		{"drp b", 1, `"drp" is no word of a fault: must be one of drop, duplicate, delay=, reorder,`},
		{"drop c nth=1", 6, `"c" is no word of a fault`},
		{"drop", 5, "says not at which host"},
		{"drop b nth=0", 8, "nth=0: must be a number from 1 on"},
		{"drop b nth=two", 8, "nth=two: must be a number from 1 on"},
		{"drop b nth=", 8, "nth needs a value: nth=N"},
		{"drop b nth", 8, "nth needs a value: nth=N"},
		{"drop=3 b", 1, "drop takes no value"},
		{"drop b a", 8, "a: there is b already"},
		{"drop b delay=1us", 8, "delay=1us: there is drop already"},
		{"drop b nth=1 nth=2", 14, "nth=2: there is nth=1 already"},
		{"drop b send send", 13, "send: there is send already"},
		{"drop b 1% nth=2", 11, "1% and nth=2 exclude each other"},
		{"drop b times=all 1%", 18, "times=all and 1% exclude each other"},
		{"drop 0%", 6, "0%: must be a rate from 0.0001% to 100%"},
		{"drop 101%", 6, "101%: must be a rate"},
		{"drop 0.00001%", 6, "0.00001%: must be a rate"},
		{"drop x%", 6, "x%: must be a rate"},
		{"drop 1% 2%", 9, "2%: there is 1% already"},
		{"drop b psn=-3", 8, "psn=-3: must be a number from 0 to 16777215"},
		{"drop b psn=0x1000000", 8, "psn=0x1000000: must be a number from 0 to 16777215"},
		{"drop b not=ack,x", 8, `not=ack,x: "x" is no kind of packet: must be of request, answer,`},
		{"drop b byte=3", 8, "byte=3 belongs to corrupt"},
		{"drop b read", 8, "read belongs to a fault of PCIe, which begins with pcie"},
		{"pcie a read drop", 13, "drop belongs to a fault of the wire, without pcie"},
		{"delay b", 1, "delay needs a value: delay=TIME"},
		{"delay=5 b", 1, "delay=5: must be a time from 1ns to 1s, as 300ns, 5us, 1.5ms or 20cycles"},
		{"delay=-1us b", 1, "delay=-1us: must be a time"},
		{"delay=2s b", 1, "delay=2s: must be a time"},
		{"delay=0cycles b", 1, "delay=0cycles: must be a time"},
		{"delay=999999999999999cycles b", 1, "must be a time"},
		{"reorder=0 b", 1, "reorder=0: must be a number from 1 to 1000"},
		{"reorder= b", 1, "reorder needs a value: reorder=N"},
		{"truncate=0 b", 1, "truncate=0: must not be 0"},
		{"truncate=x b", 1, "truncate=x: must be a number from -9999 to 9999"},
		{"corrupt b byte=1 field=psn", 18, "byte=1 and field=psn exclude each other"},
		{"corrupt b byte=1 set=1 xor=1", 24, "set=1 and xor=1 exclude each other"},
		{"corrupt b byte=1 set=256", 18, "0x100 is more than the 8 bits of a byte"},
		{"corrupt b field=psn set=0x1000000", 21, "0x1000000 is more than the 24 bits of psn"},
		{"corrupt b field=icrc repair", 22, "repair makes the ICRC right again"},
		{"corrupt b field=ttl", 11, "field=ttl: no such field: must be one of dst-mac,"},
		{"corrupt b set=1", 11, "set=1 needs byte= or field="},
		{"drop b from=2us to=1us", 17, "to=1us: must be later than from"},
		{"pcie a ur", 10, "says not of what: must have read or write"},
		{"pcie a write never", 8, "a write has no completion"},
		{"pcie a write ur tag=1", 17, "only reads have tags"},
		{"pcie a read ur tag=256", 16, "tag=256: must be a number from 0 to 255"},
		{"pcie a stop=21ms", 8, "stop=21ms: must be at most 20ms on PCIe"},
		{"pcie a read ur addr=5..4", 16, "addr=5..4: must be a number from 5 on"},
	} {
		_, err := Parse(c.text)
		var e *ParseError
		require.ErrorAs(t, err, &e, c.text)
		require.Equal(t, c.at, e.At+1, "%v", err)
		require.Contains(t, e.Msg, c.want)
		require.NotContains(t, err.Error(), "\n")
	}
	_, err := Parse("drop b nth=two")
	require.EqualError(t, err, `fault "drop b nth=two", at 8: nth=two: must be a number from 1 on`)
}

// FuzzParse: a text is refused at a place within it, or is a spec that its own words say.
func FuzzParse(f *testing.F) {
	for _, s := range specs {
		f.Add(s)
	}
	f.Add("corrupt b byte=\x00 xor=%")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			e := err.(*ParseError)
			require.True(t, e.At >= 0 && e.At <= len(text))
			return
		}
		again, err := Parse(s.String())
		require.NoError(t, err, "%q gave %q", text, s)
		require.Equal(t, s, again)
		require.Equal(t, strings.Join(strings.Fields(s.String()), " "), s.String())
	})
}
