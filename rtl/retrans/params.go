package retrans

import "rnic/hdl"

// Params are the sizes of the block; 0 takes the default.
type Params struct {
	LogQP   uint // log2 of the QPs, up to 16; default 10
	Entries int  // entries of the shared outstanding table, up to 65,535; default 1,024
	Burst   int  // entries of one QP that end before others have their turn, up to 255; default 8
}

func (p Params) withDefaults() Params {
	hdl.Default(&p.LogQP, 10)
	hdl.Default(&p.Entries, 1024)
	hdl.Default(&p.Burst, 8)
	return p
}
