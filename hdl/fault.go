package hdl

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Fault is a broken rule: a Put without Ready, a value wider than its type, an
// invariant reported by Fail, or a Go run-time error inside a block.
type Fault struct {
	Path  string // block
	Cycle uint64
	Msg   string
}

func (f *Fault) Error() string { return fmt.Sprintf("%s: cycle %d: %s", f.Path, f.Cycle, f.Msg) }

func (b *block) fail(format string, args ...any) {
	panic(&Fault{b.path, b.k.cycle, fmt.Sprintf(format, args...)})
}

// putMisuse and takeMisuse are what ports panic with: one word, so that the check
// costs the caller a compare and no call.
type putMisuse struct{ s *fifo }
type takeMisuse struct{ s *fifo }

func (m putMisuse) Error() string {
	if m.s.push != 0 {
		return m.s.info.srcPath + ": second Put in one cycle"
	}
	return m.s.info.srcPath + ": Put without Ready"
}

func (m takeMisuse) Error() string {
	if m.s.pop != 0 {
		return m.s.info.inPath + ": second Take in one cycle"
	}
	return m.s.info.inPath + ": Take or Head without Valid"
}

// fault turns what a block panicked with into the error that Run returns.
func (k *Kernel) fault(r any) error {
	switch r := r.(type) {
	case *Fault:
		return r
	case putMisuse, takeMisuse:
		return &Fault{k.running(), k.cycle, r.(error).Error()}
	}
	return &Fault{k.running(), k.cycle, fmt.Sprint(r) + origin()}
}

// running is the path of the block that was being run.
func (k *Kernel) running() string {
	if int(k.cur) < len(k.blocks) && k.blocks[k.cur] != nil {
		return k.blocks[k.cur].path
	}
	return k.name
}

// origin names the source line of the panic being recovered.
func origin() string {
	var pc [48]uintptr
	frames := runtime.CallersFrames(pc[:runtime.Callers(2, pc[:])])
	for panicking := false; ; {
		f, more := frames.Next()
		inRuntime := strings.HasPrefix(f.Function, "runtime.")
		if panicking && !inRuntime {
			return fmt.Sprintf(" at %s/%s:%d", path.Base(path.Dir(f.File)), path.Base(f.File), f.Line)
		}
		panicking = panicking || f.Function == "runtime.gopanic"
		if !more {
			return ""
		}
	}
}
