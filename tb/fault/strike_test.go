package fault

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/pcie"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
)

// packet is a RoCE frame.
func packet(op roce.Opcode, qp roce.QPN, psn roce.PSN, s roce.Syndrome, n int) []byte {
	p := roce.Packet{
		Eth: roce.Ethernet{Dst: roce.HostMAC(2), Src: roce.HostMAC(1)},
		IP4: roce.IPv4{DF: true, TTL: 64, Src: roce.HostIPv4(1), Dst: roce.HostIPv4(2)},
		BTH: roce.BTH{Opcode: op, PKey: roce.DefaultPKey, DestQP: qp, PSN: psn}, AETH: roce.AETH{Syndrome: s},
	}
	p.SetPayload(bytes.Repeat([]byte{0x55}, n))
	return p.Append(nil)
}

// atB is the half of a plan at host b, on from the start.
func atB(t *testing.T, texts ...string) *half {
	l, err := ParseAll(texts...)
	require.NoError(t, err)
	h := &New(1, l...).halves[1]
	h.on, h.first = true, map[flow]roce.PSN{}
	return h
}

// traffic is frames of every kind, to two QPs.
func traffic() (l [][]byte) {
	ack, rnr, nak := roce.ACKSyndrome(3), roce.RNRSyndrome(4), roce.NAKSyndrome(roce.NAKSequence)
	for i, f := range []struct {
		op roce.Opcode
		s  roce.Syndrome
		n  int
	}{
		{roce.RCSendFirst, 0, 256}, {roce.RCSendMiddle, 0, 256}, {roce.RCSendLast, 0, 9}, {roce.RCSendOnlyImm, 0, 4},
		{roce.RCWriteOnly, 0, 100}, {roce.RCReadRequest, 0, 0}, {roce.RCReadRespOnly, ack, 30}, {roce.RCFetchAdd, 0, 0},
		{roce.RCAtomicAck, ack, 0}, {roce.RCAck, ack, 0}, {roce.RCAck, nak, 0}, {roce.RCAck, rnr, 0}, {roce.CNP, 0, 16},
	} {
		qp := roce.QPN(0x10 + i%2)
		l = append(l, packet(f.op, qp, roce.PSN(0xfffffe).Add(uint32(i)), f.s, f.n))
	}
	return l
}

// struck are the frames of traffic, sent twice, that the faults struck.
func struck(t *testing.T, texts ...string) (l []int, h *half) {
	h = atB(t, texts...)
	for i, f := range append(traffic(), traffic()...) {
		v := h.judge(tb.Frame{TimePs: int64(i) * 1_000_000, Data: f})
		if v.Drop || v.BadFCS || v.Delay+uint64(v.Pass) > 0 || v.Data != nil || v.Again != nil {
			l = append(l, i)
		}
	}
	return l, h
}

// TestWhich: the words choose the frames that they mean.
func TestWhich(t *testing.T) {
	for text, want := range map[string][]int{
		"drop b":                            {0},
		"drop a":                            nil,
		"drop b nth=5 times=3":              {4, 5, 6},
		"drop b nth=25 times=all":           {24, 25},
		"drop b send times=all":             {0, 1, 2, 3, 13, 14, 15, 16},
		"drop b send first only times=all":  {0, 3, 13, 16},
		"drop b write nth=2":                {17},
		"drop b read-request":               {5},
		"drop b read-response":              {6},
		"drop b atomic":                     {7},
		"drop b atomic-response":            {8},
		"drop b ack":                        {9},
		"drop b nak":                        {10},
		"drop b rnr":                        {11},
		"drop b cnp":                        {12},
		"drop b request nth=7":              {7},
		"drop b answer times=all":           {6, 8, 9, 10, 11, 19, 21, 22, 23, 24},
		"drop b ack nak times=all":          {9, 10, 22, 23},
		"drop b answer last":                nil,
		"drop b qp=0x11 times=2":            {1, 3},
		"drop b psn=0xffffff":               {1},
		"drop b psn=0 times=all":            {2, 15},
		"drop b psn=+2 times=all":           {2, 3, 8, 11, 15, 16, 21, 24}, // from 0 and 1, answers from 6 and 9
		"drop b qp=0x10 psn=+4 request":     {4},
		"drop 100% not=request,ack,nak,rnr": {6, 8, 12, 19, 21, 25},
		"badfcs b nth=2 from=5us":           {6},
		"badfcs b nth=2 from=5us to=6us":    nil,
		"badfcs 100% from=5us to=8us":       {5, 6, 7},
		"corrupt b field=rkey times=all":    {4, 5, 7, 17, 18, 20},
		"corrupt b field=imm":               {3},
		"corrupt b field=length times=3":    {4, 5, 17},
		"corrupt b field=syndrome times=2":  {6, 8},
		"corrupt b byte=200 times=all":      {0, 1, 13, 14},
		"corrupt b byte=-100 times=all":     {0, 1, 4, 13, 14, 17},
		"truncate=100 b times=all":          {0, 1, 4, 13, 14, 17},
		"truncate=-200 b times=all":         {0, 1, 13, 14},
		"reorder=2 b nth=3":                 {2},
		"delay=1us b send nth=2":            {1},
		"duplicate b send nth=2":            {1},
		"pcie b read ur":                    nil,
	} {
		got, _ := struck(t, text)
		require.Equal(t, want, got, text)
	}
}

// TestWhat: the verdict of each action.
func TestWhat(t *testing.T) {
	f := packet(roce.RCWriteOnly, 0x10, 5, 0, 100)
	judge := func(text string) tb.Verdict {
		v := atB(t, text).judge(tb.Frame{Data: f})
		v.Name = ""
		return v
	}
	for text, want := range map[string]tb.Verdict{
		"drop b":           {Drop: true},
		"badfcs b":         {BadFCS: true},
		"duplicate b":      {Again: []uint64{0}},
		"duplicate=1us b":  {Again: []uint64{250}},
		"delay=9ns b":      {Delay: 3},
		"delay=20cycles b": {Delay: 20},
		"reorder b":        {Pass: 1},
		"reorder=3 b":      {Pass: 3},
		"truncate=20 b":    {Data: f[:20]},
		"truncate=-1 b":    {Data: f[:len(f)-1]},
		"drop b ack":       {},
		"truncate=500 b":   {},
		"pcie b write ur":  {},
		"drop b from=1ms":  {},
	} {
		require.Equal(t, want, judge(text), text)
	}
}

// TestChange: what is changed is what is named, and the ICRC is right with repair
// alone.
func TestChange(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		p, err := roce.ParseFrame(packet(roce.RCWriteOnlyImm, 0x10, 5, 0, 100))
		require.NoError(t, err)
		p.V6, p.IP6 = v6, roce.IPv6{HopLimit: 9, Src: roce.HostIPv6(1), Dst: roce.HostIPv6(2)}
		p.UDP.Checksum = 1
		plain := p.Append(nil)
		change := func(text string) []byte {
			v := atB(t, text).judge(tb.Frame{Data: plain})
			require.NotNil(t, v.Data, text)
			require.Len(t, v.Data, len(plain))
			require.NotEqual(t, plain, v.Data, text)
			return v.Data
		}
		for i := range fields {
			f := &fields[i]
			if f.name == "syndrome" || f.name == "msn" || v6 && f.name == "ip-checksum" {
				continue
			}
			if f.name == "qkey" || f.name == "src-qp" {
				require.Nil(t, atB(t, "corrupt b field="+f.name).judge(tb.Frame{Data: plain}).Data, "no datagram")
				continue
			}
			got := change("corrupt b field=" + f.name)
			n := 0
			for k := range got {
				if got[k] != plain[k] {
					n++
				}
			}
			require.Equal(t, 1, n, f.name)
		}
		_, err = roce.ParseFrame(change("corrupt b field=psn"))
		require.Error(t, err)
		q, err := roce.ParseFrame(change("corrupt b field=psn set=0x123456 repair"))
		require.NoError(t, err)
		require.Equal(t, roce.PSN(0x123456), q.BTH.PSN)
		q, err = roce.ParseFrame(change("corrupt b field=rkey xor=0xff000000 repair"))
		require.NoError(t, err)
		require.Equal(t, p.RETH.RKey^0xff000000, q.RETH.RKey)
		q, err = roce.ParseFrame(change("corrupt b field=ackreq repair"))
		require.NoError(t, err)
		require.True(t, q.BTH.AckReq)
		q, err = roce.ParseFrame(change("corrupt b field=dst-ip repair"))
		require.NoError(t, err)
		require.NotEqual(t, p.IP4.Dst, q.IP4.Dst)
		require.Equal(t, plain[30]^1, change("corrupt b byte=30")[30])
		require.Equal(t, byte(7), change("corrupt b byte=-1 set=7")[len(plain)-1])
		// Wherever it strikes, the drawn byte spoils the ICRC.
		h := atB(t, "corrupt 100%")
		for range 300 {
			_, err := roce.ParseFrame(h.judge(tb.Frame{Data: plain}).Data)
			require.Error(t, err)
		}
	}
}

// TestShared: of several faults that mean a frame the first has it, and the next
// takes another.
func TestShared(t *testing.T) {
	h := atB(t, "drop b nth=2", "badfcs b nth=2", "duplicate b send nth=2")
	var got []tb.Verdict
	for _, f := range traffic() {
		got = append(got, h.judge(tb.Frame{Data: f}))
	}
	require.Equal(t, []tb.Verdict{{}, {Drop: true, Name: "drop b nth=2"}, {BadFCS: true, Name: "badfcs b nth=2"}, {Again: []uint64{0}, Name: "duplicate b send nth=2"}, {}}, got[:5])
}

// rates runs n frames through faults and gives what happened to each.
func rates(t *testing.T, seed uint64, host int, n int, texts ...string) (l []tb.Verdict, h *half) {
	specs, err := ParseAll(texts...)
	require.NoError(t, err)
	h = &New(seed, specs...).halves[host]
	h.on, h.first = true, map[flow]roce.PSN{}
	f := packet(roce.RCSendOnly, 1, 1, 0, 64)
	for range n {
		l = append(l, h.judge(tb.Frame{Data: f}))
	}
	return l, h
}

// TestRates: as often as they say, the same with the same seed, different with
// another or at the other host, and not shifted by faults beside them.
func TestRates(t *testing.T) {
	const n = 20_000
	all := []string{"drop 1%", "duplicate=1us 2%", "reorder=2 b 0.5%", "corrupt 3%", "delay=1us 10%"}
	a, h := rates(t, 1, 1, n, all...)
	for i, want := range []float64{.01, .02, .005, .03, .1} {
		require.InEpsilon(t, want, float64(h.wire[i].fired)/n, 0.25, all[i])
		require.Equal(t, uint64(n), h.wire[i].seen)
	}
	b, _ := rates(t, 1, 1, n, all...)
	require.Equal(t, a, b)
	c, _ := rates(t, 2, 1, n, all...)
	require.NotEqual(t, a, c)

	drops := func(l []tb.Verdict) (at []int) {
		for i := range l {
			if l[i].Drop {
				at = append(at, i)
			}
		}
		return at
	}
	alone, _ := rates(t, 1, 1, n, "drop 1%")
	require.Equal(t, drops(alone), drops(a))
	other, _ := rates(t, 1, 0, n, "drop 1%")
	require.NotEqual(t, drops(alone), drops(other))
	twice, h := rates(t, 1, 1, n, "drop 1%", "drop 1%")
	require.Greater(t, len(drops(twice)), len(drops(alone)))
	require.NotEqual(t, h.wire[0].fired, h.wire[1].fired)
	whole, _ := rates(t, 1, 1, 100, "drop 100%")
	require.Len(t, drops(whole), 100)
}

// TestTLPs: which reads and writes, and what becomes of them.
func TestTLPs(t *testing.T) {
	read, write := pcie.Request(pcie.MRd, 0x1000, 64), pcie.Request(pcie.MWr, 0x2010, 4)
	read.Tag = 7
	for text, want := range map[string][2]host.Verdict{
		"pcie b read ur":                 {{Fault: host.FaultUR}, {}},
		"pcie b read ca tag=7":           {{Fault: host.FaultCA}, {}},
		"pcie b read poison tag=8":       {},
		"pcie b read never":              {{Fault: host.FaultNever}, {}},
		"pcie b write poison":            {{}, {Fault: host.FaultPoison}},
		"pcie b read write delay=1us":    {{Delay: 250}, {}},
		"pcie b stop=1us nth=2":          {{}, {Stop: 250}},
		"pcie b read ur addr=0x103f":     {{Fault: host.FaultUR}, {}},
		"pcie b read ur addr=0x1040":     {},
		"pcie b read ur addr=0..0x1000":  {{Fault: host.FaultUR}, {}},
		"pcie b read ur addr=0..0xfff":   {},
		"pcie b write ur addr=0x2013":    {{}, {Fault: host.FaultUR}},
		"pcie b write ur addr=0x2014":    {},
		"pcie a read ur":                 {},
		"pcie b read write ca 100%":      {{Fault: host.FaultCA}, {Fault: host.FaultCA}},
		"pcie b read write ur times=all": {{Fault: host.FaultUR}, {Fault: host.FaultUR}},
	} {
		b, err := tb.New(tb.Config{})
		require.NoError(t, err)
		s, err := Parse(text)
		require.NoError(t, err)
		p := New(1, s)
		p.Attach(b)
		require.Zero(t, p.halves[1].tlp(&read), "not begun")
		p.Start(1)
		require.Equal(t, want, [2]host.Verdict{p.halves[1].tlp(&read), p.halves[1].tlp(&write)}, text)
		b.Close()
	}
}

// TestMissed: a named fault that has not struck often enough is told, a rate is not.
func TestMissed(t *testing.T) {
	_, h := struck(t, "drop b nth=3", "drop b ack nth=2 times=5", "drop b cnp nth=9 times=all", "drop 0.0001%")
	want := []string{"",
		`fault "drop b ack nth=2 times=5" struck 1 of 5 times at host b, where 2 matched`,
		`fault "drop b cnp nth=9 times=all" struck 0 of at least 1 times at host b, where 2 matched`, ""}
	for i, s := range h.wire {
		if err := s.missed("host b"); want[i] == "" {
			require.NoError(t, err)
		} else {
			require.EqualError(t, err, want[i])
		}
	}
}
