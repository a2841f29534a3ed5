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
