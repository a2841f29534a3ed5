package driver

import (
	"fmt"
	"io"
)

// firstVA is the first virtual address that buffers get: beyond all of memory, so
// that it is never mistaken for a bus address.
const firstVA = 0x7f00_0000_0000

// Buffer is memory of the program: consecutive virtual addresses over frames that
// are anywhere. It is an io.ReaderAt and io.WriterAt; offsets are in bytes from its
// start. Reading and writing cost no time, and any thread may do it.
type Buffer struct {
	Addr uint64 // virtual address of the first byte

	dev        *Device
	size       int
	frames     []uint64
	contiguous bool
	refs       int // regions
	freed      bool
}

// AllocBuffer makes a buffer of size bytes that begins at a byte of its first
// page. Addresses of different buffers are never next to each other, nor used
// twice.
func (d *Device) AllocBuffer(size, offsetInPage int) (*Buffer, error) {
	if d.closed || size < 0 || offsetInPage < 0 || offsetInPage >= pageSize {
		return nil, fmt.Errorf("buffer of %d bytes at offset %d of a page (device closed: %t): %w", size, offsetInPage, d.closed, ErrInvalid)
	}
	n := max(1, size/pageSize+(offsetInPage+size%pageSize+pageSize-1)/pageSize) // no overflow, whatever size is
	frames, err := d.bus.AllocPages(n)
	if err != nil {
		return nil, fmt.Errorf("buffer of %d bytes: %w: %w", size, ErrNoMemory, err)
	}
	b := &Buffer{Addr: d.takeVA(n, pageSize) + uint64(offsetInPage), dev: d, size: size, frames: frames}
	d.buffers[b] = struct{}{}
	return b, nil
}

// AllocContiguous makes a buffer of consecutive bus addresses, aligned to align (a
// power of two): registering it takes few of the device's page entries, as with
// huge pages. Virtual and bus address agree in the bits below align.
func (d *Device) AllocContiguous(size, align int) (*Buffer, error) {
	if d.closed || size <= 0 || align <= 0 || align&(align-1) != 0 {
		return nil, fmt.Errorf("buffer of %d bytes aligned to %d (device closed: %t): %w", size, align, d.closed, ErrInvalid)
	}
	align = max(align, pageSize)
	addr, err := d.bus.AllocDMA(size, align)
	if err != nil {
		return nil, fmt.Errorf("buffer of %d bytes: %w: %w", size, ErrNoMemory, err)
	}
	n := (size + pageSize - 1) / pageSize
	b := &Buffer{Addr: d.takeVA(n, uint64(align)), dev: d, size: size, frames: make([]uint64, n), contiguous: true}
	for i := range b.frames {
		b.frames[i] = addr + uint64(i)*pageSize
	}
	d.buffers[b] = struct{}{}
	return b, nil
}

// takeVA reserves n pages of virtual addresses, and leaves one behind them free.
func (d *device) takeVA(n int, align uint64) uint64 {
	va := (d.nextVA + align - 1) &^ (align - 1)
	d.nextVA = va + uint64(n+1)*pageSize
	return va
}

// Free gives the memory back. It fails with ErrBusy while a region covers it.
func (b *Buffer) Free() error {
	switch {
	case b.freed:
		return fmt.Errorf("buffer at %#x is freed: %w", b.Addr, ErrInvalid)
	case b.refs > 0:
		return fmt.Errorf("buffer at %#x has %d memory regions: %w", b.Addr, b.refs, ErrBusy)
	}
	b.release()
	return nil
}

func (b *Buffer) release() {
	if b.contiguous {
		b.dev.bus.FreeDMA(b.frames[0])
	} else {
		b.dev.bus.FreePages(b.frames)
	}
	b.freed = true
	delete(b.dev.buffers, b)
}

// Len is the size in bytes.
func (b *Buffer) Len() int { return b.size }

// Pages are the bus addresses of the 4 KiB frames, in order of virtual addresses.
// The slice is the buffer's own.
func (b *Buffer) Pages() []uint64 { return b.frames }

// WriteAt copies p to offset off. What does not fit is not written: the error is
// then io.ErrShortWrite.
func (b *Buffer) WriteAt(p []byte, off int64) (int, error) {
	n, err := b.access(p, off, b.dev.bus.WriteMem)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// ReadAt copies from offset off to p. Beyond the end the error is io.EOF.
func (b *Buffer) ReadAt(p []byte, off int64) (int, error) {
	n, err := b.access(p, off, b.dev.bus.ReadMem)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// access moves as much of p as lies in the buffer, frame by frame.
func (b *Buffer) access(p []byte, off int64, move func(uint64, []byte) error) (int, error) {
	if off < 0 || b.freed {
		return 0, fmt.Errorf("offset %d of buffer at %#x (freed: %t): %w", off, b.Addr, b.freed, ErrInvalid)
	}
	if off >= int64(b.size) {
		return 0, nil
	}
	p = p[:min(int64(len(p)), int64(b.size)-off)]
	at := int(off) + int(b.Addr%pageSize)
	done := 0
	for done < len(p) {
		in := at % pageSize
		n := min(pageSize-in, len(p)-done)
		if err := move(b.frames[at/pageSize]+uint64(in), p[done:done+n]); err != nil {
			return done, err
		}
		done, at = done+n, at+n
	}
	return done, nil
}
