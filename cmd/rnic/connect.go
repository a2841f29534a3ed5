package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"rnic/tb"
	"rnic/tb/console"
	"rnic/tb/ether"
	"rnic/tb/rows"
	"rnic/waves"
)

// connectCmd runs one host whose wire leads outside.
type connectCmd struct {
	Wire string `arg:"" optional:"" help:"Where the wire leads: listen:ADDR or dial:ADDR (QEMU's -netdev stream), dgram:LOCAL,REMOTE (-netdev dgram), tap:NAME. An ADDR is a path, or HOST:PORT of this machine."`

	Replay   string `type:"existingfile" help:"Repeat a recorded run, without a wire."`
	Seed     uint64 `default:"1" help:"Seed of all that is drawn."`
	MAC      string `default:"02:00:00:00:00:01" help:"Ethernet address."`
	IPv4     string `name:"ipv4" default:"10.0.0.1" help:"IPv4 address, GID 1."`
	IPv6     string `name:"ipv6" default:"fe80::ff:fe00:1" help:"IPv6 address, GID 0."`
	TimeUnit uint16 `default:"1024" help:"Clock cycles for 4.096 us of the protocol's timers: more give a slow peer more time."`
	FST      bool   `name:"fst" help:"Write the waveforms as an FST, with views for GTKWave and Surfer."`
	VCD      bool   `help:"Write the waveforms as a VCD, likewise."`
	Pcap     bool   `help:"Write the packets of the port."`
	Record   bool   `help:"Write a recording, for --replay."`
	Out      string `default:"out" help:"Folder for the files."`
}

// Run connects the host and has it execute the lines of standard input until that
// ends, or a signal comes; or it repeats a recording.
func (c *connectCmd) Run() error {
	if (c.Wire == "") == (c.Replay == "") {
		return errors.New("connect: either a wire or --replay")
	}
	if c.Replay != "" {
		return c.again(os.Stdout)
	}
	cfg, err := ether.ParseConfig(fmt.Sprintf("seed=%d mac=%s ipv4=%s ipv6=%s unit=%d", c.Seed, c.MAC, c.IPv4, c.IPv6, c.TimeUnit))
	if err != nil {
		return err
	}
	s, files, err := c.station(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	w, err := ether.OpenWire(c.Wire)
	if err != nil {
		return errors.Join(err, files.close())
	}
	defer w.Close()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lines, pending := make(chan string), make(chan struct{}, 1)
	go feed(os.Stdin, lines, pending, stop)
	err = s.Run(ctx, w, lines, func(r string) {
		fmt.Println(r)
		pending <- struct{}{}
	})
	return cmp.Or(err, files.close())
}

// feed gives lines, each when the one before is answered, and stops at their end.
func feed(r io.Reader, lines chan<- string, answered <-chan struct{}, stop func()) {
	for sc := bufio.NewScanner(r); sc.Scan(); {
		lines <- sc.Text()
		<-answered
	}
	stop()
}

// again repeats a recorded run.
func (c *connectCmd) again(out io.Writer) error {
	f, err := os.Open(c.Replay)
	if err != nil {
		return err
	}
	defer f.Close()
	rec, err := ether.Open(f)
	if err != nil {
		return err
	}
	c.Record = false
	s, files, err := c.station(rec.Config)
	if err != nil {
		return err
	}
	defer s.Close()
	err = s.Replay(rec, func(r string) { fmt.Fprintln(out, r) })
	return errors.Join(err, files.close())
}

// portFiles are the files of a host whose wire leads outside.
type portFiles []func() error

func (f portFiles) close() error {
	var errs []error
	for _, end := range f {
		errs = append(errs, end())
	}
	return cmp.Or(errs...)
}

// station builds the host, watched as the flags say.
func (c *connectCmd) station(cfg ether.Config) (*ether.Station, portFiles, error) {
	s, err := ether.New(cfg, console.Program)
	if err != nil {
		return nil, nil, err
	}
	var files portFiles
	if c.FST || c.VCD || c.Pcap || c.Record {
		err = os.MkdirAll(c.Out, 0o777)
	}
	if err == nil && (c.FST || c.VCD) {
		err = c.waves(s, &files)
	}
	if err == nil && c.Pcap {
		var p *waves.Capture
		if p, err = waves.CreateCapture(filepath.Join(c.Out, "host_a.pcapng"), "host_a"); err == nil {
			s.Tap(func(f tb.Frame) { _ = p.Frame(f.TimePs, f.Tx, f.Data) }) // Close tells
			files = append(files, p.Close)
		}
	}
	if err == nil && c.Record {
		var f *os.File
		if f, err = os.Create(filepath.Join(c.Out, "recording")); err == nil {
			files = append(files, s.Record(f).Close, f.Close)
		}
	}
	if err != nil {
		return nil, nil, errors.Join(err, files.close())
	}
	return s, files, nil
}

// waves writes the waveforms, with the rows of package rows, and the views: at the start,
// and again at the end.
func (c *connectCmd) waves(s *ether.Station, files *portFiles) error {
	shown, err := rows.New(rows.Options{}, rows.Host{K: s.K, NIC: s.NIC, Machine: s.Machine})
	if err != nil {
		return err
	}
	list, _, err := createWaves(nil, c.Out, c.FST, c.VCD, waves.Options{Rows: shown.List}, s.K)
	views := &folder{dir: c.Out, name: "rnic"}
	*files = append(*files, views.wait)
	for _, w := range list {
		*files = append(*files, w.Close)
	}
	if err != nil {
		return err
	}
	views.w = list[0]
	*files = append(*files, views.end)
	return views.begin()
}
