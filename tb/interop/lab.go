package interop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"rnic/tb"
	"rnic/tb/console"
	"rnic/tb/ether"
	"rnic/tb/interop/image"
	"rnic/waves"
)

// Lab is the model and the guest, connected.
type Lab struct {
	Guest *Guest

	model, linux *end
	hub          *hub
	lines        chan string
	replies      chan string
	running      bool
	broken       chan error // the station has ended
	stop         context.CancelFunc
	sent         *waves.Capture
	port         *waves.Capture
	recording    *os.File
	sockets      string // folder
	rec          *ether.Recorder
	ids          int
	patience     time.Duration // for completions
	toolLimit    time.Duration // for an unmodified program
	missing      int           // packets that came to Linux too late
}

// Start boots the guest and connects the model to it. Files go to dir: what each
// side sent (sent.pcapng), what passed the model's port (port.pcapng), the recording
// that repeats the model's side, and what the guest said (console).
func Start(ctx context.Context, img image.Image, dir string) (*Lab, error) {
	ctx, stop := context.WithCancel(ctx)
	l := &Lab{
		lines: make(chan string), replies: make(chan string, 64), broken: make(chan error, 1), stop: stop,
		patience: 10 * time.Second, toolLimit: 30 * time.Second,
	}
	if err := l.start(ctx, img, dir); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// start does what Start says; Close ends what it has begun.
func (l *Lab) start(ctx context.Context, img image.Image, dir string) error {
	if err := l.files(dir); err != nil {
		return err
	}
	var err error
	if l.sockets, err = os.MkdirTemp("", "rnic"); err != nil { // their paths must be short
		return err
	}
	wire := filepath.Join(l.sockets, "wire")
	w, err := ether.Listen("unix", wire)
	if err != nil {
		return err
	}
	began := time.Now()
	l.hub = newHub(ctx, w, func(from side, f []byte) {
		_ = l.sent.Frame(time.Since(began).Nanoseconds()*1000, from == model, f) // Close tells
	})
	station, err := l.station()
	if err != nil {
		return err
	}
	l.running = true
	go func() {
		l.broken <- station.Run(ctx, l.hub, l.lines, func(r string) { l.replies <- r })
		station.Close()
	}()
	if l.Guest, err = Boot(ctx, img, l.sockets, dir, wire); err != nil {
		return err
	}
	l.model = &end{side: model, do: l.toModel}
	l.linux = &end{side: linux, do: l.toGuest, other: l.model}
	l.model.other = l.linux
	if err := l.model.learn(); err != nil {
		return err
	}
	if err := l.agent(); err != nil {
		return err
	}
	if err := l.linux.learn(); err != nil {
		return err
	}
	return l.demandCounts(0)
}

// Cut has no frame pass between model and guest any more: every case must fail, and
// need not be given long to do so.
func (l *Lab) Cut() {
	l.hub.mu.Lock()
	l.hub.cut = true
	l.hub.mu.Unlock()
	l.patience = 100 * time.Millisecond
	l.toolLimit = time.Second
}

// CloseCapture completes the capture of what was sent; what comes is left out.
func (l *Lab) CloseCapture() error {
	l.hub.mu.Lock()
	defer l.hub.mu.Unlock()
	return l.sent.Close()
}

// files creates what the lab writes.
func (l *Lab) files(dir string) (err error) {
	if err = os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if l.sent, err = waves.CreateCapture(filepath.Join(dir, "sent.pcapng"), "wire"); err != nil {
		return err
	}
	if l.port, err = waves.CreateCapture(filepath.Join(dir, "port.pcapng"), "host_a"); err != nil {
		return err
	}
	l.recording, err = os.Create(filepath.Join(dir, "recording"))
	return err
}

// station builds the model, watched and recorded.
func (l *Lab) station() (*ether.Station, error) {
	s, err := ether.New(ether.Config{Seed: 1}, console.Program)
	if err != nil {
		return nil, err
	}
	s.Tap(func(f tb.Frame) { _ = l.port.Frame(f.TimePs, f.Tx, f.Data) }) // Close tells
	l.rec = s.Record(l.recording)
	return s, nil
}

// agent starts the guest's agent, which has the control line from then on.
func (l *Lab) agent() error {
	if _, err := fmt.Fprintln(l.Guest.control, "agent"); err != nil {
		return err
	}
	out, err := l.Guest.until("", 10*time.Second)
	if err == nil && out[0] != "= ok" {
		err = fmt.Errorf("the guest's agent: %s", out[0])
	}
	return err
}

// toModel has the model execute a line.
func (l *Lab) toModel(line string, limit time.Duration) (string, error) {
	t := time.NewTimer(limit)
	defer t.Stop()
	for give := l.lines; ; {
		select {
		case give <- line:
			give = nil
		case r := <-l.replies:
			return r, nil
		case err := <-l.broken:
			l.broken <- err
			return "", fmt.Errorf("the model has ended: %w", err)
		case <-t.C:
			return "", fmt.Errorf("no answer within %v", limit)
		}
	}
}

// toGuest has the guest execute a line.
func (l *Lab) toGuest(line string, limit time.Duration) (string, error) {
	if _, err := fmt.Fprintln(l.Guest.control, line); err != nil {
		return "", err
	}
	out, err := l.Guest.until("", limit)
	if err != nil {
		return "", err
	}
	return out[0], nil
}

// Close ends guest and model and completes the files.
func (l *Lab) Close() error {
	if l.Guest != nil {
		l.Guest.Close()
	}
	l.stop()
	var errs []error
	if l.hub != nil {
		if l.running {
			errs = append(errs, <-l.broken)
		}
		errs = append(errs, l.hub.Close())
	}
	if l.rec != nil {
		errs = append(errs, l.rec.Close())
	}
	if l.recording != nil {
		errs = append(errs, l.recording.Close())
	}
	for _, c := range []*waves.Capture{l.sent, l.port} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	if l.sockets != "" {
		errs = append(errs, os.RemoveAll(l.sockets))
	}
	return errors.Join(errs...)
}
