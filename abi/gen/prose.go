package main

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// prose holds the doc comments of package abi.
type prose struct {
	pkg   *doc.Package
	types map[string]string // doc comment by type name
}

// readProse parses the Go files of a folder, tests apart.
func readProse(dir string) (*prose, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(dir, name), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	pkg, err := doc.NewFromFiles(fset, files, "rnic/abi")
	if err != nil {
		return nil, err
	}
	p := &prose{pkg: pkg, types: map[string]string{}}
	for _, t := range pkg.Types {
		p.types[t.Name] = t.Doc
	}
	return p, nil
}

// of returns the doc comment of a type as one line of text.
func (p *prose) of(name string) (string, error) {
	text := strings.Join(strings.Fields(p.types[name]), " ")
	if text == "" {
		return "", fmt.Errorf("type %s has no doc comment", name)
	}
	return text, nil
}

// overview returns the package comment as Markdown, headings from level 3 on.
func (p *prose) overview() string {
	printer := &comment.Printer{
		HeadingLevel: 3,
		HeadingID:    func(*comment.Heading) string { return "" },
		DocLinkURL:   func(*comment.DocLink) string { return "" },
	}
	text := string(printer.Markdown(p.pkg.Parser().Parse(p.pkg.Doc)))
	return strings.ReplaceAll(text, "\t", "    ")
}
