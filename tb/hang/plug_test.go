package hang_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/hdl"
	"rnic/tb"
	"rnic/tb/hang"
)

// TestParsePlug: a plug can be asked for by text in every place. One that stops is the root
// of what hangs, or what is behind it; one that breaks a rule ends the run there.
func TestParsePlug(t *testing.T) {
	ops := map[string]abi.WQEOp{"answers": abi.OpRead}
	hosts := map[string]string{"answers": "b", "payload": "b"}
	for _, place := range hang.Places() {
		host, op := "a", abi.OpWrite
		if h, ok := hosts[place]; ok {
			host = h
		}
		if o, ok := ops[place]; ok {
			op = o
		}
		start := func(what string) *rig {
			insert, err := hang.ParsePlug(host + " " + place + "  " + what)
			require.NoError(t, err)
			r := newRig(t, tb.Config{Insert: insert}, attr{})
			r.do(0, "app", func(_ *hdl.Thread, e *end) error {
				for range 16 {
					if _, err := e.qp.PostSend(e.wr(op, 5000)); err != nil {
						return err
					}
				}
				for range 16 {
					if err := e.wait(); err != nil {
						return err
					}
				}
				return nil
			})
			return r
		}
		start("stop=1000000").finishes()
		require.Equal(t, "host_"+host, start("stop=1").hangs().Root().Host, place)
		var f *hdl.Fault
		r := start("break=2")
		require.ErrorAs(t, r.dog.Run(r.b.Done, 1_000_000), &f, place)
		require.Equal(t, "host_"+host+".test", f.Path)
		require.Contains(t, f.Msg, "second Put in one cycle")
	}
	for text, want := range map[string]string{
		"":                        "must be HOST PLACE stop=N",
		"c keys stop=1":           "must be HOST PLACE stop=N",
		"a keys stop=0":           "beats count from 1",
		"a keys stop=99999999999": "beats count from 1",
		"a nowhere stop=1":        `no place "nowhere": there are answers, completions, frames, keys, packets, payload`,
	} {
		_, err := hang.ParsePlug(text)
		require.ErrorContains(t, err, want, text)
	}
}
