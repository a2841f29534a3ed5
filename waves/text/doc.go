// Package text shows waveforms in a terminal: chosen signals over a window of time, as
// levels and boxes of text.
//
//	time     │0       │8ns      │16ns
//	clk      ╱▔╲▁╱▔╲▁╱▔╲▁
//	state    │IDLE   │BUSY
//
// A Sampler goes through a file and gives a column for each time at which one of the
// signals changes, or for each cycle of a clock in which one does; a Drawing puts columns
// into panels that fit the width. Neither holds more than a panel, however long the
// file is.
package text
