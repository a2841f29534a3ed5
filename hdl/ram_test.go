package hdl_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/hdl"
)

type access struct {
	op   int // 0 none, 1 read, 2 write
	addr int
	val  uint32
}

// ramDriver plays a script of accesses, one entry a cycle, and notes Data.
type ramDriver struct {
	Script [][2]access
	Mem    hdl.RAM[uint32]
	Saw    [][2]uint32
	hdl.Regs[struct{ PC uint32 }]
}

func (m *ramDriver) Eval() {
	if m.Q.PC > 0 || len(m.Saw) == 0 {
		if len(m.Saw) == int(m.Q.PC) {
			m.Saw = append(m.Saw, [2]uint32{*m.Mem.Data(0), *m.Mem.Data(1)})
		}
	}
	if int(m.Q.PC) == len(m.Script) {
		return
	}
	for p, a := range m.Script[m.Q.PC] {
		switch a.op {
		case 1:
			m.Mem.Read(p, a.addr)
		case 2:
			m.Mem.Write(p, a.addr, &a.val)
		}
	}
	m.D.PC++
}

func playRAM(t require.TestingT, p hdl.Policy, script [][2]access) ([][2]uint32, error) {
	top := &struct{ D *ramDriver }{&ramDriver{Script: script}}
	top.D.Mem.Init(4, p)
	k, err := hdl.Elaborate("t", top, hdl.Options{})
	require.NoError(t, err)
	err = k.Run(uint64(len(script)) + 2)
	return top.D.Saw, err
}

func TestRAMPolicies(t *testing.T) {
	// Cycle 0 writes 5 to word 1; cycle 1 writes 6 there while port 1 looks on.
	script := [][2]access{
		{{2, 1, 5}, {}},
		{{2, 1, 6}, {1, 1, 0}},
		{{1, 2, 0}, {}},
		{{1, 1, 0}, {1, 1, 0}},
		{},
	}
	got, err := playRAM(t, hdl.ReadFirst, script)
	require.NoError(t, err)
	require.Equal(t, [][2]uint32{{0, 0}, {0, 0}, {5, 5}, {0, 5}, {6, 6}, {6, 6}}, got)

	got, err = playRAM(t, hdl.WriteFirst, script)
	require.NoError(t, err)
	require.Equal(t, [][2]uint32{{0, 0}, {5, 0}, {6, 6}, {0, 6}, {6, 6}, {6, 6}}, got)

	_, err = playRAM(t, hdl.NoChange, script)
	require.EqualError(t, err, "t.d: cycle 1: t.d.mem: address 1 read while written, undefined under NoChange")
}

// lookup reads once and shows what it read, with no register to count cycles.
type lookup struct {
	Mem hdl.RAM[uint32]
	Lev hdl.Sig[uint32]
	hdl.Regs[struct{ Wrote bool }]
}

func (m *lookup) Eval() {
	if !m.Q.Wrote {
		m.D.Wrote = true
		v := uint32(99)
		m.Mem.Write(0, 1, &v)
		m.WakeAt(10)
	} else if m.Now() == 10 {
		m.Mem.Read(0, 1)
	}
	m.Lev.Set(*m.Mem.Data(0))
}

func TestRAMDataWakesItsOwner(t *testing.T) {
	for _, strict := range []bool{false, true} {
		top := &struct{ L lookup }{}
		top.L.Mem.Init(2, hdl.NoChange)
		k, err := hdl.Elaborate("t", top, hdl.Options{Strict: strict})
		require.NoError(t, err)
		require.NoError(t, k.Run(100))
		require.Equal(t, uint32(99), top.L.Lev.Get())
		require.Equal(t, uint32(99), *top.L.Mem.Peek(1))
	}
}

func TestRAMMisuse(t *testing.T) {
	for msg, script := range map[string][2]access{
		"t.d: cycle 0: t.d.mem: address 4 outside 0..3 on port 1":  {{}, {1, 4, 0}},
		"t.d: cycle 0: t.d.mem: address -1 outside 0..3 on port 0": {{2, -1, 0}, {}},
		"t.d: cycle 0: t.d.mem: both ports write address 2":        {{2, 2, 0}, {2, 2, 0}},
	} {
		_, err := playRAM(t, hdl.ReadFirst, [][2]access{script})
		require.EqualError(t, err, msg)
	}
}

// TestRAMAgainstModel plays random accesses against memory written out plainly.
func TestRAMAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		policy := hdl.Policy(rapid.IntRange(0, 2).Draw(t, "policy"))
		one := rapid.Custom(func(t *rapid.T) access {
			return access{rapid.IntRange(0, 2).Draw(t, "op"), rapid.IntRange(0, 3).Draw(t, "addr"), rapid.Uint32().Draw(t, "val")}
		})
		script := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) [2]access {
			a, b := one.Draw(t, "a"), one.Draw(t, "b")
			if a.addr == b.addr && (a.op == 2 && b.op == 2 || policy == hdl.NoChange) {
				b.addr ^= 1 // the collisions are tested elsewhere
			}
			return [2]access{a, b}
		}), 0, 40).Draw(t, "script")

		var mem [4]uint32
		data := [2]uint32{}
		want := [][2]uint32{data}
		for _, ab := range script {
			old := mem
			for _, a := range ab {
				if a.op == 2 {
					mem[a.addr] = a.val
				}
			}
			for p, a := range ab {
				shown := old
				if policy == hdl.WriteFirst {
					shown = mem
				}
				if a.op == 1 || a.op == 2 && policy != hdl.NoChange {
					data[p] = shown[a.addr]
				}
			}
			want = append(want, data)
		}
		got, err := playRAM(t, policy, script)
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}
