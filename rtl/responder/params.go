package responder

import "rnic/hdl"

// Params are the sizes of the block; 0 takes the default.
type Params struct {
	LogQP      uint // log2 of the QPs, up to 16; default 10
	Jobs       int  // jobs that wait, up to 65,535; default 1,024
	Budget     int  // packets of a QP before others have their turn, up to 255; default 16
	NoCoalesce bool // send every acknowledgement
}

func (p Params) withDefaults() Params {
	hdl.Default(&p.LogQP, 10)
	hdl.Default(&p.Jobs, 1024)
	hdl.Default(&p.Budget, 16)
	return p
}
