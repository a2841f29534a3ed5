package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNumber24(t *testing.T) {
	for text, want := range map[string]uint64{"0": 0, "08": 8, "010": 10, "0x10": 16, "0XfFffFf": 0xffffff, "16777215": 0xffffff} {
		n, err := number24(text)
		require.NoError(t, err, text)
		require.Equal(t, want, n, text)
	}
	for _, text := range []string{"", "0x", "x1", "-1", "+1", "1_0", "0b1", "16777216", "0x1000000"} {
		_, err := number24(text)
		require.Error(t, err, text)
	}
}
