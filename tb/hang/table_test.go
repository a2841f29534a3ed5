package hang

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb"
)

// TestTable: each port at which a block of the NIC takes something is in the table,
// once, and what the table names exists.
func TestTable(t *testing.T) {
	b, err := tb.New(tb.Config{})
	require.NoError(t, err)
	defer b.Close()
	ports, blocks, listed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range b.Hosts[0].K.Streams() {
		cut := func(path string) string { return strings.TrimPrefix(path, "host_a.nic.") }
		ports[cut(p.In)], ports[cut(p.Out)] = true, true
		blocks[cut(p.To)], blocks[cut(p.From)] = true, true
		if strings.HasPrefix(p.In, "host_a.nic.") {
			listed[cut(p.In)] = true
		}
	}
	for _, n := range needs {
		require.True(t, listed[n.In], "%s: no such port, or twice", n.In)
		delete(listed, n.In)
		require.True(t, n.For == "" || ports[n.For], "%s: for %s", n.In, n.For)
		for _, v := range n.Via {
			require.True(t, blocks[v], "%s: via %s", n.In, v)
		}
	}
	require.Empty(t, listed, "not in the table")
}
