package main

import (
	"rnic/tb"
	"rnic/tb/rows"
)

// maxRowQPs is how many QPs of a host have rows of their own.
const maxRowQPs = 64

// newRows makes the rows of a bench: what its waves show by name.
func newRows(b *tb.Bench, o rows.Options) (*rows.Rows, error) {
	var hosts []rows.Host
	for _, h := range b.Hosts {
		hosts = append(hosts, rows.Host{K: h.K, NIC: h.NIC, Machine: h.Machine})
	}
	r, err := rows.New(o, hosts...)
	if err != nil {
		return nil, err
	}
	for n, h := range b.Hosts {
		h.OnFault(func(f tb.Frame, _ uint64, v tb.Verdict) { r.Struck(n, f.TimePs, v.String(), v.Drop, f.Data) })
	}
	return r, nil
}
