// Package read reads waveforms that any tool wrote, VCD and FST, through one interface:
// first what is declared, then the changes in order of time.
//
//	f, err := read.Open("run.fst")
//	...
//	defer f.Close()
//	for f.Next() { // one time stamp
//		f.Time()    // in ticks of f.Exponent
//		f.Changed() // which values may be others than before
//		f.Raw(id)   // what a value is now
//	}
//	err = f.Err()
//
// A value has a number, its ID; aliases are several variables of one ID. All changes of
// a time stamp are one step, of which the last of each value counts: what is between is
// a glitch without duration.
//
// It shares no code with the writers of package waves, so that each checks the other.
//
// # VCD
//
// IEEE 1364-2005 18.2 with what tools add: the nine values of std_logic, strings with
// escapes, events, tables of enums ($attrbegin misc 07), any type of variable or scope,
// words of a directive or several changes on any number of lines, codes of any length,
// CR LF, a byte order mark, and gzip around all. What is refused is what cannot be
// understood in one way only: a code that is not declared or has two widths, a value too
// wide, a scalar for a vector, time that goes back or has a fraction, a timescale other
// than 1, 10 or 100 of a unit, declarations after the header, extended VCD ($dumpports).
//
// # FST
//
// As libfst writes it and as package waves does: sections with and without aliases,
// packed by LZ4 or zlib, the hierarchy as gzip or LZ4 once or twice, blackouts, enums,
// the whole file within gzip. FastLZ and ports of extended VCD are refused. A section
// that was being written when the writer was killed ends the file, with a note; one that
// is cut short is an error once all before it has been read.
//
// LZ4 is unpacked by github.com/pierrec/lz4/v4: it is fuzzed, fast, and not by the
// author of the packer in package waves, so that a fault of one is not hidden by the other.
//
// # Faults and limits
//
// A damaged file gives an Error with the line of a VCD or the byte of an FST; never a
// panic. Memory is bounded whatever a file says:
//
//	variables, scopes           16,777,216 each, scopes 1,024 deep
//	a name                      65,535 bytes
//	a value                     1,048,576 bits; all together 67,108,864, a byte each
//	a string, a word of a VCD   16 MiB
//	hierarchy of an FST         512 MiB; 200 to 300 bytes a variable once it is read
//	a section of an FST         1 GiB unpacked, of the values that are wanted
//
// and nothing is made room for that the bytes of the file could not expand to. A VCD is
// read through a buffer of 256 KiB. An FST takes one section at a time (8 MiB when this
// project wrote it, 128 MiB by vcd2fst), 12 bytes a variable and 12 a time stamp of it.
package read
