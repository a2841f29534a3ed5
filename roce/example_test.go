package roce_test

import (
	"fmt"

	"rnic/roce"
)

// A SEND from host 1 to host 2, made and taken apart again.
func Example() {
	p := roce.Packet{
		Eth: roce.Ethernet{Src: roce.HostMAC(1), Dst: roce.HostMAC(2)},
		IP4: roce.IPv4{DF: true, TTL: roce.DefaultTTL, Src: roce.HostIPv4(1), Dst: roce.HostIPv4(2)},
		UDP: roce.UDP{SrcPort: roce.SourcePort(0x11, 0x12)},
		BTH: roce.BTH{Opcode: roce.RCSendOnly, MigReq: true, AckReq: true, PKey: roce.DefaultPKey, DestQP: 0x12, PSN: 7},
	}
	p.SetPayload([]byte("hello"))
	frame := p.Append(nil)

	q, err := roce.ParseFrame(frame)
	fmt.Println(len(frame), q.BTH.Opcode, q.BTH.PSN, q.IP4.Dst, string(q.Payload), q.BTH.PadCnt, err)

	frame[60] ^= 1
	_, err = roce.ParseFrame(frame)
	fmt.Println(err)
	// Output:
	// 66 RC_SEND_ONLY 7 10.0.0.2 hello 3 <nil>
	// dropped: ICRC
}
