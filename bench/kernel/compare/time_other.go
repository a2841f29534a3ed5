//go:build !unix

package main

import "time"

var began = time.Now()

// processorTime is the time of day where there is no better.
func processorTime() time.Duration { return time.Since(began) }
