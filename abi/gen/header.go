package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"

	"rnic/abi"
	"rnic/bits"
)

//go:embed prelude.h
var preludeH string

//go:embed helpers.h
var helpersH string

// constants of the package that have no table, by their C name.
var constants = []struct {
	name  string
	value uint64
	hex   bool
}{
	{"ID", abi.ID, true},
	{"VERSION_MAJOR", abi.VersionMajor, false},
	{"VERSION_MINOR", abi.VersionMinor, false},
	{"BAR_SIZE", abi.BARSize, true},
	{"COUNTERS_BASE", abi.CountersBase, true},
	{"MSIX_TABLE_BASE", abi.MSIXTableBase, true},
	{"MSIX_PBA_BASE", abi.MSIXPBABase, true},
	{"MSIX_COUNT", abi.MSIXCount, false},
	{"UAR_BASE", abi.UARBase, true},
	{"UAR_PAGES", abi.UARPages, false},
	{"PAGE_SIZE", abi.PageSize, false},
	{"PUSH_OFFSET", abi.PushOffset, true},
	{"PUSH_SIZE", abi.PushSize, false},
	{"MAX_LOG_RING", abi.MaxLogRing, false},
	{"UNIT_SIZE", abi.UnitSize, false},
	{"MAX_UNITS", abi.MaxUnits, false},
	{"MAX_SGE", abi.MaxSGE, false},
	{"MAX_INLINE", abi.MaxInline, false},
	{"MAX_FAST_REG_PAGES", abi.MaxFastRegPages, false},
	{"NO_SLOT", abi.NoSlot, true},
	{"MAX_MESSAGE", abi.MaxMessage, true},
	{"SGE_SIZE", abi.SGESize, false},
	{"WQE_REMOTE_OFFSET", abi.WQERemoteOffset, false},
	{"WQE_DATA_OFFSET", abi.WQEDataOffset, false},
	{"WQE_ATOMIC_OFFSET", abi.WQEAtomicOffset, false},
	{"RWQE_DATA_OFFSET", abi.RWQEDataOffset, false},
	{"CQE_SIZE", abi.CQESize, false},
	{"EVENT_SIZE", abi.EventSize, false},
	{"ADMIN_COMMAND_SIZE", abi.AdminCommandSize, false},
	{"ADMIN_COMPLETION_SIZE", abi.AdminCompletionSize, false},
	{"MAILBOX_SIZE", abi.MailboxSize, false},
	{"CQ_PERIOD_CYCLES", abi.CQPeriodCycles, false},
	{"MAX_CQ_PERIOD", abi.MaxCQPeriod, false},
	{"NUM_GIDS", abi.NumGIDs, false},
}

// header writes include/rnic_abi.h.
func header(p *prose) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("/* Interface of the rnic device. Generated from package abi by go generate ./abi: do not edit. */\n" +
		"#ifndef RNIC_ABI_H\n#define RNIC_ABI_H\n\n" + preludeH + "\n")
	for _, c := range constants {
		if c.hex {
			fmt.Fprintf(&b, "#define RNIC_%s 0x%xu\n", c.name, c.value)
		} else {
			fmt.Fprintf(&b, "#define RNIC_%s %du\n", c.name, c.value)
		}
	}
	b.WriteString("#define RNIC_DOORBELL_ADDR(page) (RNIC_UAR_BASE + (page) * RNIC_PAGE_SIZE)\n" +
		"#define RNIC_PUSH_ADDR(page) (RNIC_DOORBELL_ADDR(page) + RNIC_PUSH_OFFSET)\n" +
		"#define RNIC_COUNTER_ADDR(counter) (RNIC_COUNTERS_BASE + 8u * (counter))\n")
	headerRegisters(&b)
	headerCounters(&b)
	for _, e := range abi.Enums() {
		if err := headerEnum(&b, p, e); err != nil {
			return nil, err
		}
	}
	for _, s := range abi.Structures() {
		if err := headerStructure(&b, p, s); err != nil {
			return nil, err
		}
	}
	b.WriteString("\n" + helpersH + "\n#endif\n")
	return b.Bytes(), nil
}

func headerRegisters(b *bytes.Buffer) {
	b.WriteString("\n/* Global registers: offset in BAR0, value after reset, fields. */\n")
	for _, r := range abi.Registers() {
		fmt.Fprintf(b, "#define RNIC_REG_%s 0x%03xu /* %v */\n", r.Name, r.Offset, r.Access)
		fmt.Fprintf(b, "#define RNIC_REG_%s_RESET 0x%08xu\n", r.Name, r.Reset)
		for _, f := range r.Fields {
			if !f.Reserved && f.Width < 32 {
				masks(b, r.Name, f, 0)
			}
		}
	}
}

// masks writes shift and mask of a field in the member that begins at byte off.
func masks(b *bytes.Buffer, owner string, f bits.Field, off int) {
	name := "RNIC_" + owner + "_" + strings.ToUpper(snake(f.Name))
	shift := f.BitOffset - off*8
	fmt.Fprintf(b, "#define %s_SHIFT %d\n", name, shift)
	fmt.Fprintf(b, "#define %s_MASK 0x%xu\n", name, (uint64(1)<<f.Width-1)<<shift)
}

func headerCounters(b *bytes.Buffer) {
	b.WriteString("\n/* Counters: index in the counters page. */\nenum rnic_counter {\n")
	for _, c := range abi.Counters() {
		fmt.Fprintf(b, "\tRNIC_COUNTER_%s = %d, /* %s */\n", strings.ToUpper(c.String()), c, c.Doc())
	}
	fmt.Fprintf(b, "};\n#define RNIC_NUM_COUNTERS %d\n", abi.NumCounters)
}

func headerEnum(b *bytes.Buffer, p *prose, e *abi.Enum) error {
	doc, err := p.of(e.Name)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n/* %s */\n", doc)
	if !e.Mask {
		fmt.Fprintf(b, "enum rnic_%s {\n", snake(e.Name))
	}
	for _, v := range e.Values {
		note := ""
		if v.Doc != "" {
			note = " /* " + v.Doc + " */"
		}
		if e.Mask {
			fmt.Fprintf(b, "#define RNIC_%s_%s 0x%xu%s\n", e.Prefix, v.Name, v.Value, note)
		} else {
			fmt.Fprintf(b, "\tRNIC_%s_%s = %d,%s\n", e.Prefix, v.Name, v.Value, note)
		}
	}
	if !e.Mask {
		b.WriteString("};\n")
	}
	return nil
}

func headerStructure(b *bytes.Buffer, p *prose, s abi.Structure) error {
	doc, err := p.of(s.Name)
	if err != nil {
		return err
	}
	ms, err := members(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(b, "\n/* %s */\nstruct rnic_%s {\n", doc, s.CName)
	for i := range ms {
		fmt.Fprintf(b, "\t%s;%s\n", declaration(&ms[i]), memberNote(&ms[i]))
	}
	b.WriteString("};\n")
	for i := range ms {
		for _, f := range ms[i].fields {
			if !f.Reserved && f.Width != ms[i].size*8 {
				masks(b, strings.ToUpper(s.CName), f, ms[i].off)
			}
		}
	}
	fmt.Fprintf(b, "_Static_assert(sizeof(struct rnic_%s) == %d, \"size of %s\");\n", s.CName, s.Size, s.CName)
	for i := range ms {
		fmt.Fprintf(b, "_Static_assert(offsetof(struct rnic_%s, %s) == %d, \"offset of %s.%s\");\n",
			s.CName, ms[i].name, ms[i].off, s.CName, ms[i].name)
	}
	return nil
}

// declaration is a member as C declares it, without the semicolon.
func declaration(m *member) string {
	switch {
	case m.nested != nil && m.count > 0:
		return fmt.Sprintf("struct rnic_%s %s[%d]", m.nested.CName, m.name, m.count)
	case m.nested != nil:
		return fmt.Sprintf("struct rnic_%s %s", m.nested.CName, m.name)
	case m.size == 1:
		return "uint8_t " + m.name
	case m.isWord():
		return fmt.Sprintf("rnic_le%d %s", m.size*8, m.name)
	}
	return fmt.Sprintf("uint8_t %s[%d]", m.name, m.size)
}

// isWord tells a member that C has as one little-endian integer.
func (m *member) isWord() bool {
	size := m.size == 2 || m.size == 4 || m.size == 8
	return size && m.off%m.size == 0 && !m.bytes && !m.reserved() && m.nested == nil
}

func memberNote(m *member) string {
	var notes []string
	for _, f := range m.fields {
		switch {
		case f.Reserved || f.Doc == "":
		case f.Width == m.size*8:
			notes = append(notes, f.Doc)
		default:
			lo := f.BitOffset - m.off*8
			notes = append(notes, fmt.Sprintf("%s: %s", bitRange(lo, f.Width), f.Doc))
		}
	}
	if notes == nil {
		return ""
	}
	return " /* " + strings.Join(notes, "; ") + " */"
}

// bitRange is a field's place as the documents write it: 31:24, or 7.
func bitRange(lo, width int) string {
	if width == 1 {
		return fmt.Sprint(lo)
	}
	return fmt.Sprintf("%d:%d", lo+width-1, lo)
}
