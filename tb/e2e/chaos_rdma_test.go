package e2e_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
	"rnic/tb/e2e"
)

// TestChaosRDMA is TestChaos with messages of every operation.
func TestChaosRDMA(t *testing.T) {
	for seed := range uint64(16) {
		c := newChaos(t, seed+100)
		rng := rand.New(rand.NewPCG(seed, 78))
		kinds := []abi.WQEOp{abi.OpSend, abi.OpSendImm, abi.OpWrite, abi.OpWriteImm, abi.OpRead, abi.OpRead, abi.OpFetchAdd}
		for pair := range c.ops {
			for i := range c.ops[pair] {
				for m := range c.ops[pair][i] {
					c.ops[pair][i][m] = kinds[rng.IntN(len(kinds))]
				}
			}
		}
		for i, d := range []*e2e.Side{c.s.A, c.s.B} {
			c.mr[i] = region(t, d, d.PD, 0, d.Buf.Len(), all)
		}
		c.run()
	}
}

// Where operations other than SEND act, from chaosAt on: WRITEs at the peer, READs
// and old values at home, and the word at the peer that is added to.
const (
	writtenAt = 50_000
	readAt    = 100_000
	oldAt     = 150_000
	wordAt    = 160_000
)

// message is the data of message m, and what a READ m finds.
func (c *chaos) message(m int) []byte {
	return e2e.Bytes(chaosMessages*c.size, 1)[m*c.size : (m+1)*c.size]
}

// takers are the messages of host i that take a receive.
func (c *chaos) takers(pair, i int) (ms []int) {
	for m, op := range c.ops[pair][i] {
		if op == abi.OpSend || op == abi.OpSendImm || op == abi.OpWriteImm {
			ms = append(ms, m)
		}
	}
	return ms
}

// remote makes message m of host i, a SEND, the operation that it is. WRITEs with
// immediate go where their receive points.
func (c *chaos) remote(wr *driver.SendWR, i, pair, m int) {
	base, home, far := chaosAt[pair], c.mr[i], c.mr[1-i]
	at := base + writtenAt + chaosRoom*m
	switch wr.Op = c.ops[pair][i][m]; wr.Op {
	case abi.OpSend, abi.OpSendImm:
		return
	case abi.OpWriteImm:
		k := 0
		for _, t := range c.takers(pair, i) {
			if t < m {
				k++
			}
		}
		at = base + chaosRoom*k
	case abi.OpRead:
		wr.SGEs[0] = home.SGE(base+readAt+chaosRoom*m, c.size)
		at = m * c.size
	case abi.OpFetchAdd:
		wr.SGEs[0], wr.SwapAdd = home.SGE(base+oldAt+8*m, 8), 1
		at = base + wordAt
	}
	wr.RemoteAddr, wr.RKey = far.Addr+uint64(at), far.RKey
	if pair == 0 && m == c.bad[i]-chaosMessages {
		wr.RKey = 0
	}
}

// moved demands that WRITEs, READs and adds of host i's other QP have done what they
// should.
func (c *chaos) moved(i int) {
	e, peer := c.other[i], c.other[1-i]
	added := uint64(0)
	for m, op := range c.ops[1][i] {
		switch op {
		case abi.OpWrite:
			peer.Demand(otherAt+writtenAt+chaosRoom*m, c.message(m))
		case abi.OpRead:
			e.Demand(otherAt+readAt+chaosRoom*m, c.message(m))
		case abi.OpFetchAdd:
			require.Equal(c.t, added, binary.LittleEndian.Uint64(e.Read(otherAt+oldAt+8*m, 8)), c.name)
			added++
		}
	}
	require.Equal(c.t, added, binary.LittleEndian.Uint64(peer.Read(otherAt+wordAt, 8)), c.name)
}
