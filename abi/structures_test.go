package abi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStructures(t *testing.T) {
	names := map[string]bool{}
	for _, s := range Structures() {
		require.False(t, names[s.Name], "%s twice", s.Name)
		names[s.Name] = true
		bit := 0
		for _, f := range s.Fields {
			require.Equal(t, bit, f.BitOffset, "%s.%s", s.Name, f.Name)
			bit += f.Width
			require.True(t, f.Reserved || f.Doc != "", "%s.%s has no doc", s.Name, f.Name)
		}
		require.Equal(t, s.Size*8, bit, s.Name)
	}
}

// TestDataPlaces checks the offsets that say where a list begins against the
// structures that have its first elements.
func TestDataPlaces(t *testing.T) {
	at := func(s string, field string) int {
		for _, str := range Structures() {
			for _, f := range str.Fields {
				if str.Name == s && f.Name == field {
					return f.BitOffset / 8
				}
			}
		}
		return -1
	}
	require.Equal(t, WQERemoteOffset, at("WQE", "Remote.Addr"))
	require.Equal(t, WQEDataOffset, at("WQE", "SGE[0].Addr"))
	require.Equal(t, WQEDataOffset+SGESize, at("WQE", "SGE[1].Addr"))
	require.Equal(t, WQEDataOffset, at("WQEInline", "Data"))
	require.Equal(t, WQEAtomicOffset, at("WQEAtomic", "Atomic.SwapAdd"))
	require.Equal(t, WQERemoteOffset, at("WQEUD", "AH.AHN"))
	require.Equal(t, WQEDataOffset, at("WQEUD", "SGE[0].Addr"))
	require.Equal(t, WQEDataOffset, at("WQEBind", "Bind.Length"))
	require.Equal(t, WQEDataOffset, at("WQEFastReg", "FastReg.Length"))
	for i := 2; i < 6; i++ {
		require.Equal(t, WQEDataOffset+i*SGESize-UnitSize, at("WQESGEs", "SGE["+string(rune('0'+i-2))+"].Addr"), "SGE %d, in unit 1", i)
	}
	require.Equal(t, RWQEDataOffset, RWQEControlLayout.Size)
	require.Equal(t, CQESize-1, at("CQE", "Phase"))
	require.Equal(t, EventSize-1, at("Event", "Phase"))
	require.Equal(t, AdminCompletionSize-1, at("AdminCompletion", "Phase"))
}
