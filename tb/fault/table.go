package fault

import (
	"fmt"
	"strings"
)

// Tables are the words of the language as tables of Markdown: those of the wire, of
// PCIe, and the fields.
func Tables() string {
	var b strings.Builder
	for domain, l := range words {
		fmt.Fprintf(&b, "### Words of a fault %s\n\n| word | meaning |\n|---|---|\n", [...]string{"on the wire", "on PCIe"}[domain])
		for i := range l {
			fmt.Fprintf(&b, "| `%s` | %s |\n", l[i].usage(), l[i].doc)
		}
		fmt.Fprint(&b, "| `P%` | each that matches, with a probability of so many percent, 0.0001 to 100 |\n\n")
	}
	fmt.Fprint(&b, "### Fields of `field=`\n\n| field | bits | what |\n|---|---|---|\n")
	for i := range fields {
		f := &fields[i]
		fmt.Fprintf(&b, "| `%s` | %d | %s |\n", f.name, 8*f.width, f.doc)
	}
	return b.String()
}

// usage is how the word is written.
func (w *word) usage() string {
	switch {
	case w.value == "":
		return w.name
	case w.value[0] == '[':
		return w.name + "[=" + w.value[1:]
	}
	return w.name + "=" + strings.ReplaceAll(w.value, "|", " or ")
}
