package random

import (
	"math/rand/v2"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
)

// Guests are QPs beside the pairs: of UC and UD, in the same protection domain. What
// becomes of their messages the acceptor judges, and nobody else: some are lost, and
// some do not fit.
type Guests struct {
	QPs      []Guest
	SRQs     []GuestSRQ
	Messages int // most that one sends in a phase
	Handles  int // ways to the peer that a host has, for its datagrams
}

// Guest is a QP of each host. Those of UC are connected with each other; each of UD
// sends to all that the peer has.
type Guest struct {
	Type             abi.QPType
	MTU              roce.MTU
	IPv6, SigAll     bool
	MaxSend, MaxRecv int
	SendSGE, RecvSGE int
	PSN              [2]uint32
	QKey             [2]uint32
	Tagged           bool
	VLAN             uint16
	Fates            []Fate // by phase
	SRQ              int    // from 1; 0: none
}

// Sizes of the memory of a host's guests, bytes.
const (
	guestSource = 1 << 16
	guestTarget = 1 << 14
	guestSlot   = 1 << 13 // of a receive
	guestMost   = guestSlot - 512
)

// drawGuests draws them: by draws of its own, so that all else stays what the seed makes
// it.
func (s *Scenario) drawGuests(seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0x60e575))
	g := &Guests{Messages: pick(r, 5, 20, 60), Handles: 1 + r.IntN(4)}
	for range r.IntN(3) {
		g.SRQs = append(g.SRQs, GuestSRQ{MaxRecv: pick(r, 1, 7, 20, 100), SGE: 1 + r.IntN(4), Limits: chance(r, 60)})
	}
	for range 1 + r.IntN(6) {
		q := Guest{
			Type: pick(r, abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUC, abi.QPTypeUD, abi.QPTypeUD), MTU: roce.MTU256 + roce.MTU(r.IntN(5)),
			IPv6: chance(r, 40), SigAll: chance(r, 20), MaxSend: pick(r, 1, 4, 16, 64), MaxRecv: pick(r, 1, 8, 16, 64, 100),
			SendSGE: 1 + r.IntN(4), RecvSGE: 1 + r.IntN(4),
			PSN:    [2]uint32{1<<24 - 1 - r.Uint32N(40), 1 + r.Uint32N(1<<24-1)},
			QKey:   [2]uint32{r.Uint32() >> 1, r.Uint32() >> 1},
			Tagged: chance(r, 25), VLAN: tag(r),
		}
		if n := len(g.SRQs); n > 0 && chance(r, 60) {
			q.SRQ = 1 + r.IntN(n)
		}
		for i := range s.Phases {
			f := Recreate
			if i > 0 {
				f = pick(r, Keep, Keep, Reset, Recreate)
			}
			q.Fates = append(q.Fates, f)
		}
		g.QPs = append(g.QPs, q)
	}
	s.Guests = g
}

// guests are those of a host, and what they share.
type guests struct {
	s      *side
	cfg    *Guests
	list   []*guest
	srqs   []*guestSRQ
	cq     *driver.CQ
	source *driver.Buffer
	target *driver.Buffer
	slots  *driver.Buffer
	from   *driver.MR // what is sent
	to     *driver.MR // what the peer's WRITEs go to
	into   *driver.MR // what receives go to
	free   []int      // slots
	bytes  []byte     // of source

	handles []handle
	peer    []guestRegions // by phase
	told    int            // phases in which the peer has nothing more to send
	sending int            // threads that do
	came    int            // messages
}

// guest is a QP of a host.
type guest struct {
	*guests
	*Guest
	i     int
	qp    *driver.QP
	open  int // sends that are not done
	next  uint64
	recvs map[uint64]int // slots of what is posted
	order []uint64       // sends that are not done
	space hdl.Event

	windows []*window
	opened  map[int]opened // of the peer
	leaving []int          // of those, which it is to be done with
	cloth   *driver.Buffer // memory of the windows, and its region
	frame   *driver.MR
}

// guestRegions is what a host tells the peer of its guests.
type guestRegions struct {
	QPs    []driver.Endpoint
	Target region
}
