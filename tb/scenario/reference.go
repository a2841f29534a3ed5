package scenario

import (
	"fmt"
	"strings"

	"rnic/abi"
)

// Reference is the language as tables of Markdown: for each mapping its keys.
func Reference() string {
	var b strings.Builder
	tables(&b, "A scenario", "", topKeys)
	tables(&b, "`hosts.a`, `hosts.b`", "", hostKeys)
	tables(&b, "`wire`", "", wireKeys)
	tables(&b, "`nic`", "", nicKeys)
	tables(&b, "`qps.NAME`", "", qpKeys)
	tables(&b, "`mrs.NAME`", "One of the keys of content gives the first bytes; without, they are 0.", mrKeys)
	tables(&b, "A step of `work`", "", stepKeys)
	b.WriteString("Which keys an operation takes beside `name`, `qp`, `op`, `at`, `after` and `after_completions`:\n\n| op | keys | needs |\n|---|---|---|\n")
	for i := range ops {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", ops[i].name, strings.Join(ops[i].may, ", "), strings.Join(ops[i].must, ", "))
	}
	b.WriteByte('\n')
	tables(&b, "A segment of `local`", "", localKeys)
	tables(&b, "`remote`", "The offset may lie outside the region: that is for the NIC to find.", remoteKeys)
	tables(&b, "`inline`", "", inlineKeys)
	tables(&b, "`after_completions`", "", countKeys)
	tables(&b, "`expect`", "", expectKeys)
	tables(&b, "A completion", "", completionKeys)
	tables(&b, "Memory", "One of `like` and the keys of content must be there.", memoryKeys)
	tables(&b, "An event", "", eventKeys)
	tables(&b, "A packet of `packets` or `order`", "`count` is for `packets`, `wait` for `order`.", append(packetKeys[:len(packetKeys):len(packetKeys)], orderKeys[len(orderKeys)-1]))
	b.WriteString("Kinds of packets: ")
	for i, k := range kinds {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "`%s`: %s", k.name, k.doc)
	}
	b.WriteString(".\n\n### Counters\n\n| counter | of errors | what it counts |\n|---|---|---|\n")
	for _, c := range abi.Counters() {
		mark := ""
		if ofErrors(c) {
			mark = "†"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c, mark, c.Doc())
	}
	return b.String()
}

// tables writes the keys of a mapping.
func tables[T any](b *strings.Builder, title, doc string, keys []key[T]) {
	fmt.Fprintf(b, "### %s\n\n", title)
	if doc != "" {
		fmt.Fprintf(b, "%s\n\n", doc)
	}
	b.WriteString("| key | takes | default | meaning |\n|---|---|---|---|\n")
	for i := range keys {
		k := &keys[i]
		def := k.def
		if k.must {
			def = "must be given"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", k.name, k.form, def, k.doc)
	}
	b.WriteByte('\n')
}
