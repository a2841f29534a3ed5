package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
	"rnic/tb/transfer"
)

// timing is the world around the NICs.
type timing struct {
	LinkRate    int           `default:"100" help:"Rate of the wire in Gb/s."`
	LinkLatency time.Duration `default:"300ns" help:"Latency of the wire, one way."`
	PcieLatency time.Duration `default:"250ns" help:"Latency of PCIe, one way, for register accesses, reads and writes."`
	PcieProfile string        `default:"constant" enum:"constant,uniform,xeon-e5,xeon-e5-cached,xeon-e5-iommu,xeon-e3" help:"How long reads of host memory take: ${enum}. Constant and uniform go by --pcie-latency."`
}

// roundTrip is the latency of a read, ps.
func (t *timing) roundTrip() int64 { return 2 * tb.Picoseconds(t.PcieLatency) }

// Limits of timing. A beat of the wire is held for each cycle of its latency, and a
// register read that takes over 50 us is given up.
const (
	minLink, maxLink = 20 * time.Nanosecond, 5 * time.Millisecond
	minPcie, maxPcie = 4 * time.Nanosecond, 20 * time.Microsecond
)

// config is the bench that the flags describe.
func (t *timing) config(seed uint64) (tb.Config, error) {
	c := tb.Config{Seed: seed}
	switch {
	case t.LinkRate < 1 || t.LinkRate > 100:
		return c, fmt.Errorf("--link-rate %d: must be 1 to 100 Gb/s", t.LinkRate)
	case t.LinkLatency < minLink || t.LinkLatency > maxLink:
		return c, fmt.Errorf("--link-latency %v: must be %v to %v", t.LinkLatency, minLink, maxLink)
	case t.PcieLatency < minPcie || t.PcieLatency > maxPcie:
		return c, fmt.Errorf("--pcie-latency %v: must be %v to %v", t.PcieLatency, minPcie, maxPcie)
	}
	c.SetLink(t.LinkRate, tb.Picoseconds(t.LinkLatency))
	c.SetPCIe(tb.Picoseconds(t.PcieLatency))
	p, err := host.ProfileOf(t.PcieProfile)
	if err != nil {
		return c, err
	}
	c.Host.Read = p.Read(t.roundTrip())
	return c, nil
}

// maxWindow keeps --from and --to within int64 picoseconds.
const maxWindow = instant(1000 * time.Hour)

// job is the transfer of data that the flags describe.
func (r *runCmd) job(data transfer.Source) (transfer.Job, error) {
	j := transfer.Job{
		Data: data, Transport: transports[r.Transport], SRQ: r.SRQ, IPv6: r.IPv6, VLAN: r.VLAN,
		Op: ops[r.Op], QPs: r.QPs, MsgSize: 4096, Depth: r.Depth,
	}
	mtu, ok := roce.MTUOf(r.MTU)
	if !ok {
		return j, fmt.Errorf("--mtu %d: must be 256, 512, 1024, 2048 or 4096", r.MTU)
	}
	j.MTU = mtu
	switch {
	case r.MsgSize != nil && j.Transport == abi.QPTypeUD && *r.MsgSize > r.MTU:
		return j, fmt.Errorf("--msg-size %d: more than --mtu %d, which is the most of --transport ud", *r.MsgSize, r.MTU)
	case r.MsgSize != nil:
		j.MsgSize = *r.MsgSize
	case j.Transport == abi.QPTypeUD:
		j.MsgSize = r.MTU
	case j.Op == abi.OpCompareSwap || j.Op == abi.OpFetchAdd:
		j.MsgSize = 8
	}
	if j.Transport != abi.QPTypeRC {
		for _, f := range []struct {
			name string
			v    *uint8
		}{{"timeout", r.Timeout}, {"retry-cnt", r.RetryCnt}, {"rnr-retry", r.RNRRetry}} {
			if f.v != nil {
				return j, fmt.Errorf("--%s: nothing is sent again with --transport %s", f.name, r.Transport)
			}
		}
	}
	j.Driver.NoPush, j.Driver.Seed = r.NoPush, r.Seed
	j.Retries = transfer.Retries{Timeout: r.Timeout, RetryCnt: r.RetryCnt, RNRRetry: r.RNRRetry}
	return j, j.Check()
}

// transports are those of --transport.
var transports = map[string]abi.QPType{"rc": abi.QPTypeRC, "uc": abi.QPTypeUC, "ud": abi.QPTypeUD}

// ops are the operations of --op.
var ops = map[string]abi.WQEOp{
	"send": abi.OpSend, "send-imm": abi.OpSendImm, "write": abi.OpWrite, "write-imm": abi.OpWriteImm,
	"read": abi.OpRead, "cas": abi.OpCompareSwap, "faa": abi.OpFetchAdd,
}

// window judges the flags of the waves.
func (r *runCmd) window() error {
	switch {
	case r.All && !r.Stats:
		return fmt.Errorf("--all chooses what --stats prints, and there is no --stats")
	case !r.waves() && (r.Waves != "all" || len(r.Scope) > 0 || r.From != nil || r.To != nil):
		return fmt.Errorf("--waves, --scope, --from and --to choose what --fst and --vcd write, and there is neither")
	case r.From != nil && (*r.From < 0 || *r.From > maxWindow):
		return fmt.Errorf("--from %v: must be 0s to %v", r.From, maxWindow)
	case r.To != nil && (*r.To <= 0 || *r.To > maxWindow):
		return fmt.Errorf("--to %v: must be over 0s, to %v", r.To, maxWindow)
	case r.From != nil && r.To != nil && *r.To < *r.From:
		return fmt.Errorf("--to %v: before --from %v", r.To, r.From)
	case (r.waves() || r.Pcap || r.tells()) && strings.TrimSpace(r.Out) == "":
		return fmt.Errorf("--out: no name of a folder")
	}
	return nil
}

// waves tells whether waveforms are asked for.
func (r *runCmd) waves() bool { return r.VCD || r.FST }

// number24 reads a QPN or a PSN, decimal, also with zeros before it, or with 0x hexadecimal.
func number24(s string) (uint64, error) {
	if hex, is := strings.CutPrefix(strings.ToLower(s), "0x"); is {
		return strconv.ParseUint(hex, 16, 24)
	}
	return strconv.ParseUint(s, 10, 24)
}
