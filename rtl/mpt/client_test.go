package mpt_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/hdl"
	"rnic/hdl/hdltest"
	"rnic/rtl/mpt"
	"rnic/rtl/port"
	"rnic/tb/agent"
)

// client is pkt_tx or scatter: it asks, has some accesses under way, which end in order,
// and hands markers back when those before them have.
type client struct {
	hdl.Behave
	Req   hdl.Out[port.MptReq]
	Res   hdl.In[port.MptRes]
	Back  hdl.Out[port.Fence]
	Ended hdl.In[port.KeyEnded]

	rng   *rand.Rand
	todo  []port.MptReq
	asked []port.MptReq
	live  []access // accesses and markers
	slow  uint64   // most cycles of an access
	onEnd func(k port.Key)
	kills []port.Key // KeyEnded is still to come; it may be before the answer is taken
}

type access struct {
	key   port.Key
	fence port.Fence
	due   uint64
}

func (c *client) Tick() {
	now := c.Now()
	if len(c.live) > 0 && c.live[0].due <= now && (c.live[0].fence == 0 || c.Back.Ready()) {
		if f := c.live[0].fence; f != 0 {
			c.Back.Put(f)
		}
		c.live = c.live[1:]
	}
	if c.Ended.Valid() {
		c.Ended.Take()
		c.onEnd(c.kills[0])
		c.kills = c.kills[1:]
	}
	if c.Res.Valid() && len(c.live) < 12 && c.rng.IntN(3) > 0 {
		a := access{due: now}
		if r := c.Res.Take(); r.Fence != 0 {
			a.fence = r.Fence
			c.live = append(c.live, a)
		} else {
			q := c.asked[0]
			c.asked = c.asked[1:]
			if r.Status == port.MptOK && !q.Invalidate {
				a.key, a.due = q.Key, now+c.rng.Uint64N(c.slow)
				c.live = append(c.live, a)
			}
		}
	}
	if len(c.todo) > 0 && c.Req.Ready() && c.rng.IntN(3) > 0 {
		c.Req.Put(c.todo[0])
		if c.todo[0].Invalidate {
			c.kills = append(c.kills, c.todo[0].Key)
		}
		c.asked, c.todo = append(c.asked, c.todo[0]), c.todo[1:]
	}
	if len(c.todo) > 0 || len(c.live) > 0 || c.Res.Valid() {
		c.WakeAt(now + 1)
	}
}

// uses tells whether an access by a key is not over.
func (c *client) uses(k port.Key) bool {
	for _, a := range c.live {
		if a.fence == 0 && a.key == k {
			return true
		}
	}
	return false
}

// fenceBench is mpt between two such clients.
type fenceBench struct {
	Mpt      *mpt.MPT
	Tx, Rx   client
	None     agent.Source[port.KeyEnded]
	Mem      agent.Source[port.MemOp]
	MemPages agent.Source[port.Beat]
	MemRes   agent.Sink[port.MemRes]
	Admin    agent.Source[port.MRAdmin]
	Pages    agent.Source[port.Beat]
	AdminRes agent.Sink[port.MRAdminRes]
}

func newFenceBench(t tester, o hdl.Options, seed uint64) (*fenceBench, *hdl.Kernel) {
	b := &fenceBench{Mpt: mpt.New(mpt.Params{Keys: 32, Pages: 64})}
	m := b.Mpt
	hdl.Connect(&b.Tx.Req, &m.Tx, 2)
	hdl.Connect(&b.Rx.Req, &m.Rx, 2)
	hdl.Connect(&m.TxRes, &b.Tx.Res, 8)
	hdl.Connect(&m.RxRes, &b.Rx.Res, 16)
	hdl.Connect(&b.Tx.Back, &m.TxFenced, 2)
	hdl.Connect(&b.Rx.Back, &m.RxFenced, 2)
	hdl.Connect(&m.KeyEnded, &b.Rx.Ended, 2)
	hdl.Connect(&b.None.Out, &b.Tx.Ended, 2)
	hdl.Connect(&b.Mem.Out, &m.Mem, 2)
	hdl.Connect(&b.MemPages.Out, &m.MemPages, 2)
	hdl.Connect(&m.MemRes, &b.MemRes.In, 2)
	hdl.Connect(&b.Admin.Out, &m.Admin, 2)
	hdl.Connect(&b.Pages.Out, &m.Pages, 2)
	hdl.Connect(&m.AdminRes, &b.AdminRes.In, 2)
	for i, c := range []*client{&b.Tx, &b.Rx} {
		c.rng = rand.New(rand.NewPCG(seed, uint64(i)))
	}
	k, err := hdl.Elaborate("tb", b, o)
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return b, k
}

// Whatever the order and however long accesses take: when the end of a key is told, none
// by that key is under way (of SEND with invalidate: no read is), and all is told.
func TestFencesAreKept(t *testing.T) {
	const windows, dead, gone = 4, 8, 16 // keys that memory operations, SENDs and the driver end
	rapid.Check(t, func(t *rapid.T) {
		n := func(lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }
		var ops []port.MemOp
		var ends []port.Key // by each operation, or 0
		keys := map[port.Key]port.Key{}
		used := []port.Key{0xa0}
		for range n(1, 40, "operations") {
			i := port.Key(n(windows, windows+3, "window"))
			now, bound := keys[i]
			op, end := bind(i<<8|port.Key(len(ops))), now // each bind has a key of its own
			switch what := n(0, 3, "what"); {
			case i < windows+2 && what == 0:
				op.Length = 0
				delete(keys, i)
			case bound && (what == 1 || i >= windows+2):
				op = localInv(now)
				if i < windows+2 {
					end = 0 // one of type 1 is refused
				} else {
					delete(keys, i)
				}
			default:
				keys[i] = op.Key
				used = append(used, op.Key)
			}
			ops, ends = append(ops, op), append(ends, end)
		}
		for i := range port.Key(8) {
			used = append(used, (dead+i)<<8|0xa0, (gone+i)<<8|0xa0)
		}
		looks := func(kill bool) (l []port.MptReq) {
			next := port.Key(dead)
			for range n(1, 150, "look-ups") {
				if kill && next < dead+8 && n(0, 9, "kill") == 3 {
					l = append(l, port.MptReq{QPN: 3, PD: 1, Key: next<<8 | 0xa0, Invalidate: true})
					next++
					continue
				}
				l = append(l, port.MptReq{QPN: 3, PD: 1, Key: rapid.SampledFrom(used).Draw(t, "key"), VA: 0x10_1000, Len: 8, Access: 4})
			}
			return l
		}
		tx, rx := looks(false), looks(true)
		seed, slow := rapid.Uint64().Draw(t, "seed"), uint64(n(1, 300, "slow"))
		deregs := n(0, 8, "deregistrations")
		hdltest.Identical(t, hdl.Options{}, func(o hdl.Options) (hdltest.Digester, []uint64) {
			b, k := newFenceBench(t, o, seed)
			add := func(i uint32, mr abi.MRMailbox) {
				b.Admin.Push(port.MRAdmin{Index: i, MR: mr})
				if mr.Kind == abi.KeyRegion {
					b.Pages.Push(beats(frames)...)
				}
			}
			add(0, whole)
			for i := range uint32(8) {
				add(dead+i, whole)
				add(gone+i, whole)
			}
			for i := range uint32(4) {
				add(windows+i, abi.MRMailbox{Kind: abi.KeyWindow1 + abi.KeyKind(i/2), PD: 1})
			}
			require.NoError(t, k.Run(500))
			require.Len(t, b.AdminRes.Got, 21)
			told := 0
			over := func(k port.Key, who string, sides ...*client) {
				told++
				for _, c := range sides {
					require.False(t, k != 0 && c.uses(k), "%s: %#x is in use", who, k)
				}
			}
			mem, ad := 0, 0
			b.MemRes.OnTake = func(port.MemRes) { over(ends[mem], "send queue", &b.Tx, &b.Rx); mem++ }
			b.AdminRes.OnTake = func(port.MRAdminRes) {
				over(port.Key(gone+ad)<<8|0xa0, "driver", &b.Tx, &b.Rx)
				ad++
			}
			b.Rx.onEnd = func(k port.Key) { over(k, "SEND", &b.Tx) }
			b.Tx.slow, b.Rx.slow = slow, slow
			b.Mem.Throttle.Seed, b.Admin.Throttle.Seed = seed|1, seed|1
			b.Tx.todo, b.Rx.todo = tx, rx
			b.Mem.Push(ops...)
			for i := range uint32(deregs) {
				b.Admin.Push(port.MRAdmin{Dereg: true, Index: gone + i})
			}
			b.Tx.Wake()
			b.Rx.Wake()
			require.NoError(t, k.Run(k.Cycle()+300*uint64(len(tx)+len(rx)+2*len(ops)+100)))
			require.Equal(t, len(ops), mem)
			require.Equal(t, deregs, ad)
			require.Empty(t, b.Rx.kills)
			require.Empty(t, append(b.Tx.live, b.Rx.live...))
			require.Empty(t, append(b.Tx.asked, b.Rx.asked...))
			return k, b.MemRes.At
		})
	})
}
