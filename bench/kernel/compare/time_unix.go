//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is what all threads of the process have used so far. Unlike the
// time of day it does not count the time of other processes.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
