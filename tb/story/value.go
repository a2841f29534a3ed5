package story

import (
	"cmp"
	"encoding/hex"
	"strconv"
	"strings"
	"unsafe"

	"rnic/hdl"
)

// load reads a value of at most 64 bits.
func load(p unsafe.Pointer, size uintptr) uint64 {
	switch size {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// text is a value as rnic wave prints it: the name of an enum, one digit of one bit, hex
// of more.
func text(s *hdl.Signal, p unsafe.Pointer) string {
	if s.Kind == hdl.Bytes {
		h := strings.TrimLeft(hex.EncodeToString(unsafe.Slice((*byte)(p), s.Size)), "0")
		return "0x" + cmp.Or(h, "0")
	}
	return number(s, load(p, s.Size))
}

func number(s *hdl.Signal, v uint64) string {
	v &= ^uint64(0) >> (64 - min(64, s.Width))
	if s.Names != nil {
		if name := s.Names(v); name != "" && name != strconv.FormatUint(v, 10) {
			return name
		}
	}
	h := strconv.FormatUint(v, 16)
	if s.Width == 1 {
		return h
	}
	return "0x" + h
}
