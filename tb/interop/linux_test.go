package interop_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/interop"
	"rnic/tb/interop/image"
)

// build makes the guest's image. Without what it takes the test is skipped, but not
// where the tests must be complete.
func build(t *testing.T) image.Image {
	cache, err := filepath.Abs("../../out/interop")
	require.NoError(t, err)
	img, err := image.Build(cache)
	if err != nil && os.Getenv("CI") == "" {
		t.Skip("no guest to talk to: ", err)
	}
	require.NoError(t, err)
	return img
}

// TestLinux: the whole matrix against Linux's Soft-RoCE, then its capture by other
// eyes, then a quarter of it again with the wire cut out of the model: no case may pass
// that the model has no part in. The rest cut is for make interop.
func TestLinux(t *testing.T) {
	img, dir := build(t), t.TempDir()
	lab, err := interop.Start(t.Context(), img, dir)
	require.NoError(t, err)
	for _, c := range interop.Matrix() {
		t.Run(c.Name, func(t *testing.T) { require.NoError(t, lab.Run(c)) })
	}
	require.NoError(t, lab.CloseCapture())
	packets, by, err := interop.Check(filepath.Join(dir, "sent.pcapng"))
	require.NoError(t, err)
	t.Logf("%d RoCE packets judged by %s", packets, by)
	lab.Cut()
	t.Run("cut", func(t *testing.T) {
		for i, c := range interop.Matrix() {
			if i%4 != 0 {
				continue
			}
			t.Run(c.Name, func(t *testing.T) { require.Error(t, lab.Run(c)) })
		}
	})
	require.NoError(t, lab.Close())
}
