package trace

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"rnic/tb/whole"
)

// event is a trace event. Its fields are those of the format.
type event struct {
	Name string `json:"name,omitempty"`
	Cat  string `json:"cat,omitempty"`
	Ph   string `json:"ph"` // B begin, E end, i instant, C counter, s and f flow, M metadata
	Ts   us     `json:"ts"`
	Pid  int    `json:"pid"` // host, from 1
	Tid  int    `json:"tid"`
	ID   int    `json:"id,omitempty"` // of a flow
	Bp   string `json:"bp,omitempty"` // e: a flow ends at the slice around it
	S    string `json:"s,omitempty"`  // t: an instant of its thread
	Args any    `json:"args,omitempty"`
}

// us is a time in ps, written in us with three digits.
type us int64

// MarshalJSON rounds down to a ns, which keeps the order of times.
func (t us) MarshalJSON() ([]byte, error) {
	ns := max(int64(t), 0) / 1000
	return fmt.Appendf(nil, "%d.%03d", ns/1000, ns%1000), nil
}

// named is the argument of metadata.
type named struct {
	Name string `json:"name"`
}

// ordered is the argument of metadata that sorts.
type ordered struct {
	Index int `json:"sort_index"`
}

// write writes events in order of time, one a line: those of one time stay in their
// order. The file is written as a whole, or not at all.
func write(path string, meta, events []event) error {
	slices.SortStableFunc(events, func(a, b event) int { return int(max(-1, min(1, a.Ts/1000-b.Ts/1000))) })
	err := whole.Write(path, func(out io.Writer) error {
		w := bufio.NewWriter(out)
		_, _ = w.WriteString("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")
		for i, e := range append(meta, events...) {
			line, err := json.Marshal(e)
			if err != nil {
				return err
			}
			if i > 0 {
				_ = w.WriteByte(',')
			}
			_ = w.WriteByte('\n')
			_, _ = w.Write(line)
		}
		_, _ = w.WriteString("\n]}\n")
		return w.Flush() // the first error of a write stays
	})
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	return nil
}
