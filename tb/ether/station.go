package ether

import (
	"cmp"

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

// Program opens the device on a thread of the host and returns it, nil if it can't be
// opened, and what executes a line: that returns what it has to say.
type Program func(bus *host.Bus, cfg driver.Config) (dev *driver.Device, do func(line string) string)

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
	failed  error // of the host's software
}

// New builds a station. Its thread starts program, and has it execute the lines.
func New(c Config, program Program) (*Station, error) {
	c.defaults()
	m := host.New(c.Host)
	n := &node{NIC: rtl.New(c.NIC), RC: &m.RC}
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
		dev, do := program(m.NewBus(t), c.driver())
		if dev != nil {
			s.software(t, dev)
		}
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

// software starts the thread that answers what is not RoCE, and waits until it does.
func (s *Station) software(lines *hdl.Thread, dev *driver.Device) {
	n := neighbour{s.Config.MAC, s.Config.IPv4, s.Config.IPv6}
	var ready hdl.Event
	s.K.Go("software", func(t *hdl.Thread) {
		s.failed = n.serve(dev.On(s.Machine.NewBus(t)), ready.Notify)
		ready.Notify()
	})
	lines.Wait(&ready, 0)
}

// run runs the model up to a cycle.
func (s *Station) run(cycle uint64) error { return cmp.Or(s.K.Run(cycle), s.failed) }

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
