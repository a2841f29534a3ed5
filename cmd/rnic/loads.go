package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/transfer"
)

// load is a stream of messages to measure.
type load struct {
	name                   string
	op                     abi.WQEOp
	size, qps, mtu         int
	messages, depth, batch int
	twoWay                 bool
	transport              abi.QPType // 0: RC
	srq                    bool
}

var mtus = []int{256, 512, 1024, 2048, 4096}

// loads are what the bench runs.
func loads() []load {
	var ls []load
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead} {
		for _, mtu := range mtus {
			ls = append(ls, load{"goodput", op, 64 << 10, 1, mtu, 16, 8, 1, false, 0, false})
		}
	}
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead} {
		for _, mtu := range []int{256, 1024, 4096} {
			ls = append(ls, load{"both ways", op, 64 << 10, 2, mtu, 16, 8, 1, true, 0, false})
		}
	}
	for _, size := range []int{1, 63, 65} {
		ls = append(ls, load{"odd size", abi.OpSend, size, 16, 1024, 4000, 64, 8, false, 0, false})
	}
	for _, op := range []abi.WQEOp{abi.OpSend, abi.OpWrite, abi.OpRead} {
		for _, size := range []int{1023, 1025} {
			ls = append(ls, load{"odd size", op, size, 4, 1024, 1000, 16, 4, false, 0, false})
		}
		for _, size := range []int{4097, 65535, 65537} {
			ls = append(ls, load{"odd size", op, size, 2, 1024, max(32, 1<<20/size), 16, 4, false, 0, false})
		}
	}
	for _, qps := range []int{1, 2, 4, 8, 16, 64, 256} {
		ls = append(ls, rate(abi.OpSend, qps))
	}
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead} {
		ls = append(ls, rate(op, 1), rate(op, 16))
	}
	ls = append(ls, rate(abi.OpFetchAdd, 1), rate(abi.OpFetchAdd, 16))
	return append(ls, others()...)
}

// over is a load over another transport, or with an SRQ: its name says so.
func (l load) over(t abi.QPType, srq bool) load {
	l.transport, l.srq = t, srq
	if t != abi.QPTypeRC {
		l.name += ", " + t.String()
	}
	if srq {
		l.name += ", SRQ"
	}
	return l
}

// others are loads of UC and UD, and of SRQs.
func others() []load {
	var ls []load
	for _, mtu := range mtus {
		long := load{"goodput", abi.OpSend, 64 << 10, 1, mtu, 16, 8, 1, false, 0, false}
		full := load{"goodput", abi.OpSend, mtu, 16, mtu, 1 << 20 / mtu, 16, 4, false, 0, false}
		ls = append(ls, long.over(abi.QPTypeUC, false), full.over(abi.QPTypeUD, false), long.over(abi.QPTypeRC, true), full.over(abi.QPTypeUD, true))
	}
	r := rate(abi.OpSend, 16)
	return append(ls, r.over(abi.QPTypeRC, true), r.over(abi.QPTypeUC, false), r.over(abi.QPTypeUD, false), r.over(abi.QPTypeUD, true))
}

// rate is a load of 64-byte messages, or of atomics, over so many QPs.
func rate(op abi.WQEOp, qps int) load {
	l := load{"message rate", op, 64, qps, 1024, max(1000, min(200*qps, 8000)), 64, 8, false, 0, false}
	if op == abi.OpFetchAdd {
		l.size, l.batch = 8, 1
	}
	return l
}

// sweep is what the pictures have beside: WRITEs and READs of all sizes over all
// MTUs, and rates over all numbers of QPs.
func sweep() []load {
	var sizes []int
	for n := 2; n <= 1<<20; n *= 2 {
		sizes = append(sizes, n)
		switch n {
		case 1 << 10, 1 << 12, 1 << 14, 1 << 16:
			sizes = append(sizes, n+1)
		}
	}
	var ls []load
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead} {
		for _, mtu := range mtus {
			for _, size := range sizes {
				l := load{"size", op, size, 16, mtu, max(8, min(2000, 1<<20/size)), 16, 4, false, 0, false}
				if size >= 4096 {
					l.qps, l.batch = 2, 1
				}
				ls = append(ls, l)
			}
		}
	}
	for _, op := range []abi.WQEOp{abi.OpWrite, abi.OpRead, abi.OpFetchAdd} {
		for _, qps := range []int{2, 4, 8, 64, 256} {
			ls = append(ls, rate(op, qps))
		}
	}
	return ls
}

// run does a load on a fresh bench.
func (l *load) run(c tb.Config) (row, error) {
	b, err := tb.New(c)
	if err != nil {
		return row{}, err
	}
	defer b.Close()
	mtu, _ := roce.MTUOf(l.mtu)
	data := make([]byte, l.size*l.messages)
	_, _ = rand.NewChaCha8([32]byte{'r', 'n', 'i', 'c'}).Read(data) // never fails
	job := transfer.Job{
		Data: bytes.NewReader(data), Transport: l.transport, SRQ: l.srq, Op: l.op, MTU: mtu, QPs: l.qps, MsgSize: l.size,
		Depth: l.depth, Batch: l.batch, TwoWay: l.twoWay,
	}
	r, err := job.Run(b)
	if err != nil {
		return row{}, fmt.Errorf("%s, %v of %d bytes, %d QPs, MTU %d: %w", l.name, l.op, l.size, l.qps, l.mtu, err)
	}
	w := row{
		Name: l.name, Op: l.op.String(), Size: l.size, QPs: l.qps, MTU: l.mtu,
		GoodputGbps: r.GoodputGbps, WireLimitGbps: wireLimit(c, l.op, l.size, l.mtu), CyclesPerMsg: r.CyclesPerMessage,
		Lost: r.Lost,
	}
	if l.transport == abi.QPTypeUD {
		w.WireLimitGbps = limit(c, l.size, l.size+overhead+deth)
	}
	if l.twoWay {
		w.GoodputGbps = min(r.GoodputGbps, r.BackGbps)
	}
	return w, nil
}

// Bytes of a frame beside its payload: Ethernet, IPv4, UDP, BTH, ICRC, FCS,
// preamble and gap; and the extended headers of some packets.
const (
	overhead  = 14 + 20 + 8 + 12 + 4 + 4 + 20
	reth      = 16
	deth      = 8
	aeth      = 4
	atomicETH = 28
)

// wireLimit is the goodput that the wire leaves to messages of size bytes, Gb/s;
// of atomics, whose words lie in headers, that of their 8 bytes.
func wireLimit(c tb.Config, op abi.WQEOp, size, mtu int) float64 {
	packets := max(1, (size+mtu-1)/mtu)
	bytes := size + packets*overhead
	switch op {
	case abi.OpWrite:
		bytes += reth
	case abi.OpRead:
		bytes += aeth * min(packets, 2)
	case abi.OpFetchAdd:
		bytes = overhead + atomicETH
	}
	return limit(c, size, bytes)
}

// limit is the goodput of size bytes in so many on the wire, Gb/s.
func limit(c tb.Config, size, bytes int) float64 {
	return float64(c.NIC.Mac.RateNum) / float64(c.NIC.Mac.RateDen) * float64(size) / float64(bytes)
}
