package waves_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/hdl"
	"rnic/waves"
)

// The design that the tests look at: a sender that wakes now and then, and a receiver
// that stores what it gets.

type state uint8

const (
	idle state = iota
	send
	wait
)

func (state) Width() int { return 2 }
func (s state) String() string {
	return [...]string{"IDLE", "SEND", "WAIT"}[s]
}

type psn uint32

func (psn) Width() int { return 24 }

type beat struct {
	PSN  psn
	Last bool
	Kind state
	Data [4]byte
}

type sender struct {
	Every uint64
	Out   hdl.Out[beat]
	Busy  hdl.Sig[bool]
	hdl.Regs[struct {
		State state
		PSN   psn
		Left  uint8
	}]
}

func (m *sender) Eval() {
	switch m.Q.State {
	case idle:
		if m.Now()%m.Every == m.Every-1 {
			m.D.State, m.D.Left = send, 3
			m.Busy.Set(true)
			break
		}
		m.WakeAt(m.Now()/m.Every*m.Every + m.Every - 1)
	case send:
		if !m.Out.Ready() {
			break
		}
		p := m.Q.PSN
		m.Out.Put(beat{PSN: p, Last: m.Q.Left == 1, Kind: send, Data: [4]byte{0, byte(p >> 8), byte(p), 0xaa}})
		m.D.PSN = p + 1
		if m.D.Left = m.Q.Left - 1; m.D.Left == 0 {
			m.D.State = wait
		}
	case wait:
		m.D.State = idle
		m.Busy.Set(false)
	}
}

type receiver struct {
	In   hdl.In[beat]
	Busy hdl.Tap[bool]
	Seen hdl.RAM[psn]
	hdl.Regs[struct {
		Delta int8
		Last  struct{ A, B bool }
	}]
}

func (m *receiver) Eval() {
	m.D.Last.B = m.Busy.Get()
	if m.In.Valid() {
		b := m.In.Take()
		p := b.PSN
		m.Seen.Write(0, int(p%16), &p)
		m.D.Delta--
		m.D.Last.A = b.Last
	}
}

type design struct {
	Tx sender
	Rx receiver
}

func newDesign(every uint64, depth int) *design {
	d := &design{}
	d.Tx.Every = every
	hdl.Connect(&d.Tx.Out, &d.Rx.In, depth)
	hdl.Wire(&d.Tx.Busy, &d.Rx.Busy)
	d.Rx.Seen.Init(16, hdl.ReadFirst)
	return d
}

func elaborate(t testing.TB, name string, every uint64, o hdl.Options) *hdl.Kernel {
	k, err := hdl.Elaborate(name, newDesign(every, 2), o)
	require.NoError(t, err)
	return k
}

// record runs one kernel of the design and gives its waves.
func record(t testing.TB, cycles uint64, o waves.Options, ko hdl.Options) string {
	var b bytes.Buffer
	k := elaborate(t, "top", 20, ko)
	v, err := waves.New(&b, o, k)
	require.NoError(t, err)
	require.NoError(t, k.Run(cycles))
	require.NoError(t, v.Close())
	return b.String()
}
