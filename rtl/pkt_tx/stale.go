package pkttx

import "rnic/rtl/port"

// rewound takes a Stale: requests of the QP from before its generation are dropped when
// they come to the head.
func (s *Send) rewound(x *port.Stale) {
	*s.Gens.WriteNext(0, s.at(x.QPN)) = x.Gen
	s.stales.Set(s.stales.Get() + 1)
	s.D.Seen = false
}

// suspect tells whether a request may be stale. One that was asked for when Send had
// all Stales is not: what qpc answered was no older.
func (s *Send) suspect(j *job) bool {
	return !j.Pkt.Resp && !j.Pkt.Purge && j.Stales != s.stales.Get()
}

// seen tells whether Gens shows the QP, and has it looked up otherwise. So of several
// requests of one QP only the first waits.
func (s *Send) seen(n port.QPN) bool {
	q, d := &s.Q, &s.D
	if q.Seen && q.SeenQPN == n {
		return true
	}
	s.Gens.Read(1, s.at(n))
	d.Seen, d.SeenQPN = true, n
	return false
}

// stale tells whether a request is from before the newest Stale of its QP, which Gens
// shows.
func (s *Send) stale(p *port.TxPkt) bool { return int8(p.Gen-*s.Gens.Data(1)) < 0 }

// left tells retrans of a request that asks for an answer.
func (s *Send) left(p *port.TxPkt) {
	if !p.Resp && p.AckReq {
		s.Left.Put(port.Left{QPN: p.QPN, LastPSN: p.LastPSN})
	}
}
