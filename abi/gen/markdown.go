package main

import (
	"bytes"
	"fmt"
	"strings"

	"rnic/abi"
	"rnic/bits"
)

// markdown writes docs/registers.md.
func markdown(p *prose) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("<!-- Generated from package abi by go generate ./abi: do not edit. -->\n\n" +
		"# Registers and structures\n\n" +
		"- [Overview](#overview)\n- [Global registers](#global-registers)\n- [Counters](#counters)\n" +
		"- [Structures](#structures)\n- [Enumerations](#enumerations)\n- [Transitions of a QP](#transitions-of-a-qp)\n\n" +
		"## Overview\n\n" + p.overview())
	mdRegisters(&b)
	mdCounters(&b)
	b.WriteString("\n## Structures\n\nBits count from the least significant bit of the little-endian number that the bytes form.\n")
	for _, s := range abi.Structures() {
		if err := mdStructure(&b, p, s); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n## Enumerations\n")
	for _, e := range abi.Enums() {
		if err := mdEnum(&b, p, e); err != nil {
			return nil, err
		}
	}
	mdTransitions(&b)
	return b.Bytes(), nil
}

func mdRegisters(b *bytes.Buffer) {
	b.WriteString("\n## Global registers\n\n" +
		"RO: writes are ignored and counted. WO: reads return 0. Offsets are from the start of BAR0.\n\n" +
		"| offset | register | access | reset | |\n|---|---|---|---|---|\n")
	for _, r := range abi.Registers() {
		name := r.Name
		if len(r.Fields) > 1 {
			name = fmt.Sprintf("[%s](#%s)", r.Name, strings.ToLower(r.Name))
		}
		fmt.Fprintf(b, "| 0x%03x | %s | %v | 0x%08x | %s |\n", r.Offset, name, r.Access, r.Reset, cell(r.Doc))
	}
	for _, r := range abi.Registers() {
		if len(r.Fields) == 1 {
			continue
		}
		fmt.Fprintf(b, "\n### %s\n\n0x%03x, %v, reset 0x%08x. %s\n\n| bits | field | reset | |\n|---|---|---|---|\n",
			r.Name, r.Offset, r.Access, r.Reset, r.Doc)
		for _, f := range r.Fields {
			where := bitRange(f.BitOffset, f.Width)
			if f.Reserved {
				fmt.Fprintf(b, "| %s | reserved | 0 | |\n", where)
				continue
			}
			reset := r.Reset >> f.BitOffset & uint32(uint64(1)<<f.Width-1)
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", where, f.Name, number(reset), mdNote(f))
		}
	}
}

// number writes small values in decimal, others in hexadecimal.
func number(v uint32) string {
	if v < 100000 && v != 0xffff {
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%#x", v)
}

func mdCounters(b *bytes.Buffer) {
	b.WriteString("\n## Counters\n\n64 bits each, read-only, cleared by reset. Reading the low word latches the high word at +4;" +
		" a read of 8 aligned bytes returns both.\n\n| index | offset | counter | counts |\n|---|---|---|---|\n")
	for _, c := range abi.Counters() {
		fmt.Fprintf(b, "| %d | 0x%04x | %v | %s |\n", c, abi.CounterAddr(c), c, cell(c.Doc()))
	}
}

func mdStructure(b *bytes.Buffer, p *prose, s abi.Structure) error {
	doc, err := p.of(s.Name)
	if err != nil {
		return err
	}
	ms, err := members(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n### %s\n\n%d bytes, in C `struct rnic_%s`. %s\n\n| bytes | bits | field | |\n|---|---|---|---|\n",
		s.Name, s.Size, s.CName, doc)
	for i := range ms {
		mdMember(b, &ms[i])
	}
	return nil
}

func mdMember(b *bytes.Buffer, m *member) {
	where := byteRange(m.off, m.size)
	if m.nested != nil {
		name := m.goName
		for i := range max(m.count, 1) {
			n, at := name, m.off+i*m.nested.Size
			if m.count > 0 {
				n = fmt.Sprintf("%s[%d]", name, i)
			}
			fmt.Fprintf(b, "| %s | | %s | [%s](#%s) |\n", byteRange(at, m.nested.Size), n, m.nested.Name, strings.ToLower(m.nested.Name))
		}
		return
	}
	if m.reserved() {
		fmt.Fprintf(b, "| %s | | reserved | |\n", where)
		return
	}
	for _, f := range m.fields {
		in := ""
		if f.Width != m.size*8 {
			in = bitRange(f.BitOffset-m.off*8, f.Width)
		}
		if f.Reserved {
			fmt.Fprintf(b, "| %s | %s | reserved | |\n", where, in)
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", where, in, f.Name, mdNote(f))
	}
}

// mdNote is a field's documentation, with a link to its enumeration.
func mdNote(f bits.Field) string {
	note := cell(f.Doc)
	for _, e := range abi.Enums() {
		if f.Type == "abi."+e.Name {
			link := fmt.Sprintf("[%s](#%s)", e.Name, strings.ToLower(e.Name))
			if strings.Contains(note, e.Name) {
				return strings.Replace(note, e.Name, link, 1)
			}
			return note + " (" + link + ")"
		}
	}
	return note
}

func byteRange(off, size int) string {
	if size == 1 {
		return fmt.Sprint(off)
	}
	return fmt.Sprintf("%d-%d", off, off+size-1)
}

func mdEnum(b *bytes.Buffer, p *prose, e *abi.Enum) error {
	doc, err := p.of(e.Name)
	if err != nil {
		return err
	}
	kind := "values"
	if e.Mask {
		kind = "mask"
	}
	fmt.Fprintf(b, "\n### %s\n\n%d bits, %s; in C `RNIC_%s_*`. %s\n\n| value | name | |\n|---|---|---|\n", e.Name, e.Width, kind, e.Prefix, doc)
	for _, v := range e.Values {
		if e.Mask {
			fmt.Fprintf(b, "| 0x%x | %s | %s |\n", v.Value, v.Name, cell(v.Doc))
		} else {
			fmt.Fprintf(b, "| %d | %s | %s |\n", v.Value, v.Name, cell(v.Doc))
		}
	}
	return nil
}

func mdTransitions(b *bytes.Buffer) {
	b.WriteString("\n## Transitions of a QP\n\nSTATE comes with each. Any state goes to RESET and to ERR with STATE alone. An attribute that is in neither column is refused.\n\n" +
		"| from | to | type | required | optional |\n|---|---|---|---|---|\n")
	for from := abi.QPReset; from <= abi.QPErr; from++ {
		for to := abi.QPInit; to < abi.QPErr; to++ {
			for t := abi.QPTypeRC; t <= abi.QPTypeRaw; t++ {
				if required, optional, ok := abi.Transition(t, from, to); ok {
					fmt.Fprintf(b, "| %v | %v | %v | %s | %s |\n", from, to, t, attrs(required), attrs(optional))
				}
			}
		}
	}
}

func attrs(m abi.QPAttr) string {
	if m == 0 {
		return ""
	}
	return strings.ReplaceAll(m.String(), "|", ", ")
}

// cell escapes text for a table.
func cell(s string) string { return strings.ReplaceAll(s, "|", "\\|") }
