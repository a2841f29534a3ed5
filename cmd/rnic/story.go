package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"rnic/tb"
	"rnic/tb/story"
	"rnic/tb/whole"
)

// teller writes the story of a run.
type teller struct {
	rec   *story.Recorder
	path  string // of story.json
	log   string
	views []view
	last  [2]string // comment of the packet that left last, by host
}

// storyFile and logFile are names in the folder of a run.
const (
	storyFile = "story.json"
	logFile   = "rnic.log"
)

// openStory attaches a recorder, before what asks it for comments.
func (o *outputs) openStory(r *runCmd, b *tb.Bench) error {
	rec, err := story.Attach(b, story.Options{})
	if err != nil {
		return err
	}
	o.teller = &teller{rec: rec, path: filepath.Join(r.Out, storyFile), log: filepath.Join(r.Out, logFile)}
	o.files = append(o.files, o.teller.path, o.teller.log)
	o.teller.views = r.views()
	for _, v := range o.teller.views {
		o.files = append(o.files, v.path)
	}
	if r.Pcap {
		rec.OnPacket(o.teller.leaves)
	}
	return nil
}

// leaves is told of each packet, before its frame is captured.
func (t *teller) leaves(p *story.Packet) { t.last[p.ID&1] = p.Comment() }

// comment is what the capture of host i says of a frame; empty without a story.
func (t *teller) comment(i int, f tb.Frame) string {
	switch {
	case t == nil:
		return ""
	case f.Tx:
		return t.last[i]
	case f.Number == 0:
		return fmt.Sprintf("nobody sent it; cycle %d", f.TimePs/tb.PeriodPs)
	}
	return fmt.Sprintf("packet %d arrives; cycle %d", story.PacketID(1-i, f.Number), f.TimePs/tb.PeriodPs)
}

// finish writes the files, with what ended the run.
func (t *teller) finish(failure string) error {
	if t == nil {
		return nil
	}
	s := t.rec.Finish()
	s.Failure = failure
	if err := story.Write(t.path, s); err != nil {
		return err
	}
	return errors.Join(whole.Write(t.log, s.WriteLog), writeViews(t.views, s))
}
