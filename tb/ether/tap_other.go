//go:build !linux

package ether

import "errors"

// Tap is of Linux alone.
func Tap(string) (Wire, error) { return nil, errors.New("there are TAP devices on Linux only") }
