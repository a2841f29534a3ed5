package driver_test

import (
	"fmt"
	"math"
	"net/netip"

	"rnic/abi"
	"rnic/driver"
)

// host is a device with two addresses, and what most programs need of it.
func host() (*driver.Device, *driver.PD, *driver.CQ, *driver.Buffer, *driver.MR) {
	dev, err := driver.Open(newMachine().bus(), driver.Config{
		MAC: [6]byte{2, 0, 0, 0, 0, 1}, IPv4: [4]byte{10, 0, 0, 1}, GID: netip.MustParseAddr("fe80::1").As16(),
	})
	check(err)
	pd, err := dev.AllocPD()
	check(err)
	cq, err := dev.CreateCQ(64, driver.CQOptions{})
	check(err)
	buf, err := dev.AllocBuffer(8192, 0)
	check(err)
	mr, err := pd.RegMR(buf, abi.AccessLocalWrite|abi.AccessRemoteWrite|abi.AccessMWBind)
	check(err)
	return dev, pd, cq, buf, mr
}

// next waits for the next completion.
func next(cq *driver.CQ) *driver.WC {
	wcs := make([]driver.WC, 1)
	_, err := cq.Wait(wcs, math.MaxInt64)
	check(err)
	return &wcs[0]
}

func text(buf *driver.Buffer, off, n int) string {
	b := make([]byte, n)
	_, err := buf.ReadAt(b, int64(off))
	check(err)
	return string(b)
}

// A datagram needs no connection: the address handle says where it goes, and what came
// with it leads back to its sender.
func ExamplePD_CreateAH() {
	dev, pd, cq, buf, mr := host()
	config := driver.QPConfig{Type: abi.QPTypeUD, SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxRecv: 4, MaxRecvSGE: 1, MaxInline: 32}
	client, err := pd.CreateQP(config)
	check(err)
	server, err := pd.CreateQP(config)
	check(err)
	check(client.Start(0x1111))
	check(server.Start(0x2222))
	for _, qp := range []*driver.QP{client, server} {
		_, err = qp.PostRecv(driver.RecvWR{SGEs: []driver.SGE{mr.SGE(0, 1000)}})
		check(err)
	}
	peer := server.Endpoint()
	ah, err := pd.CreateAH(driver.AHAttr{MAC: peer.MAC, DGID: peer.GID, TrafficClass: 46 << 2})
	check(err)
	_, err = client.PostSend(driver.SendWR{Op: abi.OpSend, Inline: []byte("who is there?"), AH: ah, RemoteQPN: peer.QPN, RemoteQKey: 0x2222})
	check(err)

	wc := next(cq)
	fmt.Println(wc.Flags, text(buf, driver.GRHSize, int(wc.ByteLen)-driver.GRHSize))
	grh := []byte(text(buf, 0, driver.GRHSize))
	back, err := dev.AHAttrFromWC(wc, grh)
	check(err)
	fmt.Println(netip.AddrFrom16(back.DGID).Unmap(), back.TrafficClass>>2)
	ah, err = pd.CreateAHFromWC(wc, grh, client.Endpoint().MAC)
	check(err)
	_, err = server.PostSend(driver.SendWR{Op: abi.OpSend, Inline: []byte("me"), AH: ah, RemoteQPN: wc.SrcQPN, RemoteQKey: 0x1111})
	check(err)
	wc = next(cq)
	fmt.Println(text(buf, driver.GRHSize, int(wc.ByteLen)-driver.GRHSize))
	// Output:
	// GRH who is there?
	// 10.0.0.1 46
	// me
}

// Two connections take their receives from one queue. The device tells when few are
// left.
func ExamplePD_CreateSRQ() {
	dev, pd, cq, _, mr := host()
	srq, err := pd.CreateSRQ(driver.SRQAttr{MaxRecv: 7, MaxSGE: 1})
	check(err)
	for id := range uint64(5) {
		_, err := srq.PostRecv(driver.RecvWR{ID: id, SGEs: []driver.SGE{mr.SGE(int(id)*1024, 1024)}})
		check(err)
	}
	check(srq.Modify(driver.SRQAttr{Limit: 4}, abi.SRQLimit))
	for range 2 {
		client, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 1, MaxInline: 32})
		check(err)
		server, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, SRQ: srq})
		check(err)
		check(client.Connect(server.Endpoint(), driver.ConnectOptions{}))
		check(server.Connect(client.Endpoint(), driver.ConnectOptions{}))
		_, err = client.PostSend(driver.SendWR{Op: abi.OpSend, Inline: []byte("hello")})
		check(err)
		wc := next(cq)
		fmt.Println(wc.ID, wc.Opcode, wc.QP == server)
	}
	event, _, err := dev.AsyncEvent(math.MaxInt64)
	check(err)
	fmt.Println(event.Type)
	check(dev.AckAsync(event))
	check(srq.Modify(driver.SRQAttr{MaxRecv: 30}, abi.SRQRing)) // while it is in use
	fmt.Println(srq.MaxRecv)
	// Output:
	// 0 RECV true
	// 1 RECV true
	// SRQ_LIMIT_REACHED
	// 31
}

// A window opens a part of a region to the peer, and closes it again, without a command
// to the device.
func ExampleMW_Bind() {
	_, pd, cq, buf, mr := host()
	config := driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxInline: 32}
	client, err := pd.CreateQP(config)
	check(err)
	server, err := pd.CreateQP(config)
	check(err)
	check(client.Connect(server.Endpoint(), driver.ConnectOptions{}))
	check(server.Connect(client.Endpoint(), driver.ConnectOptions{}))

	window, err := pd.AllocMW(abi.KeyWindow1)
	check(err)
	check(window.Bind(server, driver.BindWR{Signaled: true, Bind: driver.Bind{
		MR: mr, Addr: mr.Addr + 100, Length: 50, Access: abi.AccessRemoteWrite,
	}}))
	fmt.Println(next(cq).Opcode)
	for _, off := range []uint64{100, 150} {
		_, err = client.PostSend(driver.SendWR{Op: abi.OpWrite, Inline: []byte("inside"), Signaled: true, RemoteAddr: mr.Addr + off, RKey: window.RKey})
		check(err)
		fmt.Println(next(cq).Status)
	}
	fmt.Println(text(buf, 100, 6))
	// Output:
	// BIND_MW
	// SUCCESS
	// REM_ACCESS_ERR
	// inside
}

// A region gets memory from the send queue, in the order of the work requests.
func ExamplePD_AllocFastMR() {
	dev, pd, cq, _, _ := host()
	qp, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxFastRegPages: 2})
	check(err)
	check(qp.Connect(qp.Endpoint(), driver.ConnectOptions{}))
	buf, err := dev.AllocBuffer(8192, 0)
	check(err)
	mr, err := pd.AllocFastMR(2)
	check(err)
	_, err = qp.PostSend(
		driver.SendWR{Op: abi.OpFastReg, Signaled: true, FastReg: &driver.FastReg{
			MR: mr, Addr: buf.Addr, Length: 8192, Pages: buf.Pages(), Access: abi.AccessLocalWrite,
		}},
		driver.SendWR{Op: abi.OpLocalInv, Imm: uint32(mr.LKey), Signaled: true},
	)
	check(err)
	for range 2 {
		wc := next(cq)
		fmt.Println(wc.Opcode, wc.Status)
	}
	check(mr.Dereg())
	// Output:
	// FAST_REG SUCCESS
	// LOCAL_INV SUCCESS
}

// A port may have more addresses than two; a QP is connected from the one that it is
// made with.
func ExampleDevice_SetGID() {
	dev, pd, cq, _, _ := host()
	check(dev.SetGID(2, netip.MustParseAddr("192.168.7.1")))
	fmt.Println(dev.GIDs()[:3])
	qp, err := pd.CreateQP(driver.QPConfig{Type: abi.QPTypeUC, SendCQ: cq, RecvCQ: cq, GIDIndex: 2})
	check(err)
	fmt.Println(netip.AddrFrom16(qp.Endpoint().GID))
	// Output:
	// [fe80::1 10.0.0.1 192.168.7.1]
	// ::ffff:192.168.7.1
}

// Frames that are not RoCE, as a program of the network stack sends and gets them.
func ExampleDevice_SetRawQP() {
	dev, pd, cq, _, mr := host()
	qp, err := pd.CreateQP(driver.QPConfig{Type: abi.QPTypeRaw, SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxRecv: 4, MaxRecvSGE: 1, MaxInline: 64})
	check(err)
	check(qp.Start(0))
	_, err = qp.PostRecv(driver.RecvWR{SGEs: []driver.SGE{mr.SGE(0, 4096)}})
	check(err)
	check(dev.SetRawQP(qp))
	frame := append([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5}, "hello"...)
	_, err = qp.PostSend(driver.SendWR{Op: abi.OpSend, Inline: frame, Signaled: true})
	check(err)
	fmt.Println(next(cq).Status)
	// Output:
	// SUCCESS
}
