package nic

import (
	"rnic/hdl"
	"rnic/roce"
)

// Stages is the number of stages of the data path, half of them before Context.
const Stages = 16

// Design is the top.
type Design struct {
	Source  Source
	Demux   Demux
	Arbiter Arbiter
	Stage   [Stages]Stage
	Context Context
	CRC     CRC
	Sink    Sink
}

// Config is what can be chosen.
type Config struct {
	Active uint64 // cycles of Window in which the source sends; Window is full load
	CRC    bool
}

// Loads of the source in cycles of Window.
const (
	FullLoad   = Window
	LightLoad  = 51 // 5 %
	SourceSeed = golden
	SinkSeed   = 0x12345678
)

// New wires a design, ready to be elaborated.
func New(c Config) *Design {
	m := &Design{}
	m.Source.Active, m.CRC.Off = c.Active, !c.CRC

	hdl.Connect(&m.Source.Out, &m.Demux.In, 2)
	for i := range FIFOs {
		hdl.Connect(&m.Demux.Out[i], &m.Arbiter.In[i], FIFODepth)
	}
	next := &m.Arbiter.Out
	for i := range m.Stage {
		s := &m.Stage[i]
		s.N = i
		if i == Stages/2 {
			hdl.Connect(next, &m.Context.In, 2)
			next = &m.Context.Out
		}
		hdl.Connect(next, &s.In, 2)
		next = &s.Out
	}
	hdl.Connect(&m.Context.Hold, &m.Context.Held, 2)
	hdl.Connect(next, &m.CRC.In, 2)
	hdl.Connect(&m.CRC.Out, &m.Sink.In, 2)
	m.Context.RAM.Init(Lines, hdl.WriteFirst)

	m.Source.Q.LFSR = SourceSeed
	m.Source.D = m.Source.Q
	m.Arbiter.Q.Last = 15
	m.Arbiter.D = m.Arbiter.Q
	m.CRC.Q.Register = roce.FCSStart
	m.CRC.D = m.CRC.Q
	m.Sink.Q.LFSR = SinkSeed
	m.Sink.D = m.Sink.Q
	return m
}

// Slices is how many beats wait in each stream of two places, in the order of the
// data path, Context's own aside: a bit for the first place and one for the second.
func (m *Design) Slices() (fill uint64) {
	n := 0
	add := func(len int) {
		fill |= (1<<len - 1) << n
		n += 2
	}
	add(m.Demux.In.Len())
	for i := range m.Stage {
		if i == Stages/2 {
			add(m.Context.In.Len())
		}
		add(m.Stage[i].In.Len())
	}
	add(m.CRC.In.Len())
	add(m.Sink.In.Len())
	return fill
}

// Levels is how many beats wait in each FIFO, five bits each.
func (m *Design) Levels() (levels uint64) {
	for i := range m.Arbiter.In {
		levels |= uint64(m.Arbiter.In[i].Len()) << (5 * i)
	}
	return levels
}
