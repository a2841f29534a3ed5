package ether

import (
	"rnic/driver"
	"rnic/hdl"
	"rnic/rtl"
	"rnic/tb"
	"rnic/tb/host"
)

// node is the hierarchy, as waves show it.
type node struct {
	NIC  *rtl.NIC
	RC   *host.RootComplex
	Wire Port
}

// Program opens the device on a thread of the host and returns what executes a
// line: it returns what it has to say.
type Program func(bus *host.Bus, cfg driver.Config) func(line string) string

// Station is one host, with a NIC, whose wire leads outside.
type Station struct {
	Config  Config
	K       *hdl.Kernel
	NIC     *rtl.NIC
	Machine *host.Host

	node    *node
	lines   []string // not yet begun
	replies []string // not yet fetched
	given   hdl.Event
	rec     *Recorder
}

// New builds a station. Its thread starts program, and has it execute the lines.
func New(c Config, program Program) (*Station, error) {
	c.defaults()
	m := host.New(c.Host)
	n := &node{NIC: rtl.New(c.NIC), RC: &m.RC}
	n.Wire.host = neighbour{c.MAC, c.IPv4, c.IPv6}
	hdl.Connect(n.NIC.PcieTx(), &n.RC.FromNIC, 2)
	hdl.Connect(&n.RC.ToNIC, n.NIC.PcieRx(), 2)
	hdl.Connect(n.NIC.EthTx(), &n.Wire.FromNIC, 2)
	hdl.Connect(&n.Wire.ToNIC, n.NIC.EthRx(), 2)
	k, err := hdl.Elaborate("host_a", n, hdl.Options{Seed: c.Host.Seed, Strict: c.Strict, PeriodPs: tb.PeriodPs})
	if err != nil {
		return nil, err
	}
	s := &Station{Config: c, K: k, NIC: n.NIC, Machine: m, node: n}
	k.Go("lines", func(t *hdl.Thread) {
		do := program(m.NewBus(t), c.driver())
		for {
			for len(s.lines) == 0 {
				t.Wait(&s.given, 0)
			}
			l := s.lines[0]
			s.lines = s.lines[1:]
			s.replies = append(s.replies, do(l))
		}
	})
	return s, nil
}

// Tap adds an observer of the port.
func (s *Station) Tap(t tb.Tap) { s.node.Wire.taps = append(s.node.Wire.taps, t) }

// Close stops the thread.
func (s *Station) Close() { s.K.Close() }

// input is what comes from outside: a frame, or a line.
type input struct {
	frame []byte
	line  string
}

// take has an input come in the present cycle, between runs of the kernel.
func (s *Station) take(in input) {
	if in.frame != nil {
		s.node.Wire.arrive(in.frame)
		return
	}
	s.lines = append(s.lines, in.line)
	s.given.Notify()
}
