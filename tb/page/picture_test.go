package page_test

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/page"
	"rnic/tb/story"
)

var (
	pictures = flag.String("pictures", "", "folder for pictures of the page, to be looked at")
	ofStory  = flag.String("story", "", "with -pictures: a story.json instead of the made one")
)

// TestPictures takes pictures of the page for a person to look at.
func TestPictures(t *testing.T) {
	if *pictures == "" {
		t.Skip("no -pictures")
	}
	s := sample(400)
	if *ofStory != "" {
		var err error
		s, err = story.Read(*ofStory)
		require.NoError(t, err)
	}
	b, err := page.HTML("rnic run of a lossy wire", s)
	require.NoError(t, err)
	save := func(name string, png []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(*pictures, name), png, 0o666))
	}
	c := open(t, b, 1280, 900)
	save("light.png", c.picture(false))
	c.eval(`document.getElementById("ladder").focus()`)
	c.keys("n")
	save("problem.png", c.picture(false))
	save("whole.png", c.picture(true))
	c.dark(true)
	save("dark.png", c.picture(false))
	c.size(800, 900)
	c.settle()
	save("narrow.png", c.picture(false))
	save("narrow_whole.png", c.picture(true))
	c.quiet()
}
