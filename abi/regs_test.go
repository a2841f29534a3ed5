package abi

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestRegisterTable(t *testing.T) {
	names := map[string]bool{}
	last := -4
	for _, r := range Registers() {
		require.Zero(t, r.Offset%4, r.Name)
		require.Greater(t, int(r.Offset), last, "%s: offsets ascend", r.Name)
		last = int(r.Offset)
		require.Less(t, r.Offset, uint32(PageSize), r.Name)
		require.False(t, names[r.Name], "%s twice", r.Name)
		names[r.Name] = true
		require.NotEmpty(t, r.Doc, r.Name)
		bit := 0
		for _, f := range r.Fields {
			require.Equal(t, bit, f.BitOffset, "%s.%s", r.Name, f.Name)
			bit += f.Width
			require.True(t, f.Reserved || f.Doc != "", "%s.%s has no doc", r.Name, f.Name)
			if f.Reserved || r.Access == WO {
				require.Zero(t, r.Reset>>f.BitOffset&(1<<f.Width-1), "%s: reset of bits that read 0", r.Name)
			}
		}
		require.Equal(t, 32, bit, r.Name)
	}
}

func TestRegisterAt(t *testing.T) {
	found := 0
	for off := uint32(0); off < 2*PageSize; off++ {
		if r := RegisterAt(off); r != nil {
			require.Equal(t, off, r.Offset)
			found++
		}
	}
	require.Len(t, Registers(), found)
	require.Equal(t, "TIME_UNIT", RegisterAt(RegTimeUnit).Name)
	require.Equal(t, "PORT_GID0_3", RegisterAt(RegPortGID0+12).Name)
	require.Nil(t, RegisterAt(0xffffffff))
	require.Nil(t, RegisterAt(0xfffffffc))
}

func TestResetValues(t *testing.T) {
	word := func(off uint32) uint32 { return RegisterAt(off).Reset }
	id := word(RegID)
	require.Equal(t, "RNIC", string([]byte{byte(id), byte(id >> 8), byte(id >> 16), byte(id >> 24)}))
	require.Equal(t, uint32(1<<16), word(RegVersion))
	require.Equal(t, uint32(15<<24|10<<16|10<<8|1), word(RegCaps))
	require.Equal(t, uint32(64<<16|16<<8|16), word(RegLimits0))
	require.Equal(t, uint32(16<<24|5<<18|4<<14|8<<10|14<<5|10), word(RegLimits1))
	require.Equal(t, uint32(1), word(RegStatus))
	require.Equal(t, uint32(3), word(RegPortMTU))
	require.Equal(t, uint32(0xffff), word(RegPortPKey))
	require.Equal(t, uint32(1024), word(RegTimeUnit))
	require.Zero(t, word(RegCtrl))
}

func TestRegWord(t *testing.T) {
	require.Equal(t, uint32(1), RegWord(CtrlLayout, Ctrl{Enable: true}))
	require.Equal(t, uint32(1<<31|7), RegWord(AdminVectorLayout, AdminVector{Vector: 7, Enable: true}))
	require.Equal(t, uint32(0x16), RegWord(StatusLayout, Status{LinkUp: true, AdminEnabled: true, AdminError: true}))
	require.Equal(t, AdminDoorbell{Index: 0x1234}, RegFields(AdminDoorbellLayout, 0xffff1234))
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Uint32().Draw(t, "w")
		require.Equal(t, w, RegWord(Limits0Layout, RegFields(Limits0Layout, w)), "a register without reserved bits keeps all")
		require.Equal(t, w&1, RegWord(CtrlLayout, RegFields(CtrlLayout, w)), "reserved bits read 0")
	})
}

func TestAccessNames(t *testing.T) {
	for a, want := range []string{"RO", "RW", "W1C", "WO", "invalid"} {
		require.Equal(t, want, Access(a).String())
	}
}
