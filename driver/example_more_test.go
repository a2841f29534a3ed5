package driver_test

import (
	"fmt"
	"math"
	"net/netip"

	"rnic/abi"
	"rnic/driver"
)

// connectedPair is two QPs of a host that are each other's peers.
func connectedPair(pd *driver.PD, config driver.QPConfig, o driver.ConnectOptions) (client, server *driver.QP) {
	client, err := pd.CreateQP(config)
	check(err)
	server, err = pd.CreateQP(config)
	check(err)
	check(client.Connect(server.Endpoint(), o))
	check(server.Connect(client.Endpoint(), o))
	return client, server
}

// A window of type 2 is bound by a work request, under a key that the program chooses,
// for the QP that it is posted to. The peer that has used it closes it with its answer.
func ExampleBind() {
	_, pd, cq, buf, mr := host()
	client, server := connectedPair(pd, driver.QPConfig{
		SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxRecv: 4, MaxInline: 32,
	}, driver.ConnectOptions{})

	window, err := pd.AllocMW(abi.KeyWindow2)
	check(err)
	key := abi.MakeKey(window.Key().Index(), window.Key().Low()+1)
	_, err = server.PostSend(driver.SendWR{Op: abi.OpBindMW, Signaled: true, Bind: &driver.Bind{
		MW: window, RKey: key, MR: mr, Addr: mr.Addr, Length: 100, Access: abi.AccessRemoteWrite,
	}})
	check(err)
	fmt.Println(next(cq).Opcode)
	_, err = server.PostRecv(driver.RecvWR{})
	check(err)
	_, err = client.PostSend(
		driver.SendWR{Op: abi.OpWrite, Inline: []byte("the answer"), RemoteAddr: mr.Addr, RKey: key},
		driver.SendWR{Op: abi.OpSendInv, Imm: uint32(key)},
	)
	check(err)
	wc := next(cq)
	fmt.Println(wc.Opcode, wc.Flags, abi.Key(wc.Imm) == key)
	fmt.Println(text(buf, 0, 10))
	_, err = client.PostSend(driver.SendWR{Op: abi.OpWrite, Inline: []byte("too late"), RemoteAddr: mr.Addr, RKey: key})
	check(err)
	fmt.Println(next(cq).Status)
	// Output:
	// BIND_MW
	// RECV WITH_INV true
	// the answer
	// REM_ACCESS_ERR
}

// A queue becomes larger while it is in use: what was not polled stays.
func ExampleCQ_Resize() {
	dev, pd, _, _, _ := host()
	cq, err := dev.CreateCQ(2, driver.CQOptions{})
	check(err)
	qp, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 16, SigAll: true})
	check(err)
	check(qp.Connect(qp.Endpoint(), driver.ConnectOptions{}))
	_, err = qp.PostSend(driver.SendWR{ID: 1, Op: abi.OpNop}, driver.SendWR{ID: 2, Op: abi.OpNop})
	check(err)
	check(cq.Resize(16))
	fmt.Println(cq.Entries >= 16)
	for id := range uint64(3) {
		_, err := qp.PostSend(driver.SendWR{ID: 3 + id, Op: abi.OpNop})
		check(err)
	}
	for range 5 {
		fmt.Print(next(cq).ID, " ")
	}
	// Output:
	// true
	// 1 2 3 4 5
}

// Under load one event for 16 completions is enough; a few that come alone are told
// after 20 us.
func ExampleCQ_Moderate() {
	_, pd, cq, _, _ := host()
	qp, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 16, SigAll: true})
	check(err)
	check(qp.Connect(qp.Endpoint(), driver.ConnectOptions{}))
	check(cq.Moderate(driver.Moderation{Count: 16, Period: 20})) // of 1.024 us
	_, err = qp.PostSend(driver.SendWR{Op: abi.OpNop})
	check(err)
	fmt.Println(next(cq).Status)
	fmt.Println(cq.Moderate(driver.Moderation{Count: 16}))
	check(cq.Moderate(driver.Moderation{})) // as at first: every event at once
	// Output:
	// SUCCESS
	// moderation {Count:16 Period:0}: invalid argument
}

// The device stamps completions by its clock of 250 MHz, which Device.Cycles reads.
func ExampleWC_timestamp() {
	_, pd, cq, _, mr := host()
	client, server := connectedPair(pd, driver.QPConfig{
		SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxRecv: 4, MaxRecvSGE: 1, MaxInline: 32,
	}, driver.ConnectOptions{})
	var stamps []uint64
	for range 2 {
		_, err := server.PostRecv(driver.RecvWR{SGEs: []driver.SGE{mr.SGE(0, 32)}})
		check(err)
		_, err = client.PostSend(driver.SendWR{Op: abi.OpSend, Inline: []byte("tick")})
		check(err)
		stamps = append(stamps, next(cq).Timestamp)
	}
	apart := (stamps[1] - stamps[0]) * 4 // ns
	fmt.Println(apart > 100, apart < 100_000)
	// Output:
	// true true
}

// UC writes and sends without acknowledgement: a message that is lost, or that nobody has
// a receive for, is no error of its sender.
func ExamplePD_CreateQP_uc() {
	_, pd, cq, buf, mr := host()
	client, server := connectedPair(pd, driver.QPConfig{
		Type: abi.QPTypeUC, SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxRecv: 4, MaxRecvSGE: 1, MaxInline: 32,
	}, driver.ConnectOptions{})
	_, err := server.PostRecv(driver.RecvWR{SGEs: []driver.SGE{mr.SGE(0, 32)}})
	check(err)
	for _, s := range []string{"arrives", "is lost"} {
		_, err = client.PostSend(driver.SendWR{Op: abi.OpSend, Inline: []byte(s), Signaled: true})
		check(err)
	}
	for range 3 {
		wc := next(cq)
		fmt.Println(wc.Opcode, wc.Status)
	}
	fmt.Println(text(buf, 0, 7))
	// Output:
	// RECV SUCCESS
	// SEND SUCCESS
	// SEND SUCCESS
	// arrives
}

// A connection over IPv6, in VLAN 100 with priority 3: both sides are told the same.
func ExampleQP_Connect_vlan() {
	_, pd, cq, buf, mr := host()
	client, server := connectedPair(pd, driver.QPConfig{
		IPv6: true, SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxRecv: 4, MaxRecvSGE: 1, MaxInline: 32,
	}, driver.ConnectOptions{VLANValid: true, VLAN: 3<<13 | 100, TrafficClass: 26 << 2})
	fmt.Println(netip.AddrFrom16(server.Endpoint().GID))
	_, err := server.PostRecv(driver.RecvWR{SGEs: []driver.SGE{mr.SGE(0, 32)}})
	check(err)
	_, err = client.PostSend(driver.SendWR{Op: abi.OpSend, Inline: []byte("tagged")})
	check(err)
	fmt.Println(next(cq).Status, text(buf, 0, 6))
	av, err := client.Query()
	check(err)
	fmt.Println(av.AV.VLANValid, av.AV.VLAN&0xfff, av.AV.VLAN>>13)
	// Output:
	// fe80::1
	// SUCCESS tagged
	// true 100 3
}

// Frames that are not RoCE come to the RAW_PACKET QP that SetRawQP names, with their
// Ethernet header; the VLAN tag is in the WC.
func ExampleDevice_SetRawQP_receive() {
	m := newMachine()
	dev, err := driver.Open(m.bus(), driver.Config{MAC: [6]byte{2, 0, 0, 0, 0, 1}, IPv4: [4]byte{10, 0, 0, 1}})
	check(err)
	pd, err := dev.AllocPD()
	check(err)
	cq, err := dev.CreateCQ(4, driver.CQOptions{})
	check(err)
	buf, err := dev.AllocBuffer(4096, 0)
	check(err)
	mr, err := pd.RegMR(buf, abi.AccessLocalWrite)
	check(err)
	qp, err := pd.CreateQP(driver.QPConfig{Type: abi.QPTypeRaw, SendCQ: cq, RecvCQ: cq, MaxRecv: 4, MaxRecvSGE: 1})
	check(err)
	check(qp.Start(0))
	_, err = qp.PostRecv(driver.RecvWR{SGEs: []driver.SGE{mr.SGE(0, 4096)}})
	check(err)
	check(dev.SetRawQP(qp))
	// Somebody on the wire:
	frame := append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 9, 0x88, 0xb5}, "hello"...)
	m.after(10_000_000, func() { m.frame(frame, true, 100) })

	wcs := make([]driver.WC, 1)
	_, err = cq.Wait(wcs, math.MaxInt64)
	check(err)
	wc := &wcs[0]
	fmt.Println(wc.ByteLen, wc.Flags, wc.Imm)
	fmt.Printf("% x %s\n", text(buf, 6, 6), text(buf, 14, int(wc.ByteLen)-14))
	// Output:
	// 19 VLAN 100
	// 02 00 00 00 00 09 hello
}
