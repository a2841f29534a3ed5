package driver

import (
	"errors"
	"fmt"
	"syscall"

	"rnic/abi"
)

// sentinel is an error with the meaning of an errno: errors.Is finds both.
type sentinel struct {
	text  string
	errno syscall.Errno
}

func (e *sentinel) Error() string { return e.text }

func (e *sentinel) Unwrap() error { return e.errno }

// Errors of this package wrap one of these, and say what was wrong with which
// value. Each is an errno too: errors.Is(err, syscall.EINVAL) holds for what wraps
// ErrInvalid.
var (
	ErrInvalid      error = &sentinel{"invalid argument", syscall.EINVAL}
	ErrNoMemory     error = &sentinel{"no room", syscall.ENOMEM}
	ErrBusy         error = &sentinel{"in use", syscall.EBUSY}
	ErrNotSupported error = &sentinel{"not supported", syscall.EOPNOTSUPP}
	ErrNotFound     error = &sentinel{"no such object", syscall.ENOENT}
	ErrExists       error = &sentinel{"exists already", syscall.EEXIST}
	ErrNoCommand    error = &sentinel{"no such command", syscall.ENOSYS}
	ErrNoDevice     error = &sentinel{"no device that this driver knows", syscall.ENODEV}
	ErrTimeout      error = &sentinel{"no answer from the device", syscall.ETIMEDOUT}
	ErrOverrun      error = &sentinel{"completion queue overrun", syscall.EOVERFLOW}
	ErrDevice       error = &sentinel{"the device does not keep to its interface", syscall.EIO}
)

// AdminError is a command that the device refused. It wraps the sentinel of its
// status.
type AdminError struct {
	Op       abi.AdminOp
	Object   uint32 // EQN, CQN, QPN or key index
	Status   abi.AdminStatus
	Syndrome abi.AdminSyndrome
}

// Error names command, object, status and syndrome.
func (e *AdminError) Error() string {
	s := fmt.Sprintf("%s %d: %s", e.Op, e.Object, e.Status)
	if e.Syndrome != abi.SynNone {
		s += fmt.Sprintf(" (%s)", e.Syndrome)
	}
	return s
}

// Unwrap returns the sentinel of the status.
func (e *AdminError) Unwrap() error {
	errno := e.Status.Errno()
	for _, s := range []error{ErrInvalid, ErrNoMemory, ErrBusy, ErrNotSupported, ErrNotFound, ErrExists, ErrNoCommand} {
		if errors.Is(s, errno) {
			return s
		}
	}
	return ErrDevice
}
