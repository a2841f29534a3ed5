package check_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/roce"
	"rnic/tb/check"
)

// frame is a SEND or an acknowledgement as host 1 sends it to QP dest of host 2.
func frame(op roce.Opcode, dest roce.QPN, psn roce.PSN, payload int, msn roce.MSN) []byte {
	p := roce.Packet{}
	p.Eth.Dst, p.Eth.Src = roce.HostMAC(2), roce.HostMAC(1)
	p.IP4.Src, p.IP4.Dst, p.IP4.TTL = roce.HostIPv4(1), roce.HostIPv4(2), 64
	p.UDP.SrcPort = 0xc000
	p.BTH.Opcode, p.BTH.DestQP, p.BTH.PSN, p.BTH.PKey = op, dest, psn, 0xffff
	p.BTH.AckReq = op.IsRequest()
	p.AETH.MSN = msn
	p.SetPayload(make([]byte, payload))
	if n := 60 - p.Size(); n > 0 {
		p.Trailer = make([]byte, n)
	}
	return p.Append(nil)
}

// connected is a port of QP 5, whose peer is QP 9, at an MTU of 512.
func connected() *check.Wire {
	w := check.NewWire(0)
	w.Connect(check.Connection{Local: 5, Remote: 9, MTU: 512, SendPSN: 0xffffff, RecvPSN: 7})
	return w
}

func TestConnection(t *testing.T) {
	w := connected()
	w.Finish()
	require.Empty(t, w.Errors(), "nothing was sent, and nothing is missing")
	w.Frame(1000, true, false, frame(roce.RCSendFirst, 9, 0xffffff, 512, 0))
	w.Frame(2000, true, false, frame(roce.RCSendLast, 9, 0, 100, 0))
	w.Frame(3000, false, false, frame(roce.RCSendOnly, 5, 7, 3, 0))
	w.Frame(4000, true, false, frame(roce.RCAck, 9, 7, 0, 1))
	w.Finish()
	require.Empty(t, w.Errors())
	require.Equal(t, check.Counts{
		TxPackets: 3, RxPackets: 1, TxAcks: 1, Requests: 2, Payload: 612, Messages: 1,
		TxBytes: w.Counts.TxBytes, RxBytes: w.Counts.RxBytes,
	}, w.Counts)
	// The same QP numbers begin anew.
	w.Connect(check.Connection{Local: 5, Remote: 9, MTU: 256, SendPSN: 3, RecvPSN: 7})
	w.Frame(5000, true, false, frame(roce.RCSendOnly, 9, 3, 256, 0))
	require.Empty(t, w.Errors())
	w.Disconnect(5, 9)
	w.Finish()
	require.Empty(t, w.Errors())
}

func TestConnectionFaults(t *testing.T) {
	for name, c := range map[string]struct {
		tx    bool
		frame []byte
	}{
		"the first PSN sent":     {true, frame(roce.RCSendOnly, 9, 0, 3, 0)},
		"the first PSN received": {false, frame(roce.RCSendOnly, 5, 8, 3, 0)},
		"the connection's MTU":   {true, frame(roce.RCSendOnly, 9, 0xffffff, 513, 0)},
		"an unknown QP":          {true, frame(roce.RCSendOnly, 8, 0xffffff, 3, 0)},
		"an ACK of nothing":      {true, frame(roce.RCAck, 9, 7, 0, 1)},
	} {
		w := connected()
		w.Frame(1000, c.tx, false, c.frame)
		require.NotEmpty(t, w.Errors(), name)
	}
	w := connected()
	w.Frame(1000, false, false, frame(roce.RCSendOnly, 5, 7, 3, 0))
	w.Frame(2000, false, false, frame(roce.RCSendOnly, 5, 8, 3, 0))
	w.Frame(3000, true, false, frame(roce.RCAck, 9, 7, 0, 0))
	require.Len(t, w.Errors(), 1, "an MSN that leaves out the message acknowledged")
	w.Frame(4000, true, false, frame(roce.RCAck, 9, 8, 0, 2))
	require.Len(t, w.Errors(), 1)
	w = connected()
	w.Frame(1000, false, false, frame(roce.RCSendOnly, 5, 7, 3, 0))
	w.Finish()
	require.Len(t, w.Errors(), 1, "a request without an acknowledgement")
	w = connected()
	w.Frame(1000, true, false, frame(roce.RCSendFirst, 9, 0xffffff, 512, 0))
	w.Frame(2000, false, false, frame(roce.RCSendOnly, 5, 7, 3, 0))
	w.Cut(5, 9)
	w.Finish()
	require.Empty(t, w.Errors(), "nobody waits for the end of what was cut")
	w.Frame(3000, false, false, frame(roce.RCSendOnly, 5, 9, 3, 0))
	require.Len(t, w.Errors(), 1, "what still comes is in order")
}

// unreliable is a frame of UC or UD, from QP 5 if of UD, that change has changed.
func unreliable(op roce.Opcode, dest roce.QPN, psn roce.PSN, payload int, change func(*roce.Packet)) []byte {
	f := frame(op, dest, psn, payload, 0)
	p, _ := roce.ParseFrame(f)
	p.BTH.AckReq, p.Trailer = false, nil
	p.DETH = roce.DETH{QKey: 0x1234, SrcQP: 5}
	p.RETH.Length = uint32(payload)
	if change != nil {
		change(&p)
	}
	if n := 60 - p.Size(); n > 0 {
		p.Trailer = make([]byte, n)
	}
	return p.Append(nil)
}

func unconnected() *check.Wire {
	w := check.NewWire(512)
	w.Connect(check.Connection{Transport: roce.UC, Local: 5, Remote: 9, MTU: 512, SendPSN: 0xffffff, RecvPSN: 7})
	return w
}

func TestUC(t *testing.T) {
	w := unconnected()
	w.Lossy = true
	w.Frame(1000, true, false, unreliable(roce.UCSendFirst, 9, 0xffffff, 512, nil))
	w.Frame(2000, true, false, unreliable(roce.UCSendLast, 9, 0, 100, nil))
	w.Frame(3000, true, false, unreliable(roce.UCWriteOnlyImm, 9, 1, 100, func(p *roce.Packet) { p.BTH.SE = true }))
	w.Frame(3000, false, false, unreliable(roce.UCSendOnly, 5, 9, 3, nil))
	w.Finish()
	require.Empty(t, w.Errors(), "nothing is acknowledged, and what comes may have lost others")
	require.Equal(t, uint64(2), w.Counts.Messages)

	for name, f := range map[string][]byte{
		"the first PSN sent":       unreliable(roce.UCSendOnly, 9, 0, 3, nil),
		"AckReq":                   unreliable(roce.UCSendOnly, 9, 0xffffff, 3, func(p *roce.Packet) { p.BTH.AckReq = true }),
		"the MTU":                  unreliable(roce.UCSendOnly, 9, 0xffffff, 513, nil),
		"a middle":                 unreliable(roce.UCSendMiddle, 9, 0xffffff, 512, nil),
		"a WRITE too short":        unreliable(roce.UCWriteOnly, 9, 0xffffff, 8, func(p *roce.Packet) { p.RETH.Length = 9 }),
		"SE of a WRITE":            unreliable(roce.UCWriteOnly, 9, 0xffffff, 8, func(p *roce.Packet) { p.BTH.SE = true }),
		"RC on UC":                 frame(roce.RCSendOnly, 9, 0xffffff, 3, 0),
		"an ACK":                   frame(roce.RCAck, 9, 7, 0, 1),
		"a READ":                   unreliable(roce.Opcode(roce.UC)<<5|roce.RCReadRequest, 9, 0xffffff, 0, nil),
		"a tag":                    unreliable(roce.UCSendOnly, 9, 0xffffff, 3, func(p *roce.Packet) { p.Tagged = true }),
		"a datagram to no one":     unreliable(roce.UDSendOnly, 9, 0, 3, nil),
		"a message without an end": unreliable(roce.UCSendFirst, 9, 0xffffff, 512, nil),
	} {
		for _, lossy := range []bool{false, true} {
			w := unconnected()
			w.Lossy = lossy
			w.Frame(1000, true, false, f)
			w.Finish()
			require.NotEmpty(t, w.Errors(), name)
		}
	}
	w = unconnected()
	w.Frame(1000, false, false, unreliable(roce.UCSendOnly, 5, 8, 3, nil))
	require.Len(t, w.Errors(), 1, "a gap without a loss")
}

// datagrams is a port of UD QP 5, and of QP 9 at the other end.
func datagrams() *check.Wire {
	w := check.NewWire(512)
	w.Local(check.Datagrams{QPN: 5, QKey: 0x4321, MTU: 512, PSN: 0xffffff})
	w.Remote(check.Datagrams{QPN: 9, QKey: 0x1234, MTU: 512, PSN: 3})
	w.Remote(check.Datagrams{QPN: 10, QKey: 0x5678, MTU: 512})
	return w
}

func TestUD(t *testing.T) {
	w := datagrams()
	w.Frame(1000, true, false, unreliable(roce.UDSendOnly, 9, 0xffffff, 512, nil))
	w.Frame(2000, true, false, unreliable(roce.UDSendOnlyImm, 10, 0, 3, func(p *roce.Packet) { p.DETH.QKey = 0x5678 }))
	w.Frame(3000, false, false, unreliable(roce.UDSendOnly, 5, 3, 3, func(p *roce.Packet) { p.DETH = roce.DETH{QKey: 0x4321, SrcQP: 9} }))
	w.Finish()
	require.Empty(t, w.Errors(), "datagrams to all are numbered together")

	for name, f := range map[string][]byte{
		"the first PSN":      unreliable(roce.UDSendOnly, 9, 0, 3, nil),
		"the Q_Key":          unreliable(roce.UDSendOnly, 10, 0xffffff, 3, nil),
		"another's number":   unreliable(roce.UDSendOnly, 9, 0xffffff, 3, func(p *roce.Packet) { p.DETH.SrcQP = 9 }),
		"an unknown QP":      unreliable(roce.UDSendOnly, 11, 0xffffff, 3, nil),
		"the MTU":            unreliable(roce.UDSendOnly, 9, 0xffffff, 513, nil),
		"AckReq":             unreliable(roce.UDSendOnly, 9, 0xffffff, 3, func(p *roce.Packet) { p.BTH.AckReq = true }),
		"more than a packet": unreliable(roce.Opcode(roce.UD)<<5|roce.RCSendFirst, 9, 0xffffff, 512, nil),
		"UC":                 unreliable(roce.UCSendOnly, 9, 0xffffff, 3, nil),
	} {
		w := datagrams()
		w.Lossy = true
		w.Frame(1000, true, false, f)
		require.NotEmpty(t, w.Errors(), name)
	}
	w = datagrams()
	w.Frame(1000, false, false, unreliable(roce.UDSendOnly, 9, 0xffffff, 3, nil))
	require.Len(t, w.Errors(), 2, "what comes is from the other end, to this one")
}

// A tag is as told, and the ICRC knows nothing of it.
func TestVLAN(t *testing.T) {
	tagged := func(p *roce.Packet) { p.Tagged, p.VLAN.PCP, p.VLAN.VID = true, 5, 100 }
	w := datagrams()
	w.Tagged, w.TCI = true, 5<<13|100
	w.Frame(1000, true, false, unreliable(roce.UDSendOnly, 9, 0xffffff, 512, tagged))
	require.Empty(t, w.Errors())
	w.Frame(2000, true, false, unreliable(roce.UDSendOnly, 9, 0, 512, nil))
	require.Len(t, w.Errors(), 1, "no tag")
	w.TCI = 5<<13 | 101
	w.Frame(2000, true, false, unreliable(roce.UDSendOnly, 9, 1, 512, tagged))
	require.Len(t, w.Errors(), 2, "another tag")
}
