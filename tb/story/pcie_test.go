package story_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/tb/fault"
	"rnic/tb/story"
	"rnic/tb/transfer"
)

// A read or a write over PCIe that a fault strikes is told, in the log and where to look.
func TestPCIeFaults(t *testing.T) {
	for spec, text := range map[string]string{
		"pcie b write ur nth=9":        `PCIe: a write of \d+ bytes to 0x[0-9a-f]+: its data is lost, and the NIC is not told, by a fault`,
		"pcie a read never nth=4":      `PCIe: a read of \d+ bytes from 0x[0-9a-f]+: it is not answered, by a fault`,
		"pcie a read poison nth=4":     `PCIe: a read of \d+ bytes from 0x[0-9a-f]+: a completion is poisoned, by a fault`,
		"pcie a read delay=2us nth=3":  `PCIe: a read of \d+ bytes from 0x[0-9a-f]+: late by 500 cycles, by a fault`,
		"pcie b write stop=1us nth=20": `PCIe: a write of \d+ bytes to 0x[0-9a-f]+: from then on the host takes nothing for 250 cycles, by a fault`,
	} {
		t.Run(spec, func(t *testing.T) {
			s := broken(t, nil, func(j *transfer.Job) {
				specs, err := fault.ParseAll(spec)
				require.NoError(t, err)
				j.Faults = fault.New(1, specs...)
			})
			require.Len(t, s.PCIe, 1)
			require.Regexp(t, "^"+text+"$", s.PCIe[0].Text)
			require.Contains(t, s.Leads(), story.Lead{Statement: story.Statement{Text: s.PCIe[0].Text, At: s.PCIe[0].At}, WR: -1, Packet: -1})
			var log bytes.Buffer
			require.NoError(t, s.WriteLog(&log))
			require.Regexp(t, `(?m)^\d+ ns host_[ab]\.rc\.from_nic\.fire=1: `+text+`$`, log.String())
		})
	}
}
