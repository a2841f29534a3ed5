package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"rnic/tb/page"
	"rnic/tb/story"
	"rnic/tb/trace"
)

// reportFile and traceFile are names in the folder of a run.
const (
	reportFile = "report.html"
	traceFile  = "trace.json"
)

// viewFlags are the forms of the story.
type viewFlags struct {
	Report      bool `help:"Write the story, and report.html: a page with the packets, the work requests and what they waited for."`
	TraceEvents bool `help:"Write the story, and trace.json: the same for ui.perfetto.dev."`
}

// tells tells whether the story of the run is asked for, by itself or for a view of it.
func (r *runCmd) tells() bool { return r.Story || r.Report || r.TraceEvents }

// view writes a story in a form for a person.
type view struct {
	path  string
	write func(path string, s *story.Story) error
}

// views are those that the flags ask for.
func (r *runCmd) views() []view {
	var v []view
	if r.Report {
		v = append(v, view{filepath.Join(r.Out, reportFile), func(path string, s *story.Story) error { return page.Write(path, r.title(), s) }})
	}
	if r.TraceEvents {
		v = append(v, view{filepath.Join(r.Out, traceFile), trace.Write})
	}
	return v
}

// title says what was run, without a path.
func (r *runCmd) title() string {
	what := "built-in payload"
	if r.File != "" {
		what = filepath.Base(r.File)
	}
	if !isScenario(r.File) {
		what += ", " + r.Op
	}
	what = fmt.Sprintf("rnic run: %s, seed %d", what, r.Seed)
	if len(r.Fault) > 0 {
		what += ", faults: " + strings.Join(r.Fault, "; ")
	}
	if r.Plug != "" {
		what += ", plug: " + r.Plug
	}
	return what
}

// writeViews writes all of them.
func writeViews(views []view, s *story.Story) error {
	var errs []error
	for _, v := range views {
		errs = append(errs, v.write(v.path, s))
	}
	return errors.Join(errs...)
}
