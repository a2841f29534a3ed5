package read

import (
	"bytes"
	"fmt"
	"io"
)

// words cuts a VCD into words.
type words struct {
	r       io.Reader
	buf     []byte
	at, end int
	line    int // of the last word
	over    bool
}

const bufferSize = 256 << 10

// next is the next word, valid until the one after. At the end it is io.EOF.
func (w *words) next() ([]byte, error) {
	for {
		for w.at < w.end {
			c := w.buf[w.at]
			if c > ' ' {
				return w.word()
			}
			switch c {
			case '\n':
				w.line++
			case ' ', '\t', '\r', '\f', '\v':
			default:
				return nil, fmt.Errorf("byte %#02x", c)
			}
			w.at++
		}
		if err := w.more(); err != nil {
			return nil, err
		}
	}
}

// word is from here to the next space.
func (w *words) word() ([]byte, error) {
	for i := w.at; ; {
		b := w.buf[:w.end]
		for i < len(b) && b[i] > ' ' {
			i++
		}
		if i < len(b) {
			word := b[w.at:i]
			w.at = i
			return word, nil
		}
		if i-w.at > maxWord {
			return nil, fmt.Errorf("a word of more than %d bytes", maxWord)
		}
		i -= w.at
		err := w.more()
		i += w.at
		if err == io.EOF && i > w.at {
			word := w.buf[w.at:w.end]
			w.at = w.end
			w.over = true // the last line has no end
			return word, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// more reads more, and moves what is left to the front.
func (w *words) more() error {
	left := w.end - w.at
	if w.buf == nil {
		w.buf = make([]byte, bufferSize)
	} else if left == len(w.buf) {
		w.buf = append(w.buf, make([]byte, len(w.buf))...)
	}
	copy(w.buf, w.buf[w.at:w.end])
	w.at, w.end = 0, left
	for range 100 {
		n, err := w.r.Read(w.buf[w.end:])
		w.end += n
		if n > 0 {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// skip goes over words to $end.
func (w *words) skip() error {
	for {
		word, err := w.next()
		if err != nil {
			return err
		}
		if bytes.Equal(word, []byte("$end")) {
			return nil
		}
	}
}
