package main

import (
	"fmt"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"rnic/tb"
)

// progress shows how far a run is, on a terminal and after a second; nothing in a
// pipe. done ends the line.
func progress(messages int) (update func(cycle uint64, received int), done func()) {
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		return func(uint64, int) {}, func() {}
	}
	start := time.Now()
	var bar *progressbar.ProgressBar
	next := start.Add(time.Second)
	update = func(cycle uint64, received int) {
		now := time.Now()
		if now.Before(next) {
			return
		}
		next = now.Add(200 * time.Millisecond)
		if bar == nil {
			bar = progressbar.NewOptions(messages, progressbar.OptionSetWriter(os.Stderr),
				progressbar.OptionClearOnFinish(), progressbar.OptionShowCount(), progressbar.OptionSetItsString("messages"))
		}
		rate := float64(cycle) / now.Sub(start).Seconds()
		bar.Describe(fmt.Sprintf("%.2f M cycles, %.1f us simulated, %.2f M cycles/s", float64(cycle)/1e6, float64(cycle)*tb.PeriodPs/1e6, rate/1e6))
		_ = bar.Set(received) // only the screen is at stake
	}
	return update, func() {
		if bar != nil {
			_ = bar.Finish()
		}
	}
}
