package main

import (
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFaults: every entry of the list still fits the design, and what it makes of a
// file is Go.
func TestFaults(t *testing.T) {
	faults, err := Parse(list)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(faults), 40)
	root, err := moduleRoot()
	require.NoError(t, err)
	for _, f := range faults {
		assert.NotEqual(t, f.Old, f.New, f.Name)
		assert.Regexp(t, `^rtl/\w+/\w+\.go$`, f.File)
		assert.NotRegexp(t, `_test\.go$`, f.File)
		text, line, err := f.Apply(root)
		if !assert.NoError(t, err) {
			continue
		}
		assert.Positive(t, line)
		_, err = parser.ParseFile(token.NewFileSet(), f.File, text, parser.SkipObjectResolution)
		assert.NoError(t, err, f.Name)
	}
}

const entry = `# What is put into list.go.
fault  more
is     one more
clause none
file   list.go
-	n++
+	n += 2

`

func TestParse(t *testing.T) {
	faults, err := Parse(entry)
	require.NoError(t, err)
	require.Equal(t, []Fault{{Name: "more", Is: "one more", Clause: "none", File: "list.go", Old: "\tn++\n", New: "\tn += 2\n"}}, faults)
	for text, want := range map[string]string{
		"is more\n":             `line 1: "is more" is no part of an entry, which begins with "fault NAME"`,
		"fault a\nwhat is it\n": `line 2: "what" is none of fault, is, clause, file, - and +`,
		"fault a\nis b\n":       `fault "a": name, is, clause, file and old lines must be there`,
		entry + entry:           `fault "more": there are two of that name`,
	} {
		_, err := Parse(text)
		require.EqualError(t, err, want)
	}
}

func TestApply(t *testing.T) {
	f := Fault{Name: "more", File: "list.go", Old: "\tn++\n", New: "\tn += 2\n"}
	for text, want := range map[string]string{
		"a\n\tn++\nb\n":        "",
		"a\n\tn--\n":           "fault more: the old lines are 0 times in list.go, must be once:\n\tn++\n",
		"a\n\tn++\nb\n\tn++\n": "fault more: the old lines are 2 times in list.go, must be once:\n\tn++\n",
		"a\n\t\tn++\n":         "fault more: the old lines are 0 times in list.go, must be once:\n\tn++\n",
	} {
		dir := t.TempDir()
		write(t, dir, "list.go", text)
		changed, line, err := f.Apply(dir)
		if want != "" {
			require.EqualError(t, err, want)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, "a\n\tn += 2\nb\n", string(changed))
		require.Equal(t, 2, line)
	}
}
