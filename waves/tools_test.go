package waves_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/wavetest"
)

func save(t *testing.T, name, text string) string {
	p := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(p, []byte(text), 0o666))
	return p
}

func TestFSTRoundTrip(t *testing.T) {
	wavetest.RoundTrip(t, save(t, "rich.vcd", record(t, 500, waves.Options{}, hdl.Options{})))
	wavetest.RoundTrip(t, save(t, "portable.vcd", record(t, 500, waves.Options{Profile: waves.Portable}, hdl.Options{})))
	wavetest.RoundTrip(t, save(t, "world.vcd", world(t, 75, waves.Options{})))
}

func TestGTKWaveReadsTheValues(t *testing.T) {
	vcd := save(t, "top.vcd", record(t, 50, waves.Options{}, hdl.Options{}))
	got := wavetest.GTKWave(t, `
say "facs [gtkwave::getNumFacs] [gtkwave::getMinTime]..[gtkwave::getMaxTime] [gtkwave::getTimeDimension]"
for {set i 0} {$i < [gtkwave::getNumFacs]} {incr i} { gtkwave::addSignalsFromList [list [gtkwave::getFacName $i]] }
foreach t {79999 80000 84000 92000} {
	gtkwave::setMarker $t
	set l $t
	foreach s {top.tx.state[1:0] top.tx.state_name top.tx.psn[23:0] top.rx.in.valid top.rx.in.head.data[31:0] top.rx.seen.port_0.write} {
		lappend l [gtkwave::getTraceValueAtMarkerFromName $s]
	}
	say $l
}`, vcd)
	require.Equal(t, `facs 26 0..200000 p
79999 00 IDLE 000000 0 xxxxxxxx 0
80000 01 SEND 000000 0 xxxxxxxx 0
84000 01 SEND 000001 1 000000AA 1
92000 10 WAIT 000003 1 000002AA 1
`, got)
}
