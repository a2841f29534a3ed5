package page

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"strings"

	"rnic/tb/story"
	"rnic/tb/whole"
)

//go:embed assets
var assets embed.FS

// scripts are the parts of the page's script, in the order in which they need each other.
var scripts = [...]string{
	"data.js", "fold.js", "filter.js", "ladder.js", "ladder_labels.js", "ladder_input.js", "details.js", "work.js", "charts.js", "tables.js", "main.js",
}

// Write writes the page of a story to a file: as a whole, or not at all.
func Write(path, title string, s *story.Story) error {
	b, err := HTML(title, s)
	if err != nil {
		return err
	}
	if err := whole.WriteBytes(path, b); err != nil {
		return fmt.Errorf("page: %w", err)
	}
	return nil
}

// HTML is the page of a story: the same bytes for the same story.
func HTML(title string, s *story.Story) ([]byte, error) {
	r, err := columns(s)
	if err != nil {
		return nil, err
	}
	data, err := json.Marshal(r) // escapes <, > and &: nothing ends the script element
	if err != nil {
		return nil, fmt.Errorf("page: %w", err)
	}
	var script strings.Builder
	for _, name := range scripts {
		script.Write(asset(name))
	}
	var page bytes.Buffer
	_, _ = strings.NewReplacer( // one pass: a mark in a text stays
		"{{TITLE}}", html.EscapeString(title),
		"{{STYLE}}", string(asset("style.css")),
		"{{SCRIPT}}", script.String(),
		"{{DATA}}", string(data),
	).WriteString(&page, string(asset("page.html")))
	return page.Bytes(), nil
}

// asset is an embedded file.
func asset(name string) []byte {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	return b
}
