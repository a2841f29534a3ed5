package waves_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
	"rnic/waves/wavetest"
)

// odd is an enum whose names need care everywhere.
type odd uint8

func (odd) Width() int { return 4 }
func (o odd) String() string {
	return [...]string{"plain", "a b", "", "größe", "$end", `back\slash`, "new\nline", "#5000", `"quoted"`, "\x00"}[o]
}

// code is an enum too wide to list.
type code uint16

func (code) Width() int       { return 12 }
func (c code) String() string { return fmt.Sprintf("code %d", uint16(c)) }

// wide has a value of each kind that the rest of the tests lack.
type wide struct {
	Data  [64]byte
	Small int16
	Long  int64
	Big   uint64
	Bit   bit
	Odd   odd
	Code  code
	Pair  [2]struct{ A, B uint8 }
}

type bit uint8

func (bit) Width() int { return 1 }

type oddities struct {
	hdl.Regs[wide]
	Mem hdl.RAM[bit]
}

func (m *oddities) Eval() {
	n := m.Now()
	d := &m.D
	d.Small, d.Long, d.Big = int16(-n), -int64(n*n*n*n*n*n), n*n*n*n*n*n*n*n*n
	d.Bit, d.Odd, d.Code = bit(n&1), odd(n%16), code(n*77&0xfff)
	d.Pair[n&1].A, d.Pair[n&1].B = uint8(n), uint8(n*3)
	for i := range d.Data {
		d.Data[(int(n)+i)%64] = byte(uint64(i) * n)
	}
	m.Mem.Read(1, int(n&1))
}

// The kernel's own values, by other means, at every cycle.
func TestEveryKindOfValue(t *testing.T) {
	top := &struct{ M oddities }{}
	top.M.Mem.Init(2, hdl.ReadFirst)
	k, err := hdl.Elaborate("top", top, hdl.Options{})
	require.NoError(t, err)
	var b bytes.Buffer
	v, err := waves.New(&b, waves.Options{}, k)
	require.NoError(t, err)
	var want []wide
	for range 200 {
		want = append(want, top.M.Q)
		k.Step()
	}
	require.NoError(t, v.Close())
	f := check(t, b.String())
	number := func(s string, signed bool) string {
		n, ok := new(big.Int).SetString(s, 2)
		require.True(t, ok, s)
		if signed && s[0] == '1' {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(s))))
		}
		return n.String()
	}
	for c, w := range want {
		at := func(name string) string { return f.At("top.m."+name, int64(c)*4000) }
		require.Equal(t, new(big.Int).SetBytes(w.Data[:]).String(), number(at("data"), false), hex.Dump(w.Data[:]))
		require.Equal(t, fmt.Sprint(w.Small), number(at("small"), true))
		require.Equal(t, fmt.Sprint(w.Long), number(at("long"), true))
		require.Equal(t, fmt.Sprint(w.Big), number(at("big"), false))
		require.Equal(t, fmt.Sprint(uint8(w.Bit)), at("bit"))
		require.Equal(t, fmt.Sprint(uint8(w.Odd)), number(at("odd"), false))
		require.Equal(t, fmt.Sprintf("code %d", w.Code), at("code_name"))
		require.Equal(t, fmt.Sprint(w.Pair[1].B), number(at("pair_1.b"), false))
		name := fmt.Sprint(uint8(w.Odd))
		if w.Odd < 10 {
			name = w.Odd.String()
		}
		require.Equal(t, name, at("odd_name"))
		if c > 0 {
			require.Equal(t, fmt.Sprint(c&1), at("mem.port_1.addr"))
		}
	}
	p := save(t, "odd.vcd", b.String())
	wavetest.RoundTrip(t, p)
	require.Equal(t, "a b\n$end\nback\\slash\n", wavetest.GTKWave(t, `
foreach s {odd_name code_name} { gtkwave::addSignalsFromList [list top.m.$s] }
foreach c {2 5 6} { gtkwave::setMarker [expr $c * 4000]; say [gtkwave::getTraceValueAtMarkerFromName top.m.odd_name] }
`, p))
}
