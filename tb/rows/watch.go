package rows

import "rnic/tb"

// Watch makes the rows of a bench, what faults do to its frames among them.
func Watch(b *tb.Bench, o Options) (*Rows, error) {
	var hosts []Host
	for _, h := range b.Hosts {
		hosts = append(hosts, Host{K: h.K, NIC: h.NIC, Machine: h.Machine})
	}
	r, err := New(o, hosts...)
	if err != nil {
		return nil, err
	}
	for n, h := range b.Hosts {
		h.OnFault(func(f tb.Frame, _ uint64, v tb.Verdict) { r.Struck(n, f.TimePs, v.String(), v.Drop, f.Data) })
	}
	return r, nil
}
