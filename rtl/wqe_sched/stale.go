package wqesched

import "rnic/rtl/port"

// rewound is the newest Stale. Of the QP that it names, services from before its
// generation are old: they end at once, between two packets. A Stale that is overtaken
// by another before all is done is forgotten: a service ends by itself, too.
type rewound struct {
	On  bool // there was one
	QPN port.QPN
	Gen uint8
}

// old tells whether a service is from before the rewind.
func (r *rewound) old(c *port.SQCtx) bool {
	return r.On && c.Run && c.QPN == r.QPN && int8(c.Gen-r.Gen) < 0
}

// rewound takes a Stale.
func (f *Fetch) rewound() {
	if !f.Stale.Valid() {
		return
	}
	x := f.Stale.Take()
	f.D.Rewound, f.D.Recall = rewound{true, x.QPN, x.Gen}, true
	f.newest.Set(f.D.Rewound)
}

// recall ends the service that waits for its line open, if it is old, and has the QP
// served again if it is parked: it is to begin elsewhere.
func (f *Fetch) recall(e *lines) {
	s := &f.Q.Stay
	stays := s.On && s.Service.Ctx.QPN == f.Q.QPN
	if stays && !f.Q.Rewound.old(&s.Service.Ctx) {
		return
	}
	waited := e.leave()
	switch {
	case stays:
		v := s.Service
		v.Verdict, v.Outcome = wait, idle
		f.D.Stay = stay{}
		f.service.Put(v)
	case waited:
		f.ready.Put(f.Q.QPN)
	}
}
