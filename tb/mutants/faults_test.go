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
		text, line, err := f.Apply(root)
		if !assert.NoError(t, err) {
			continue
		}
		require.Positive(t, line)
		require.NotEqual(t, f.Old, f.New, f.Name)
		require.Regexp(t, `^rtl/\w+/\w+\.go$`, f.File)
		require.NotRegexp(t, `_test\.go$`, f.File)
		_, err = parser.ParseFile(token.NewFileSet(), f.File, text, parser.SkipObjectResolution)
		require.NoError(t, err, f.Name)
	}
}
