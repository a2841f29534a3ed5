package ether_test

import (
	"bytes"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rnic/tb/ether"
)

func open(t *testing.T, name string) ether.Wire {
	w, err := ether.OpenWire(name)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

// deliver sends a frame until it arrives: what is sent while nobody is there is lost.
func deliver(t *testing.T, from, to ether.Wire, b byte) {
	frame := bytes.Repeat([]byte{b}, 60+int(b))
	for range 200 {
		from.Send(frame)
		select {
		case f := <-to.Frames():
			if f[0] == b { // else one that came twice
				require.Equal(t, frame, f)
				return
			}
		case <-time.After(50 * time.Millisecond):
		}
	}
	t.Fatal("nothing arrives")
}

// TestWires: frames go both ways, and again when either end has gone and come.
func TestWires(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	free := func(network string) string {
		if network == "tcp" {
			l, err := net.Listen(network, "127.0.0.1:0")
			require.NoError(t, err)
			defer l.Close()
			return l.Addr().String()
		}
		c, err := net.ListenPacket(network, "127.0.0.1:0")
		require.NoError(t, err)
		defer c.Close()
		return c.LocalAddr().String()
	}
	tcp, u1, u2 := free("tcp"), free("udp"), free("udp")
	for _, c := range [][2]string{
		{"listen:" + a, "dial:" + a}, {"listen:" + tcp, "dial:" + tcp},
		{"dgram:" + a + "," + b, "dgram:" + b + "," + a}, {"dgram:" + u1 + "," + u2, "dgram:" + u2 + "," + u1},
	} {
		t.Run(c[0], func(t *testing.T) {
			y := open(t, c[1])
			y.Send(make([]byte, 60)) // lost
			x := open(t, c[0])
			deliver(t, x, y, 1)
			deliver(t, y, x, 2)
			for i := range byte(2) {
				end := []*ether.Wire{&x, &y}[i]
				require.NoError(t, (*end).Close())
				*end = open(t, c[i])
				deliver(t, x, y, 3+i)
				deliver(t, y, x, 5+i)
			}
		})
	}
}

// TestWrongWires: each fault is told.
func TestWrongWires(t *testing.T) {
	for name, want := range map[string]string{
		"":                            "neither",
		"what:/x":                     "neither",
		"listen:10.0.0.1:99":          "not of the loopback interface",
		"dial:example":                "missing port",
		"dgram:/x":                    "no second address",
		"dgram:/x,127.0.0.1:1":        "no second address",
		"tap:":                        "1 to 15 bytes",
		"tap:a-name-that-is-longer":   "1 to 15 bytes",
		"listen:/no/such/folder/sock": "no such file",
	} {
		_, err := ether.OpenWire(name)
		require.ErrorContains(t, err, want, name)
	}
}

// TestTap: a TAP device of this machine; a frame that the kernel sends comes out.
func TestTap(t *testing.T) {
	w, err := ether.OpenWire("tap:rnictest0")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENODEV) {
		t.Skip(err)
	}
	require.NoError(t, err)
	w.Send(make([]byte, 60)) // down: lost
	require.NoError(t, w.Close())
	require.NoError(t, w.Close())
	_, err = os.Stat("/sys/class/net/rnictest0")
	require.ErrorIs(t, err, fs.ErrNotExist)
}
