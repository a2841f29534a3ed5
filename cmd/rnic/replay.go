package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"rnic/roce"
	"rnic/tb"
	"rnic/tb/replay"
	"rnic/waves"
)

// replayCmd plays a capture to the model.
type replayCmd struct {
	Capture string `arg:"" optional:"" help:"pcap or pcapng file of RoCEv2 traffic; - is standard input."`

	QP       string `name:"qp" help:"Only what goes from or to this QP, as 18 or 0x12; else all."`
	Role     string `default:"both" enum:"both,responder,requester" help:"Which side of the capture the model takes: ${enum}."`
	Lost     string `placeholder:"FRAMES" help:"Frames of the capture that did not arrive, as 2,5 or none; else inferred."`
	MTU      int    `help:"Path MTU in bytes; else inferred."`
	Timeout  uint8  `default:"10" help:"Of the model as requester: 4.096 us x 2^N."`
	RetryCnt *uint8 `help:"Of the model as requester; else what leads to the captured packets."`
	RNRRetry *uint8 `name:"rnr-retry" help:"Likewise."`
	SRQ      bool   `help:"Of the model as responder: its receives are of a shared queue."`
	Seed     uint64 `default:"1" help:"Seed of all that is drawn: the pages of memory."`

	Differing   bool   `help:"Print only rows that differ."`
	JSON        bool   `help:"Print the result as JSON."`
	Pcap        bool   `help:"Write replay.pcapng: all that the model sent and was given."`
	Out         string `default:"out" help:"Folder for the file."`
	Differences bool   `help:"Print the table of the differences that are legal, and end."`
}

// replayed is the result of all conversations.
type replayed struct {
	Capture       string         `json:"capture"`
	Frames        int            `json:"frames"`
	Packets       int            `json:"packets"` // of RC, UC and UD
	Notes         []string       `json:"notes"`
	Conversations []conversation `json:"conversations"`
	Same          int            `json:"same"`
	Legal         int            `json:"legal"`
	Wrong         int            `json:"wrong"`
	Failed        int            `json:"failed"` // results with an error
	Files         []string       `json:"files,omitempty"`

	transports string // how many packets of which
}

// conversation is one direction of a connection.
type conversation struct {
	Name    string   `json:"name"`
	MTU     int      `json:"mtu"`
	Ask     int      `json:"requests"`
	Answer  int      `json:"answers"`
	Notes   []string `json:"notes"`
	Results []result `json:"results"`
}

// result is what came of it in a role.
type result struct {
	*replay.Result
	Error string `json:"error,omitempty"`
}

// Run replays and prints.
func (r *replayCmd) Run() error {
	switch {
	case r.Differences:
		fmt.Print(replay.Table())
		return nil
	case r.Capture == "":
		return errors.New("replay: which capture?")
	}
	o, err := r.options()
	if err != nil {
		return err
	}
	c, err := readCapture(r.Capture)
	if err != nil {
		return err
	}
	if o.Lost, err = r.lost(c); err != nil {
		return err
	}
	list, err := r.chosen(replay.Conversations(c.Packets, o))
	if err != nil {
		return err
	}
	res := &replayed{Capture: filepath.Base(r.Capture), Frames: c.Frames, Packets: len(c.Packets), Notes: c.Notes, Conversations: []conversation{}, transports: c.Transports()}
	finish, err := r.record(&o, res)
	if err != nil {
		return err
	}
	for _, c := range list {
		res.replay(c, o, r.Role)
	}
	if err := finish(); err != nil {
		return err
	}
	if r.JSON {
		e := json.NewEncoder(os.Stdout)
		e.SetIndent("", "  ")
		err = e.Encode(res)
	} else {
		err = res.table(os.Stdout, r.Differing)
	}
	switch {
	case err != nil:
		return err
	case res.Wrong > 0:
		return fmt.Errorf("%s: %d wrong", res.Capture, res.Wrong)
	case res.Failed > 0:
		return fmt.Errorf("%s: %d could not be replayed", res.Capture, res.Failed)
	}
	return nil
}

// replay adds a conversation in the roles that were asked for.
func (res *replayed) replay(c *replay.Conversation, o replay.Options, role string) {
	v := conversation{Name: c.String(), MTU: c.MTU.Bytes(), Ask: c.Requests(), Answer: c.Answers(), Results: []result{}}
	for _, f := range []struct {
		role replay.Role
		run  func(replay.Options) (*replay.Result, error)
	}{{replay.AsResponder, c.Responder}, {replay.AsRequester, c.Requester}} {
		if role != "both" && role != string(f.role) {
			continue
		}
		one, err := f.run(o)
		if err != nil {
			v.Results = append(v.Results, result{&replay.Result{Role: f.role, Rows: []replay.Row{}}, err.Error()})
			res.Failed++
			continue
		}
		v.Results = append(v.Results, result{one, ""})
		res.Same, res.Legal, res.Wrong = res.Same+one.Same, res.Legal+one.Legal, res.Wrong+one.Wrong
	}
	v.Notes = c.Notes
	res.Conversations = append(res.Conversations, v)
}

func (r *replayCmd) options() (o replay.Options, err error) {
	o = replay.Options{Seed: r.Seed, Timeout: r.Timeout, RetryCnt: r.RetryCnt, RNRRetry: r.RNRRetry, SRQ: r.SRQ}
	switch {
	case r.Timeout < 1 || r.Timeout > 20:
		return o, fmt.Errorf("--timeout %d: must be 1 to 20", r.Timeout)
	case r.RetryCnt != nil && *r.RetryCnt > 7:
		return o, fmt.Errorf("--retry-cnt %d: must be 0 to 7", *r.RetryCnt)
	case r.RNRRetry != nil && *r.RNRRetry > 7:
		return o, fmt.Errorf("--rnr-retry %d: must be 0 to 7", *r.RNRRetry)
	case r.Pcap && strings.TrimSpace(r.Out) == "":
		return o, errors.New("--out: no name of a folder")
	case r.MTU == 0:
		return o, nil
	}
	var ok bool
	if o.MTU, ok = roce.MTUOf(r.MTU); !ok {
		return o, fmt.Errorf("--mtu %d: must be 256, 512, 1024, 2048 or 4096", r.MTU)
	}
	return o, nil
}

// readCapture reads the file.
func readCapture(path string) (c *replay.Capture, err error) {
	f := os.Stdin
	if path != "-" {
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
		defer f.Close()
	}
	if c, err = replay.Read(f); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

// lost are the frames of --lost; nil: inferred.
func (r *replayCmd) lost(c *replay.Capture) (map[int]bool, error) {
	if r.Lost == "" {
		return nil, nil
	}
	m := map[int]bool{}
	if r.Lost == "none" {
		return m, nil
	}
	taken := map[int]bool{}
	for i := range c.Packets {
		taken[c.Packets[i].Frame] = true
	}
	for _, s := range strings.Split(r.Lost, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return nil, fmt.Errorf("--lost %s: %q is no number of a frame", r.Lost, s)
		}
		if !taken[n] {
			return nil, fmt.Errorf("--lost %d: no packet that is replayed is in this frame; the capture has %d frames", n, c.Frames)
		}
		m[n] = true
	}
	return m, nil
}

// chosen are the conversations of --qp.
func (r *replayCmd) chosen(list []*replay.Conversation) ([]*replay.Conversation, error) {
	if r.QP == "" {
		if len(list) == 0 {
			return nil, errors.New("no requests in the capture, only answers: nothing to replay")
		}
		return list, nil
	}
	n, err := number24(r.QP)
	if err != nil {
		return nil, fmt.Errorf("--qp %s: no number of 24 bits", r.QP)
	}
	var out []*replay.Conversation
	var names []string
	for _, c := range list {
		if c.PeerQP == roce.QPN(n) || c.SelfQP == roce.QPN(n) {
			out = append(out, c)
		}
		names = append(names, c.String())
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("--qp %s: the capture has %s", r.QP, strings.Join(names, "; "))
	}
	return out, nil
}

// record writes what the models see one after the other.
func (r *replayCmd) record(o *replay.Options, res *replayed) (finish func() error, err error) {
	if !r.Pcap {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(r.Out, 0o777); err != nil {
		return nil, err
	}
	path := filepath.Join(r.Out, "replay.pcapng")
	c, err := waves.CreateCapture(path, "model")
	if err != nil {
		return nil, err
	}
	res.Files = append(res.Files, path)
	var base, last int64
	o.Tap = func(f tb.Frame) {
		if base+f.TimePs < last { // the next model begins at 0
			base = last
		}
		last = base + f.TimePs
		_ = c.Frame(last, f.Tx, f.Data) // Close tells
	}
	return c.Close, nil
}
