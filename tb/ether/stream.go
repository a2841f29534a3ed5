package ether

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// maxFrame is the longest frame, without FCS, that is passed on: what jumbo frames
// and QEMU's sockets allow.
const maxFrame = 65535

// retryAfter is the time between attempts to reach a peer that is not there.
const retryAfter = 200 * time.Millisecond

// stream is a Wire over a stream socket, as QEMU's netdevs stream and socket have
// it: before each frame its length, 32 bits, big-endian. When the peer goes, what
// is sent is lost until the next comes.
type stream struct {
	frames chan []byte
	stop   context.CancelFunc
	ended  sync.WaitGroup

	listener net.Listener // nil of one that dials

	mu   sync.Mutex
	conn net.Conn // nil: nobody is there
}

// Listen waits for peers on a socket of network unix or tcp, one after the other. A
// unix socket that nobody listens on any more is replaced.
func Listen(network, addr string) (Wire, error) {
	if network == "unix" {
		removeStale(network, addr)
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		return nil, err
	}
	w, ctx := newStream()
	w.listener = l
	w.serve(ctx, func() (net.Conn, error) { return l.Accept() })
	return w, nil
}

// removeStale removes a unix socket that nobody has open any more. To one of another
// type it cannot connect, and leaves it.
func removeStale(network, path string) {
	if i, err := os.Lstat(path); err != nil || i.Mode()&os.ModeSocket == 0 {
		return
	}
	c, err := net.Dial(network, path)
	if err == nil {
		c.Close()
	} else if errors.Is(err, syscall.ECONNREFUSED) {
		os.Remove(path)
	}
}

// Dial connects to a peer that listens, again and again, until it does.
func Dial(network, addr string) (Wire, error) {
	w, ctx := newStream()
	var d net.Dialer
	w.serve(ctx, func() (net.Conn, error) { return d.DialContext(ctx, network, addr) })
	return w, nil
}

func newStream() (*stream, context.Context) {
	ctx, stop := context.WithCancel(context.Background())
	return &stream{frames: make(chan []byte, 1024), stop: stop}, ctx
}

// serve reads from one connection after the other.
func (w *stream) serve(ctx context.Context, next func() (net.Conn, error)) {
	w.ended.Add(1)
	go func() {
		defer w.ended.Done()
		for ctx.Err() == nil {
			c, err := next()
			if err != nil {
				select {
				case <-ctx.Done():
				case <-time.After(retryAfter):
				}
				continue
			}
			stopped := context.AfterFunc(ctx, func() { c.Close() })
			w.use(c)
			w.read(ctx, c)
			w.use(nil)
			stopped()
			c.Close()
		}
	}()
}

func (w *stream) use(c net.Conn) {
	w.mu.Lock()
	w.conn = c
	w.mu.Unlock()
}

// read passes frames on until the connection ends or makes no sense.
func (w *stream) read(ctx context.Context, c net.Conn) {
	r := bufio.NewReaderSize(c, 1<<17)
	for {
		f, err := readFrame(r)
		if err != nil {
			return
		}
		select {
		case w.frames <- f:
		case <-ctx.Done():
			return
		}
	}
}

// readFrame reads one frame of a stream.
func readFrame(r io.Reader) ([]byte, error) {
	var h [4]byte
	if _, err := io.ReadFull(r, h[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(h[:])
	if n < 14 || n > maxFrame {
		return nil, fmt.Errorf("a frame of %d bytes", n)
	}
	f := make([]byte, n)
	_, err := io.ReadFull(r, f)
	return f, err
}

// Send writes a frame; with nobody there it is lost.
func (w *stream) Send(frame []byte) {
	w.mu.Lock()
	c := w.conn
	w.mu.Unlock()
	if c == nil {
		return
	}
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+len(frame)), uint32(len(frame)))
	if _, err := c.Write(append(b, frame...)); err != nil {
		c.Close() // the reader sees it, and the next peer may come
	}
}

func (w *stream) Frames() <-chan []byte { return w.frames }

func (w *stream) Close() error {
	w.stop()
	if w.listener != nil {
		w.listener.Close() // ends Accept; closing twice is harmless
	}
	w.ended.Wait()
	return nil
}
