package ether

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// packets is a Wire over something that keeps frames apart: each read and each
// write is one frame.
type packets struct {
	frames chan []byte
	rw     io.ReadWriteCloser
	send   func([]byte) error
	done   chan struct{}
	once   sync.Once
	ended  chan struct{}
}

func newPackets(rw io.ReadWriteCloser, send func([]byte) error) *packets {
	w := &packets{frames: make(chan []byte, 1024), rw: rw, send: send, done: make(chan struct{}), ended: make(chan struct{})}
	go w.read()
	return w
}

// read passes frames on until the wire is closed. What goes wrong meanwhile is the
// peer's restart: a socket tells that nobody listened, and works again.
func (w *packets) read() {
	defer close(w.ended)
	b := make([]byte, maxFrame+1)
	for {
		n, err := w.rw.Read(b)
		select {
		case <-w.done:
			return
		default:
		}
		switch {
		case errors.Is(err, net.ErrClosed) || errors.Is(err, os.ErrClosed):
			return
		case err != nil:
			time.Sleep(retryAfter)
		case n >= 14 && n <= maxFrame:
			select {
			case w.frames <- append([]byte(nil), b[:n]...):
			case <-w.done:
				return
			}
		}
	}
}

// Send writes a frame; with nobody there it is lost.
func (w *packets) Send(frame []byte) { _ = w.send(frame) }

func (w *packets) Frames() <-chan []byte { return w.frames }

func (w *packets) Close() error {
	var err error
	w.once.Do(func() {
		close(w.done)
		err = w.rw.Close()
		<-w.ended
	})
	return err
}

// Datagrams has each frame be a datagram of network udp or unixgram, as QEMU's
// netdev dgram has it. The peer may come later, go and come again.
func Datagrams(network, local, remote string) (Wire, error) {
	var c net.PacketConn
	var to net.Addr
	var err error
	if network == "unixgram" {
		to = &net.UnixAddr{Name: remote, Net: network}
		removeStale(network, local)
	} else if to, err = net.ResolveUDPAddr(network, remote); err != nil {
		return nil, err
	}
	if c, err = net.ListenPacket(network, local); err != nil {
		return nil, err
	}
	return newPackets(c.(io.ReadWriteCloser), func(f []byte) error {
		_, err := c.WriteTo(f, to)
		return err
	}), nil
}
