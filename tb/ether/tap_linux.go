package ether

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// Tap opens a TAP device, and makes it if there is none: that takes root, or the
// device's owner.
func Tap(name string) (Wire, error) {
	const setInterface = 0x400454ca // TUNSETIFF
	var req struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}
	if name == "" || len(name) >= len(req.name) {
		return nil, fmt.Errorf("tap %q: a name has 1 to 15 bytes", name)
	}
	copy(req.name[:], name)
	req.flags = 0x0002 | 0x1000 // IFF_TAP, IFF_NO_PI
	fd, err := syscall.Open("/dev/net/tun", syscall.O_RDWR|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("tap %s: /dev/net/tun: %w", name, err)
	}
	if _, _, e := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), setInterface, uintptr(unsafe.Pointer(&req))); e != 0 {
		_ = syscall.Close(fd)
		return nil, fmt.Errorf("tap %s: %w", name, e)
	}
	f := os.NewFile(uintptr(fd), "tap "+name)
	return newPackets(f, func(frame []byte) error {
		_, err := f.Write(frame)
		return err
	}), nil
}
