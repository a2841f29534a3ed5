package fault

import (
	"fmt"
	"strings"
	"time"

	"rnic/pcie"
	"rnic/roce"
)

// word is one of the language: a name, and behind an equals sign perhaps a value.
type word struct {
	name  string
	value string // what is written behind the name in help; "": nothing; in brackets: if wanted
	doc   string
	group group
	set   func(s *Spec, v string) error
}

// group is what a word says; most may be said once.
type group uint8

const (
	action group = iota
	place        // a, b
	which        // kinds and places of packets: any number of them
	one          // each once
)

// domains of words.
const (
	wireWords = iota
	pcieWords
)

// act makes the setter of an action without a value.
func act(a Action) func(*Spec, string) error {
	return func(s *Spec, _ string) error { s.Action = a; return nil }
}

// wait makes the setter of an action that takes a time.
func wait(a Action) func(*Spec, string) error {
	return func(s *Spec, v string) (err error) {
		s.Action = a
		if v != "" {
			s.Wait, err = span(v)
		}
		return err
	}
}

func at(h Host) func(*Spec, string) error {
	return func(s *Spec, _ string) error { s.Host = h; return nil }
}

// common are the words of both domains.
var common = []word{
	{"nth", "N", "the N-th that matches, from 1; without it the first", one, func(s *Spec, v string) (err error) {
		s.Nth, err = number(v, 1, 1<<40)
		return err
	}},
	{"times", "N|all", "so many from there on, or all; without it 1", one, func(s *Spec, v string) (err error) {
		if s.Times = All; v != "all" {
			s.Times, err = number(v, 1, All-1)
		}
		return err
	}},
	{"from", "TIME", "none earlier than this after the transfer began", one, func(s *Spec, v string) (err error) {
		s.From, err = span(v)
		return err
	}},
	{"to", "TIME", "none later", one, func(s *Spec, v string) (err error) {
		s.To, err = span(v)
		return err
	}},
}

// words are those of the wire, and of PCIe.
var words = [2][]word{
	append([]word{
		{"drop", "", "lost", action, act(Drop)},
		{"duplicate", "[TIME]", "comes twice, the copy at once or so much later", action, wait(Duplicate)},
		{"delay", "TIME", "comes later, others overtake it", action, wait(Delay)},
		{"reorder", "[N]", "the next N frames go by, 1 without N; after 20 us it comes all the same", action, func(s *Spec, v string) error {
			s.Action, s.Frames = Reorder, 1
			if v == "" {
				return nil
			}
			n, err := number(v, 1, 1000)
			s.Frames = int(n)
			return err
		}},
		{"corrupt", "", "a byte or a field is changed, the FCS is right, the ICRC left as it was", action, act(Corrupt)},
		{"truncate", "N", "its first N bytes come, or all but the last -N, with a good FCS", action, func(s *Spec, v string) (err error) {
			s.Action = Truncate
			s.Bytes, err = signed(v)
			if err == nil && s.Bytes == 0 {
				err = fmt.Errorf("must not be 0")
			}
			return err
		}},
		{"badfcs", "", "comes with a wrong FCS", action, act(BadFCS)},
		{"a", "", "on the way to host a", place, at(A)},
		{"b", "", "on the way to host b", place, at(B)},
		{"not", "KIND,...", "packets of these kinds are spared", one, func(s *Spec, v string) error {
			for w := range strings.SplitSeq(v, ",") {
				k := kindOf(w)
				if k == 0 {
					return fmt.Errorf("%q is no kind of packet: must be of %s", w, kindWords())
				}
				s.Except |= k
			}
			return nil
		}},
		{"qp", "N", "destination QP", one, func(s *Spec, v string) error {
			n, err := number(v, 0, 1<<24-1)
			s.QP = QP{true, roce.QPN(n)}
			return err
		}},
		{"psn", "N|+N", "PSN; +N counts from the first request, or the first answer, that went to the QP", one, func(s *Spec, v string) error {
			v, relative := strings.CutPrefix(v, "+")
			n, err := number(v, 0, 1<<24-1)
			s.PSN = PSN{true, relative, roce.PSN(n)}
			return err
		}},
		{"byte", "N", "corrupt: the byte at offset N, or N from the end", one, func(s *Spec, v string) (err error) {
			s.Change.ByteSet = true
			s.Change.Byte, err = signed(v)
			return err
		}},
		{"field", "NAME", "corrupt: the field of that name", one, func(s *Spec, v string) error {
			if s.Change.Field = v; fieldOf(v) == nil {
				return fmt.Errorf("no such field: must be one of %s", fieldNames())
			}
			return nil
		}},
		{"xor", "N", "corrupt: these bits are turned over; without it the least", one, func(s *Spec, v string) (err error) {
			s.Change.Value, err = number(v, 1, 1<<64-1)
			return err
		}},
		{"set", "N", "corrupt: it becomes N", one, func(s *Spec, v string) (err error) {
			s.Change.Set = true
			s.Change.Value, err = number(v, 0, 1<<64-1)
			return err
		}},
		{"repair", "", "corrupt: ICRC and checksums are made right again", one, func(s *Spec, _ string) error { s.Change.Repair = true; return nil }},
	}, append(kindsAndPlaces(), common...)...),
	append([]word{
		{"pcie", "", "between the NIC and memory of its host, instead of on the wire", one, func(s *Spec, _ string) error { s.PCIe = true; return nil }},
		{"delay", "TIME", "comes later; all that is behind a write waits for it", action, wait(Delay)},
		{"ur", "", "unsupported request; a write is lost, and the NIC not told", action, act(UR)},
		{"ca", "", "completer abort; as ur for a write", action, act(CA)},
		{"poison", "", "a completion with poisoned data; as ur for a write", action, act(Poison)},
		{"never", "", "the completion of a read is never sent: the NIC's completion timeout ends it", action, act(Never)},
		{"stop", "TIME", "the host stands still: no credits, no completions", action, wait(Stop)},
		{"a", "", "at host a", place, at(A)},
		{"b", "", "at host b", place, at(B)},
		{"read", "", "reads of the NIC", which, func(s *Spec, _ string) error { s.Read = true; return nil }},
		{"write", "", "writes of the NIC", which, func(s *Spec, _ string) error { s.Write = true; return nil }},
		{"addr", "N[..N]", "bus address, or the first and last of a range", one, func(s *Spec, v string) error {
			lo, hi, two := strings.Cut(v, "..")
			if !two {
				hi = lo
			}
			l, err := number(lo, 0, 1<<64-1)
			if err != nil {
				return err
			}
			h, err := number(hi, l, 1<<64-1)
			s.Addr = Range{true, l, h}
			return err
		}},
		{"tag", "N", "tag of a read", one, func(s *Spec, v string) error {
			n, err := number(v, 0, 255)
			s.Tag = Tag{true, pcie.Tag(n)}
			return err
		}},
	}, common...),
}

// kindsAndPlaces are the words of kinds of packets and of places in messages.
func kindsAndPlaces() (l []word) {
	for _, k := range kinds {
		l = append(l, word{k.word, "", k.doc, which, func(s *Spec, _ string) error { s.Kinds |= kindOf(k.word); return nil }})
	}
	for _, p := range placeWords {
		l = append(l, word{p, "", "the " + p + " packet of a message", which, func(s *Spec, _ string) error { s.Places |= placeOf(p); return nil }})
	}
	return l
}

// The longest times: a second, and for PCIe what a tag of the NIC is kept back for a
// completion that comes after its timeout, with room.
const (
	maxWait     = time.Second
	maxPCIeWait = 20 * time.Millisecond
)
