package text

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"

	"rnic/waves/read"
)

// List prints signals: path, type, range or width, enum.
func List(w io.Writer, f *read.File, signals []int) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, i := range signals {
		v := &f.Vars[i]
		width := v.Range
		if width == "" && v.Width > 1 {
			width = strconv.Itoa(int(v.Width))
		}
		line := fmt.Sprintf("%s\t%s", f.Path(v), v.Type)
		switch {
		case v.Enum != nil:
			line += fmt.Sprintf("\t%s\t%s", width, v.Enum.Name)
		case width != "":
			line += "\t" + width
		}
		fmt.Fprintln(t, line)
	}
	return t.Flush()
}
