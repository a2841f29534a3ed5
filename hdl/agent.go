package hdl

// Agent is the behavioural element of a testbench: any Go state, with ports like
// a module's. Embed Behave to be one. Tick runs after the edge, in elaboration
// order, sees settled state, and what it puts and takes commits at the next edge.
// It runs at cycle 0, and then in the cycles when a port of it committed, a
// WakeAt came due or Wake was called.
type Agent interface {
	Tick()
	behave() *Behave
}

// Behave is what an Agent embeds.
type Behave struct{ blk block }

var _ interface{ behave() *Behave } = (*Behave)(nil)

func (b *Behave) behave() *Behave { return b }

// Now is the present cycle.
func (b *Behave) Now() uint64 { return b.blk.k.cycle }

// Path is the agent's name in the hierarchy.
func (b *Behave) Path() string { return b.blk.path }

// Wake has Tick called in the next cycle. Other agents and threads of the kernel
// may call it.
func (b *Behave) Wake() { b.blk.k.wake(b.blk.idx) }

// WakeAt has Tick called at the given cycle, as for modules.
func (b *Behave) WakeAt(cycle uint64) { b.blk.wakeAt(cycle) }

// Fail ends Run with a Fault of this agent.
func (b *Behave) Fail(format string, args ...any) { b.blk.fail(format, args...) }
