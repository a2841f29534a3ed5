package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Result is what came of a fault.
type Result struct {
	Fault  Fault
	Line   int    // of the file, where the fault is
	Judge  string // that caught it; "": none has
	Reason string
	Took   time.Duration // of all judges, without the compiler
}

// try puts a fault into the design and asks judges until one has caught it.
func try(ctx context.Context, root string, f Fault, judges []Judge) (Result, error) {
	r := Result{Fault: f}
	text, line, err := f.Apply(root)
	if err != nil {
		return r, err
	}
	r.Line = line
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return r, err
	}
	defer os.RemoveAll(dir)
	changed, overlay := filepath.Join(dir, "changed.go"), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, f.File): changed}})
	if err != nil {
		return r, err
	}
	if err := os.WriteFile(changed, text, 0o666); err != nil {
		return r, err
	}
	if err := os.WriteFile(overlay, replace, 0o666); err != nil {
		return r, err
	}
	r.Judge, r.Reason, r.Took, err = ask(ctx, root, overlay, dir, judges)
	if err != nil {
		return r, fmt.Errorf("fault %s: %w", f.Name, err)
	}
	return r, nil
}

// ask builds judges in dir and runs them, up to the first that is against the design.
func ask(ctx context.Context, root, overlay, dir string, judges []Judge) (judge, reason string, took time.Duration, err error) {
	built := map[string]bool{}
	for _, j := range judges {
		program := filepath.Join(dir, filepath.Base(j.Pkg))
		if !built[j.Pkg] {
			if err := j.build(ctx, root, overlay, program); err != nil {
				return "", "", took, err
			}
			built[j.Pkg] = true
		}
		begun := time.Now()
		reason, err := j.run(ctx, root, program)
		took += time.Since(begun)
		if err != nil || reason != "" {
			return j.Name, reason, took, err
		}
	}
	return "", "", took, nil
}

// sound demands that no judge is against the design as it is: one that always fails
// would catch everything.
func sound(ctx context.Context, root string, judges []Judge) error {
	dir, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	judge, reason, _, err := ask(ctx, root, "", dir, judges)
	if err == nil && judge != "" {
		err = fmt.Errorf("%s fails without a fault: %s", judge, reason)
	}
	return err
}
