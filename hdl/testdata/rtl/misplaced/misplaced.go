// Package misplaced has an agent where none belongs.
package misplaced

import "rnic/hdl"

// Agent is behaviour below rtl.
type Agent struct{ hdl.Behave }

// Tick does nothing.
func (*Agent) Tick() {}
