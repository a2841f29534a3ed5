package e2e_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/roce"
	"rnic/tb/e2e"
)

// frame is a packet's frame, changed by hand, with checksum and ICRC made right
// again.
func frame(p roce.Packet, change func(f []byte)) []byte {
	f := p.Append(nil)
	change(f)
	return e2e.Reseal(f)
}

// nothing is a change that there is none.
func nothing(*roce.Packet) {}

// TestSilentDrops (B092, B105, B214, B229): packets that are not for the QP, or
// no packets at all. Each is dropped, counted in one place and not answered; the
// QP's next packet is taken as if nothing had been.
func TestSilentDrops(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	exchange(t, p)
	psn := p.B.Query().ExpectedPSN
	p.B.Recv(p.B.RecvWR(11, 0, 4096))
	send := func(change func(*roce.Packet)) []byte {
		q := p.B.Forge(roce.RCSendOnly, roce.PSN(psn), e2e.Bytes(101, 5))
		change(&q)
		return q.Append(nil)
	}
	opcode := func(op roce.Opcode) []byte {
		return send(func(q *roce.Packet) { q.BTH.Opcode = op })
	}
	spoil := func(f []byte, at int) []byte {
		f[at] ^= 1
		return f
	}
	plain := func(change func(f []byte)) []byte {
		return frame(p.B.Forge(roce.RCSendOnly, roce.PSN(psn), e2e.Bytes(101, 5)), change)
	}
	short := func(n int) []byte { return send(nothing)[:n] }
	for _, c := range []struct {
		name  string
		frame []byte
		want  abi.Counter
	}{
		{"payload bit", spoil(send(nothing), 80), abi.RxDropBadICRC},
		{"last payload byte", spoil(send(nothing), 14+20+8+12+100), abi.RxDropBadICRC},
		{"pad bit", spoil(send(nothing), 14+20+8+12+102), abi.RxDropBadICRC},
		{"ICRC bit", spoil(send(nothing), 14+20+8+12+104), abi.RxDropBadICRC},
		{"PSN bit", spoil(send(nothing), 14+20+8+11), abi.RxDropBadICRC},
		{"UDP source port", spoil(send(nothing), 14+20+1), abi.RxDropBadICRC},
		{"QPN of nobody", send(func(q *roce.Packet) { q.BTH.DestQP = 0x777 % 1024 }), abi.RxDropBadQPN},
		{"QPN 0", send(func(q *roce.Packet) { q.BTH.DestQP = 0 }), abi.RxDropBadQPN},
		{"QPN beyond the table", send(func(q *roce.Packet) { q.BTH.DestQP += 1024 }), abi.RxDropBadQPN},
		{"largest QPN", send(func(q *roce.Packet) { q.BTH.DestQP = 0xffffff }), abi.RxDropBadQPN},
		{"P_Key", send(func(q *roce.Packet) { q.BTH.PKey = 0x8001 }), abi.RxDropBadPKey},
		{"P_Key 0", send(func(q *roce.Packet) { q.BTH.PKey = 0 }), abi.RxDropBadPKey},
		{"P_Key of nobody, full", send(func(q *roce.Packet) { q.BTH.PKey = 0x8000 }), abi.RxDropBadPKey},
		{"source address", send(func(q *roce.Packet) { q.IP4.Src = roce.HostIPv4(3) }), abi.RxDropBadAddress},
		{"destination address", send(func(q *roce.Packet) { q.IP4.Dst = roce.HostIPv4(3) }), abi.RxDropBadAddress},
		{"IPv6 to a QP of IPv4", send(func(q *roce.Packet) { q.V6 = true }), abi.RxDropBadAddress},
		{"TVer", send(func(q *roce.Packet) { q.BTH.TVer = 1 }), abi.RxDropMalformed},
		{"UC SEND", opcode(roce.UCSendOnly), abi.RxDropBadTransport},
		{"UD SEND", opcode(roce.UDSendOnly), abi.RxDropBadTransport},
		{"RD", opcode(0x44), abi.RxDropBadTransport},
		{"XRC", opcode(0xa4), abi.RxDropBadTransport},
		{"transport 4", opcode(0x84), abi.RxDropBadTransport},
		{"transport 6", opcode(0xc4), abi.RxDropBadTransport},
		{"opcode 0xff", opcode(0xff), abi.RxDropBadTransport},
		{"CNP", opcode(roce.CNP), abi.RxDropOther},
		{"other UDP port", plain(func(f []byte) { f[14+20+3]++ }), abi.RxDropNotRoCE},
		{"TCP", plain(func(f []byte) { f[14+9] = 6 }), abi.RxDropNotRoCE},
		{"ARP", plain(func(f []byte) { f[13] = 6 }), abi.RxDropNotRoCE},
		{"other station", send(func(q *roce.Packet) { q.Eth.Dst = roce.HostMAC(7) }), abi.RxDropNotRoCE},
		{"VLAN", send(func(q *roce.Packet) { q.Tagged, q.VLAN.VID = true, 5 }), abi.RxDropBadAddress},
		{"two tags", twoTags(send(nothing)), abi.RxDropNotRoCE},
		{"more fragments", send(func(q *roce.Packet) { q.IP4.MF = true }), abi.RxDropMalformed},
		{"fragment", send(func(q *roce.Packet) { q.IP4.FragOff = 1 }), abi.RxDropMalformed},
		{"last fragment", send(func(q *roce.Packet) { q.IP4.FragOff = 0x1fff }), abi.RxDropMalformed},
		{"IPv4 checksum", spoil(send(nothing), 14+10), abi.RxDropMalformed},
		{"IPv4 options", plain(func(f []byte) { f[14] = 0x46 }), abi.RxDropMalformed},
		{"IP version", plain(func(f []byte) { f[14] = 0x65 }), abi.RxDropMalformed},
		{"IP length of a longer frame", plain(func(f []byte) { f[14+3] += 4 }), abi.RxDropMalformed},
		{"IP length of nothing", plain(func(f []byte) { f[14+3], f[14+2] = 0, 0 }), abi.RxDropMalformed},
		{"UDP length", plain(func(f []byte) { f[14+20+5]++ }), abi.RxDropMalformed},
		{"UDP checksum", spoil(send(func(q *roce.Packet) { q.UDP.Checksum = 1 }), 14+20+6), abi.RxDropMalformed},
		{"cut in the payload", short(100), abi.RxDropMalformed},
		{"cut in the headers", short(60), abi.RxDropMalformed},
		{"cut by a byte", short(14 + 20 + 8 + 12 + 104 + 3), abi.RxDropMalformed},
		{"no room for BTH", cutUDP(send(nothing), 8), abi.RxDropMalformed},
		{"no room for the ICRC", cutUDP(send(nothing), 8+12+3), abi.RxDropMalformed},
		{"pad longer than what is there", cutUDP(send(nothing), 8+12+4), abi.RxDropMalformed},
		{"no room for the RETH", cutUDP(opcode(roce.RCWriteOnly), 8+12+4), abi.RxDropMalformed},
		{"no room for the AETH", cutUDP(opcode(roce.RCAck), 8+12+4), abi.RxDropMalformed},
		{"longer than any", send(func(q *roce.Packet) { q.SetPayload(make([]byte, 9000)) }), abi.RxDropBadFCS},
		{"broadcast of another kind", append([]byte{255, 255, 255, 255, 255, 255}, make([]byte, 60)...), abi.RxDropNotRoCE},
	} {
		t.Run(c.name, func(t *testing.T) {
			before, seen := s.B.Faults(), len(s.B.Seen)
			s.B.ArriveFrames(c.frame)
			require.Equal(t, e2e.Faults{c.want: 1}, s.B.Faults().Since(before))
			require.Equal(t, seen+1, len(s.B.Seen), "an answer")
		})
	}
	m := p.B.Query()
	require.Equal(t, psn, m.ExpectedPSN)
	require.Equal(t, abi.QPRTS, m.State)
	p.A.Send(p.A.SendWR(1, 0, 100))
	p.A.Sent(e2e.OK(1)...)
	p.B.Received(e2e.OK(11)...)
	exchange(t, p)
}

// twoTags is a frame with two tags without a VLAN.
func twoTags(f []byte) []byte {
	tags := []byte{0x81, 0, 0, 0, 0x81, 0, 0, 0}
	return append(append(append([]byte(nil), f[:12]...), tags...), f[12:]...)
}

// cutUDP cuts a frame so that its UDP datagram has n bytes, with all lengths and
// checksums right.
func cutUDP(f []byte, n int) []byte {
	f = f[:14+20+n]
	binary.BigEndian.PutUint16(f[14+2:], uint16(20+n))
	binary.BigEndian.PutUint16(f[14+20+4:], uint16(n))
	return e2e.Reseal(f)
}

// TestAccepted (B111, B231, B234): packets that look odd and are right.
func TestAccepted(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	psn := p.B.FirstPSN()
	cases := []struct {
		name   string
		change func(q *roce.Packet)
		raw    func(f []byte)
	}{
		{"as it should be", nothing, nil},
		{"pad not zero", func(q *roce.Packet) { q.Pad = [3]byte{1, 2, 3} }, nil},
		{"MigReq 0", func(q *roce.Packet) { q.BTH.MigReq = false }, nil},
		{"FECN and BECN", func(q *roce.Packet) { q.BTH.FECN, q.BTH.BECN = true, true }, nil},
		{"limited member", func(q *roce.Packet) { q.BTH.PKey = 0x7fff }, nil},
		{"congestion", func(q *roce.Packet) { q.IP4.ECN = roce.ECNCongestion }, nil},
		{"another TTL and TOS", func(q *roce.Packet) { q.IP4.TTL, q.IP4.DSCP = 1, 63 }, nil},
		{"fragments allowed", func(q *roce.Packet) { q.IP4.DF = false }, nil},
		{"identification", func(q *roce.Packet) { q.IP4.ID = 0xffff }, nil},
		{"UDP checksum", func(q *roce.Packet) { q.UDP.Checksum = 1 }, nil},
		{"another source port", func(q *roce.Packet) { q.UDP.SrcPort = 1 }, nil},
		{"another source station", func(q *roce.Packet) { q.Eth.Src = roce.HostMAC(9) }, nil},
		{"Ethernet padding", func(q *roce.Packet) { q.Trailer = []byte{1, 2, 3, 4, 5, 6, 7} }, nil},
		{"reserved bits", nothing, func(f []byte) { f[14+20+8+4] |= 0x3f; f[14+20+8+8] |= 0x7f }},
		{"priority tag", func(q *roce.Packet) { q.Tagged, q.VLAN.PCP, q.VLAN.DEI = true, 7, true }, nil},
		{"without AckReq", func(q *roce.Packet) { q.BTH.AckReq = false }, nil},
		{"with immediate", func(q *roce.Packet) { q.BTH.Opcode, q.Imm.Imm = roce.RCSendOnlyImm, 0x01020304 }, nil},
	}
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			from := len(s.B.Seen)
			p.B.Recv(p.B.RecvWR(uint64(i), 1000*i, 1000))
			q := p.B.Forge(roce.RCSendOnly, psn.Add(uint32(i)), e2e.Bytes(101, uint64(i)))
			c.change(&q)
			f := q.Append(nil)
			if c.raw != nil {
				f = frame(q, c.raw)
			}
			s.B.ArriveFrames(f)
			wc := p.B.Received(e2e.OK(uint64(i))...)[0]
			require.EqualValues(t, 101, wc.ByteLen)
			require.Equal(t, q.Imm.Imm, wc.Imm)
			require.Equal(t, q.BTH.Opcode.HasImm(), wc.Flags&abi.CQEWithImm != 0)
			require.Equal(t, p.A.QP.Number(), wc.SrcQPN)
			p.B.Demand(1000*i, e2e.Bytes(101, uint64(i)))
			answers := s.B.Answers(from)
			if !q.BTH.AckReq {
				require.Zero(t, len(answers))
				return
			}
			require.Equal(t, 1, len(answers))
			require.Equal(t, q.BTH.PSN, answers[0].BTH.PSN)
			require.EqualValues(t, i+1, answers[0].AETH.MSN)
		})
	}
	require.Empty(t, s.B.Faults())
	require.EqualValues(t, len(cases)-1, s.A.Faults()[abi.RxDropOther], "answers to nobody's question")
}

// TestGhostAnswers: acknowledgements of PSNs that are not in flight, and what is no
// answer to a SEND, change nothing, whether the queue is idle or waits.
func TestGhostAnswers(t *testing.T) {
	s := e2e.New(t, quick)
	p := s.Pair()
	exchange(t, p)
	una := roce.PSN(p.A.Query().UnackedPSN)
	nak := roce.NAKSyndrome
	ack := roce.ACKSyndrome(31)
	ghosts := []roce.Packet{
		p.A.ForgeAck(ack, una.Sub(1), 1),
		p.A.ForgeAck(ack, una.Add(1), 9),
		p.A.ForgeAck(ack, una.Add(1000), 9),
		p.A.ForgeAck(ack, una.Add(1<<23), 9),
		p.A.ForgeAck(ack, una.Sub(1<<23-1), 9),
		p.A.ForgeAck(nak(roce.NAKSequence), una.Sub(1), 1),
		p.A.ForgeAck(nak(roce.NAKInvalidRequest), una.Sub(3), 1),
		p.A.ForgeAck(roce.RNRSyndrome(1), una.Sub(1), 1),
		p.A.ForgeAck(0x40, una, 1), p.A.ForgeAck(0x5f, una, 1), // reserved
		p.A.ForgeAck(0x65, una, 1), p.A.ForgeAck(0x7f, una, 1),
		p.A.ForgeAck(0x80, una, 1), p.A.ForgeAck(0x9f, una, 1), p.A.ForgeAck(0xff, una, 1),
		p.A.ForgeAck(nak(roce.NAKInvalidRD), una, 1),
		p.A.Forge(roce.RCReadRespOnly, una.Add(1), e2e.Bytes(8, 1)),
		p.A.Forge(roce.RCReadRespMiddle, una.Sub(1), e2e.Bytes(1024, 1)),
		p.A.Forge(roce.RCAtomicAck, una.Sub(1), nil),
	}
	idle := append(ghosts, p.A.Forge(roce.RCReadRespOnly, una, e2e.Bytes(8, 1)), p.A.Forge(roce.RCAtomicAck, una, nil), p.A.ForgeAck(ack, una, 1), p.A.ForgeAck(nak(roce.NAKRemoteAccess), una, 1))
	before := s.A.Faults()
	s.A.Arrive(idle...)
	require.Equal(t, e2e.Faults{abi.RxDropOther: uint64(len(idle))}, s.A.Faults().Since(before))

	// The same while a message of one packet waits.
	hold := &holdAnswers{}
	s.A.SetFault(hold.fault)
	p.B.Recv(p.B.RecvWR(11, 0, 100))
	p.A.Send(p.A.SendWR(1, 0, 100))
	p.B.Received(e2e.OK(11)...)
	s.Sleep(4000)
	before = s.A.Faults()
	s.A.SetFault(nil)
	s.A.Arrive(ghosts...)
	require.Equal(t, e2e.Faults{abi.RxDropOther: uint64(len(ghosts))}, s.A.Faults().Since(before))
	p.A.DemandNone(p.A.SCQ)
	p.A.DemandState(abi.QPRTS)
	require.Equal(t, 1, len(hold.frames))
	s.A.Inject(hold.frames[0])
	p.A.Sent(e2e.OK(1)...)
	exchange(t, p)
}

// TestWrongAnswers: a SEND that waits is answered as a READ or an atomic would be.
func TestWrongAnswers(t *testing.T) {
	for _, c := range []struct {
		op   roce.Opcode
		data int
	}{{roce.RCReadRespOnly, 8}, {roce.RCReadRespFirst, 1024}, {roce.RCReadRespMiddle, 1024}, {roce.RCReadRespLast, 0}, {roce.RCAtomicAck, 0}} {
		s := e2e.New(t, quick)
		p := s.Pair()
		hold := &holdAnswers{}
		s.A.SetFault(hold.fault)
		p.B.Recv(p.B.RecvWR(11, 0, 100))
		p.A.Send(p.A.SendWR(1, 0, 100), p.A.SendWR(2, 0, 100))
		p.B.Received(e2e.OK(11)...)
		s.A.SetFault(nil)
		s.A.Arrive(p.A.Forge(c.op, p.B.FirstPSN(), e2e.Bytes(c.data, 1)))
		wcs := p.A.Sent(append(e2e.All(abi.StatusBadResp, 1), e2e.Flushed(2)...)...)
		require.Equal(t, abi.VendorRespOp, wcs[0].VendorErr)
		p.A.DemandState(abi.QPErr)
		again(t, s, p)
		s.Close()
	}
}

// TestDuplicates (B012, B023): old requests again. They are acknowledged as far as
// the responder is, if they ask for it, and not executed.
func TestDuplicates(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	p.B.Fill(0, 10_000, 2)
	p.B.Recv(p.B.Recvs(0, 2000, 11, 12, 13, 14)...)
	p.A.Send(p.A.SendWR(1, 0, 1500), p.A.SendWR(2, 0, 1500), p.A.SendWR(3, 0, 10))
	p.A.Sent(e2e.OK(1, 2, 3)...)
	p.B.Received(e2e.OK(11, 12, 13)...)
	p.B.Fill(0, 10_000, 3)
	from, seen := len(s.B.Seen), s.A.Requests(0)
	for i := range seen {
		seen[i].BTH.AckReq = i%2 == 0 // first, first, only
	}
	old := p.B.Forge(roce.RCSendOnly, p.B.FirstPSN().Sub(1<<23-5), e2e.Bytes(10, 1))
	odd := p.B.Forge(roce.RCSendMiddle, p.B.FirstPSN(), nil) // a wrong one is no more than an old one
	before := s.B.Faults()
	s.B.Arrive(append(seen, old, odd)...)
	answers := s.B.Answers(from)
	require.Equal(t, 5, len(answers))
	for _, a := range answers {
		require.Equal(t, roce.ACKSyndrome(31), a.AETH.Syndrome)
		require.Equal(t, p.B.FirstPSN().Add(4), a.BTH.PSN)
		require.EqualValues(t, 3, a.AETH.MSN)
	}
	require.Equal(t, e2e.Faults{abi.DuplicateRequest: 7, abi.RxDropOther: 2}, s.B.Faults().Since(before))
	p.B.Demand(0, e2e.Bytes(10_000, 3))
	require.EqualValues(t, 1, p.B.Query().RQProducer-p.B.Query().RQConsumer)
	p.A.Send(p.A.SendWR(4, 0, 10))
	p.A.Sent(e2e.OK(4)...)
	p.B.Received(e2e.OK(14)...)
	require.EqualValues(t, 5, s.A.Faults()[abi.RxDropOther])
}

// TestGap (B024, B025, B047): one NAK a gap; duplicates are answered meanwhile; the
// missing packet goes on where it was; then a gap is news again.
func TestGap(t *testing.T) {
	s := e2e.New(t, e2e.Options{})
	p := s.Pair()
	psn := p.B.FirstPSN()
	send := func(n uint32) roce.Packet { return p.B.Forge(roce.RCSendOnly, psn.Add(n), e2e.Bytes(8, uint64(n))) }
	p.B.Recv(p.B.Recvs(0, 8, 10, 11, 12, 13)...)
	s.B.Arrive(send(0))
	from := len(s.B.Seen)
	s.B.Arrive(send(3), send(4), send(0), send(2), send(1<<23))
	a := s.B.Answers(from)
	require.Equal(t, 2, len(a))
	require.Equal(t, roce.NAKSyndrome(roce.NAKSequence), a[0].AETH.Syndrome)
	require.Equal(t, psn.Add(1), a[0].BTH.PSN)
	require.EqualValues(t, 1, a[0].AETH.MSN)
	require.Equal(t, roce.ACKSyndrome(31), a[1].AETH.Syndrome)
	require.Equal(t, psn, a[1].BTH.PSN)
	require.Equal(t, e2e.Faults{
		abi.OutOfSequence: 4, abi.DuplicateRequest: 1, abi.RxDropOther: 3, abi.NaksSent: 1,
	}, s.B.Faults())
	from = len(s.B.Seen)
	s.B.Arrive(send(1), send(3))
	a = s.B.Answers(from)
	require.Equal(t, 2, len(a))
	require.Equal(t, psn.Add(1), a[0].BTH.PSN)
	require.Equal(t, roce.ACKSyndrome(31), a[0].AETH.Syndrome)
	require.Equal(t, psn.Add(2), a[1].BTH.PSN)
	require.Equal(t, roce.NAKSyndrome(roce.NAKSequence), a[1].AETH.Syndrome)
	// Not ready: packets behind it are dropped without a NAK, until it comes again.
	s.B.Arrive(send(2), send(3))
	from = len(s.B.Seen)
	s.B.Arrive(send(4), send(5), send(6))
	a = s.B.Answers(from)
	require.Equal(t, 1, len(a))
	require.Equal(t, roce.RNRSyndrome(12), a[0].AETH.Syndrome)
	require.Equal(t, psn.Add(4), a[0].BTH.PSN)
	p.B.Recv(p.B.RecvWR(14, 100, 8))
	s.B.Arrive(send(4))
	p.B.Received(e2e.OK(10, 11, 12, 13, 14)...)
	p.B.Demand(100, e2e.Bytes(8, 4))
	p.B.DemandState(abi.QPRTS)
}
