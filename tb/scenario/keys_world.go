package scenario

import (
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/fault"
	"rnic/tb/host"
)

var hostNames = []string{"a", "b"}

var topKeys = []key[Scenario]{
	{name: "hosts", form: "a, b: mapping", doc: "the two machines", read: func(r *reader, s *Scenario, n ast.Node) {
		named(r, n, "hosts", func(name string, p Pos, n ast.Node) {
			for i, h := range hostNames {
				if name == h {
					fill(r, n, "a host", hostKeys, &s.Hosts[i])
					return
				}
			}
			r.fail(p, "%q is no host: must be a or b", name)
		})
	}},
	{name: "wire", form: "mapping", doc: "the cable between them", read: func(r *reader, s *Scenario, n ast.Node) {
		fill(r, n, "a wire", wireKeys, &s.Wire)
	}},
	{name: "nic", form: "mapping", doc: "parameters of both NICs", read: func(r *reader, s *Scenario, n ast.Node) {
		fill(r, n, "a NIC", nicKeys, &s.NIC)
	}},
	{name: "qps", form: "names: mappings", must: true, doc: "queue pairs, in pairs, connected before time 0", read: func(r *reader, s *Scenario, n ast.Node) {
		named(r, n, "QPs", func(name string, p Pos, n ast.Node) {
			q := newQP(name, p)
			fill(r, n, "a QP", qpKeys, q)
			s.QPs = append(s.QPs, q)
		})
	}},
	{name: "mrs", form: "names: mappings", doc: "memory regions, each with a buffer of its own", read: func(r *reader, s *Scenario, n ast.Node) {
		named(r, n, "memory regions", func(name string, p Pos, n ast.Node) {
			m := &MR{Pos: p, Name: name, Access: allAccess}
			fill(r, n, "a memory region", mrKeys, m)
			s.MRs = append(s.MRs, m)
		})
	}},
	{name: "work", form: "list of steps", must: true, doc: "what the hosts do; each queue of a QP takes its steps in the order of the file", read: func(r *reader, s *Scenario, n ast.Node) {
		for _, e := range r.list(n) {
			st := &Step{Pos: place(e), Op: -1, index: len(s.Work), has: map[string]Pos{}}
			fill(r, e, "a step", stepKeys, st)
			s.Work = append(s.Work, st)
		}
	}},
	{name: "faults", form: "list of texts", doc: "what goes wrong, in the words of faults.md; each that has no rate must strike as often as it says", read: func(r *reader, s *Scenario, n ast.Node) {
		for _, e := range r.list(n) {
			r.fault(s, e)
		}
	}},
	{name: "expect", form: "mapping", must: true, doc: "what must come of it", read: func(r *reader, s *Scenario, n ast.Node) {
		fill(r, n, "expect", expectKeys, &s.Expect)
	}},
	{name: "settle", form: "time", def: "20us", doc: "how long the wire must be quiet, when all is there, for the run to end", read: func(r *reader, s *Scenario, n ast.Node) {
		s.Settle = r.time(n, time.Microsecond, time.Second)
	}},
	{name: "time_limit", form: "time", def: "1s", doc: "when a run ends that does not end by itself", read: func(r *reader, s *Scenario, n ast.Node) {
		s.TimeLimit = r.time(n, time.Microsecond, 100*time.Second)
	}},
}

// fault reads a fault, whose errors are told where their word is.
func (r *reader) fault(s *Scenario, n ast.Node) {
	words, quoted, ok := text(n)
	if !ok {
		r.mismatch(n, "a fault, as drop b nth=5")
		return
	}
	f, err := fault.Parse(words)
	if e, is := err.(*fault.ParseError); is {
		p := place(n)
		if p.Col += e.At; quoted {
			p.Col++
		}
		r.fail(p, "fault: %s", e.Msg)
		return
	}
	s.Faults = append(s.Faults, f)
}

var hostKeys = []key[Host]{
	{name: "pcie_latency", form: "time", def: "250ns", doc: "of PCIe, one way, for reads and writes of the NIC", read: func(r *reader, h *Host, n ast.Node) {
		h.PCIeLatency = r.time(n, 4*time.Nanosecond, 20*time.Microsecond)
	}},
	{name: "pcie_profile", form: strings.Join(profileNames(), ", "), def: "constant", doc: "how long reads of host memory take; constant and uniform go by pcie_latency", read: func(r *reader, h *Host, n ast.Node) {
		if i := r.word(n, "PCIe profile", profileNames()); i >= 0 {
			h.Profile = &host.Profiles[i]
		}
	}},
	{name: "time_unit", form: "time", def: "4.096us", doc: "what the NIC takes for the 4.096 us that its timers count in: less makes them faster", read: func(r *reader, h *Host, n ast.Node) {
		h.TimeUnit = r.time(n, 8*tb.Period, 65535*tb.Period)
	}},
	{name: "push", form: "bool", def: "true", doc: "single work requests go to the NIC with the doorbell", read: func(r *reader, h *Host, n ast.Node) {
		h.NoPush = !r.bool(n)
	}},
}

func profileNames() (l []string) {
	for i := range host.Profiles {
		l = append(l, strings.ReplaceAll(host.Profiles[i].Name, "-", "_"))
	}
	return l
}

var wireKeys = []key[Wire]{
	{name: "rate", form: "rate, 1Gbps to 100Gbps", def: "100Gbps", doc: "of the wire", read: func(r *reader, w *Wire, n ast.Node) {
		s, ok := r.scalar(n, "a rate, as 100Gbps")
		d, unit := strings.CutSuffix(s, "Gbps")
		v, err := parseNumber(d)
		switch {
		case !ok:
		case !unit && err == nil:
			r.fail(place(n), "%q: the unit is missing: must be a rate, as 100Gbps", s)
		case !unit || err != nil || v < 1 || v > 100:
			r.fail(place(n), "%q: must be 1Gbps to 100Gbps", s)
		default:
			w.Rate = v
		}
	}},
	{name: "latency", form: "time", def: "300ns", doc: "of the wire, one way", read: func(r *reader, w *Wire, n ast.Node) {
		w.Latency = r.time(n, 20*time.Nanosecond, 5*time.Millisecond)
	}},
}

var nicKeys = []key[NIC]{
	{name: "credits", form: "bool", def: "true", doc: "acknowledgements give end-to-end credits, and senders wait for some", read: func(r *reader, c *NIC, n ast.Node) {
		c.NoCredits = !r.bool(n)
	}},
	{name: "window", form: "size, a power of two, 128KiB to 8MiB", def: "128KiB", doc: "bytes that a QP may have in flight", read: func(r *reader, c *NIC, n ast.Node) {
		c.Window = r.size(n, 128<<10, 8<<20)
		if c.Window&(c.Window-1) != 0 {
			r.fail(place(n), "%dB: must be a power of two", c.Window)
		}
	}},
	{name: "read_timeout", form: "time", def: "10ms", doc: "after which a PCIe read without completion is given up", read: func(r *reader, c *NIC, n ast.Node) {
		c.ReadTimeout = r.time(n, time.Microsecond, 100*time.Millisecond)
	}},
}

const allAccess = abi.AccessLocalWrite | remoteAccess

const remoteAccess = abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic

// access reads a list of permissions, of which may are possible.
func (r *reader) access(n ast.Node, may ...abi.AccessFlags) (f abi.AccessFlags) {
	var names []string
	for _, a := range may {
		names = append(names, strings.ToLower(a.String()))
	}
	for _, e := range r.list(n) {
		if i := r.word(e, "permission", names); i >= 0 {
			f |= may[i]
		}
	}
	return f
}

var mrKeys = append([]key[MR]{
	{name: "host", form: "a, b", must: true, doc: "whose memory it is", read: func(r *reader, m *MR, n ast.Node) {
		m.Host = max(0, r.word(n, "host", hostNames))
	}},
	{name: "size", form: "size", def: "that of its content", doc: "of buffer and region; content that is shorter has zeros behind it", read: func(r *reader, m *MR, n ast.Node) {
		m.Size = r.size(n, 1, 64<<20)
	}},
	{name: "page_offset", form: "size, up to 4095B", def: "0B", doc: "where in its first page it begins", read: func(r *reader, m *MR, n ast.Node) {
		m.Offset = r.size(n, 0, 4095)
	}},
	{name: "access", form: "list of local_write, remote_write, remote_read, remote_atomic", def: "all four", doc: "what it may be used for", read: func(r *reader, m *MR, n ast.Node) {
		m.Access = r.access(n, abi.AccessLocalWrite, abi.AccessRemoteWrite, abi.AccessRemoteRead, abi.AccessRemoteAtomic)
		if m.Access&(abi.AccessRemoteWrite|abi.AccessRemoteAtomic) != 0 && m.Access&abi.AccessLocalWrite == 0 {
			r.fail(place(n), "remote_write and remote_atomic need local_write")
		}
	}},
}, contentKeys(func(m *MR) *Content { return &m.Content })...)

func newQP(name string, p Pos) *QP {
	return &QP{
		Pos: p, Name: name, PSN: 100, MTU: roce.MTU1024, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MinRNRTimer: 12,
		MaxRdAtomic: 16, MaxDestRdAtomic: 16, Access: remoteAccess, MaxSend: 32, MaxRecv: 32, MaxSGE: 4, MaxInline: 64,
	}
}

// small makes the reader of a number of a QP.
func small[N uint8 | uint32 | int](lo, hi uint64, of func(*QP) *N) func(*reader, *QP, ast.Node) {
	return func(r *reader, q *QP, n ast.Node) { *of(q) = N(r.number(n, lo, hi)) }
}

var qpKeys = []key[QP]{
	{name: "host", form: "a, b", must: true, doc: "whose QP it is", read: func(r *reader, q *QP, n ast.Node) {
		q.Host = max(0, r.word(n, "host", hostNames))
	}},
	{name: "peer", form: "QP of the other host", doc: "what it is connected to; one of the two may leave it out", read: func(r *reader, q *QP, n ast.Node) { q.Peer = r.ref(n) }},
	{name: "psn", form: "number, 1 to 0xffffff", def: "100", doc: "of the first packet that it sends", read: small(1, 1<<24-1, func(q *QP) *uint32 { return &q.PSN })},
	{name: "mtu", form: "256B, 512B, 1024B, 2048B, 4096B", def: "1024B", doc: "most payload of a packet", read: func(r *reader, q *QP, n ast.Node) {
		v := r.size(n, 256, 4096)
		m, ok := roce.MTUOf(int(v))
		if q.MTU = m; !ok {
			r.fail(place(n), "%dB: must be 256B, 512B, 1024B, 2048B or 4096B", v)
		}
	}},
	{name: "timeout", form: "number N, 1 to 31", def: "14", doc: "how long it waits for an acknowledgement: 4.096 us x 2^N at least, 9/8 of it at most", read: small(1, 31, func(q *QP) *uint8 { return &q.Timeout })},
	{name: "retry_cnt", form: "number, 0 to 7", def: "7", doc: "retries after timeouts and sequence errors without progress", read: small(0, 7, func(q *QP) *uint8 { return &q.RetryCnt })},
	{name: "rnr_retry", form: "number, 0 to 7", def: "7", doc: "retries after RNR NAKs without progress; 7: no limit", read: small(0, 7, func(q *QP) *uint8 { return &q.RNRRetry })},
	{name: "min_rnr_timer", form: "number, 1 to 31", def: "12", doc: "code of the wait that its RNR NAKs ask for: 1: 10 us, 12: 640 us, 31: 491.52 ms", read: small(1, 31, func(q *QP) *uint8 { return &q.MinRNRTimer })},
	{name: "max_rd_atomic", form: "number, 0 to 16", def: "16", doc: "READs and atomics that it may have outstanding", read: small(0, 16, func(q *QP) *int { return &q.MaxRdAtomic })},
	{name: "max_dest_rd_atomic", form: "number, 0 to 16", def: "16", doc: "READs and atomics of the peer that it answers at once", read: small(0, 16, func(q *QP) *int { return &q.MaxDestRdAtomic })},
	{name: "access", form: "list of remote_write, remote_read, remote_atomic", def: "all three", doc: "what the peer may do", read: func(r *reader, q *QP, n ast.Node) {
		q.Access = r.access(n, abi.AccessRemoteWrite, abi.AccessRemoteRead, abi.AccessRemoteAtomic)
	}},
	{name: "max_send", form: "number, 1 to 1024", def: "32", doc: "work requests of the send queue", read: small(1, 1024, func(q *QP) *int { return &q.MaxSend })},
	{name: "max_recv", form: "number, 1 to 1024", def: "32", doc: "work requests of the receive queue", read: small(1, 1024, func(q *QP) *int { return &q.MaxRecv })},
	{name: "max_sge", form: "number, 1 to 16", def: "4", doc: "elements of a work request", read: small(1, 16, func(q *QP) *int { return &q.MaxSGE })},
	{name: "max_inline", form: "size, up to 64B", def: "64B", doc: "inline data of a work request", read: func(r *reader, q *QP, n ast.Node) { q.MaxInline = int(r.size(n, 0, 64)) }},
	{name: "sig_all", form: "bool", def: "false", doc: "every send gives a completion", read: func(r *reader, q *QP, n ast.Node) { q.SigAll = r.bool(n) }},
	{name: "ipv6", form: "bool", def: "false", doc: "packets are IPv6; that of the peer must be the same", read: func(r *reader, q *QP, n ast.Node) { q.IPv6 = r.bool(n) }},
}
