package loss

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/fault"
	"rnic/tb/transfer"
)

// Load is a stream of messages some of whose packets are lost.
type Load struct {
	Op       abi.WQEOp
	MTU, QPs int
	MsgSize  int
	Messages int
	Depth    int    // messages that a QP has posted at once
	Batch    int    // work requests a PostSend; 0: 1
	Drop     int    // lost of a million frames
	Both     bool   // acknowledgements and requests of READs too; else only what brings data
	Timeout  uint8  // 4.096 us << Timeout
	TimeUnit uint16 // cycles for 4.096 us; 0: 1,024
}

// ShortTimeout is the least timeout of a connection that no answer of a load exceeds
// while nothing is lost, so that a retry which was not needed does not hide what a loss
// costs: of READs the answers to all that is posted may be in the way.
func (l *Load) ShortTimeout() uint8 {
	cycles := 1024 // a round trip, and room
	if l.Op == abi.OpRead {
		cycles += 2 * l.QPs * l.Depth * (l.MsgSize/l.MTU + 1) * frameBytes(l.MTU) / 50
	}
	t := uint8(1)
	for l.timeUnit()<<t < cycles {
		t++
	}
	return t
}

// timeUnit is in cycles.
func (l *Load) timeUnit() int {
	if l.TimeUnit == 0 {
		return 1024
	}
	return int(l.TimeUnit)
}

// lose has frames of a bench lost, by its seed.
func (l *Load) lose(b *tb.Bench, seed uint64) {
	for i, h := range b.Hosts {
		if data := (i == 0) == (l.Op == abi.OpRead); l.Drop > 0 && (data || l.Both) {
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			h.SetLoss(func() bool { return rng.IntN(1e6) < l.Drop })
		}
	}
}

// transfer runs the load.
func (l *Load) transfer(b *tb.Bench, plan *fault.Plan) (transfer.Result, error) {
	mtu, ok := roce.MTUOf(l.MTU)
	if !ok {
		return transfer.Result{}, fmt.Errorf("an MTU of %d: none of the five", l.MTU)
	}
	job := transfer.Job{
		Data: bytes.NewReader(l.data()), Op: l.Op, MTU: mtu, QPs: l.QPs, MsgSize: l.MsgSize, Depth: l.Depth, Batch: l.Batch, Faults: plan,
	}
	job.Driver.TimeUnit = l.TimeUnit
	if l.Timeout != 0 {
		job.Retries.Timeout = &l.Timeout
	}
	r, err := job.Run(b)
	if err != nil {
		err = fmt.Errorf("%v of %d bytes, %d QPs, MTU %d, %d of a million lost: %w", l.Op, l.MsgSize, l.QPs, l.MTU, l.Drop, err)
	}
	return r, err
}

// data is what is sent.
func (l *Load) data() []byte {
	d := make([]byte, l.MsgSize*l.Messages)
	for i := range d {
		d[i] = byte(i*7 + i>>8)
	}
	return d
}
