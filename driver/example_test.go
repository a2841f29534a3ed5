package driver_test

import (
	"errors"
	"fmt"
	"math"
	"syscall"

	"rnic/abi"
	"rnic/driver"
)

// check ends an example.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// A program opens the device, makes two queue pairs, connects them to each other
// and sends a message. With two hosts each does its half, and the text of the
// Endpoint travels between them by any other way.
func Example() {
	bus := newMachine().bus() // what the simulated host gives to each thread
	dev, err := driver.Open(bus, driver.Config{MAC: [6]byte{2, 0, 0, 0, 0, 1}, IPv4: [4]byte{10, 0, 0, 1}})
	check(err)
	defer dev.Close()

	pd, err := dev.AllocPD()
	check(err)
	buf, err := dev.AllocBuffer(8192, 0)
	check(err)
	mr, err := pd.RegMR(buf, abi.AccessLocalWrite)
	check(err)
	cq, err := dev.CreateCQ(16, driver.CQOptions{})
	check(err)
	config := driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 4, MaxRecv: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
	a, err := pd.CreateQP(config)
	check(err)
	b, err := pd.CreateQP(config)
	check(err)
	check(a.Connect(b.Endpoint(), driver.ConnectOptions{MTU: abi.MTU1024}))
	check(b.Connect(a.Endpoint(), driver.ConnectOptions{MTU: abi.MTU1024}))

	_, err = b.PostRecv(driver.RecvWR{ID: 7, SGEs: []driver.SGE{mr.SGE(4096, 4096)}})
	check(err)
	_, err = buf.WriteAt([]byte("hello"), 0)
	check(err)
	_, err = a.PostSend(driver.SendWR{ID: 8, Op: abi.OpSend, SGEs: []driver.SGE{mr.SGE(0, 5)}, Signaled: true})
	check(err)

	wcs := make([]driver.WC, 4)
	for done := 0; done < 2; {
		n, err := cq.Wait(wcs, math.MaxInt64)
		check(err)
		for _, wc := range wcs[:n] {
			fmt.Println(wc.ID, wc.Opcode, wc.Status, wc.ByteLen)
		}
		done += n
	}
	got := make([]byte, 5)
	_, err = buf.ReadAt(got, 4096)
	check(err)
	fmt.Printf("%s\n", got)
	// Output:
	// 7 RECV SUCCESS 5
	// 8 SEND SUCCESS 5
	// hello
}

// Errors have the meaning of an errno, and say what was wrong.
func ExampleQP_PostSend_errors() {
	dev, err := driver.Open(newMachine().bus(), driver.Config{MAC: [6]byte{2, 5: 1}, IPv4: [4]byte{10, 0, 0, 1}})
	check(err)
	pd, err := dev.AllocPD()
	check(err)
	cq, err := dev.CreateCQ(1, driver.CQOptions{})
	check(err)
	qp, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 1, MaxSendSGE: 1})
	check(err)

	_, err = qp.PostSend(driver.SendWR{Op: abi.OpNop})
	fmt.Println(err)
	check(qp.Connect(qp.Endpoint(), driver.ConnectOptions{}))
	n, err := qp.PostSend(
		driver.SendWR{ID: 1, Op: abi.OpNop, Signaled: true},
		driver.SendWR{ID: 2, Op: abi.OpNop, Signaled: true},
	)
	fmt.Println(n, err)
	fmt.Println(errors.Is(err, driver.ErrNoMemory), errors.Is(err, syscall.ENOMEM))
	fmt.Println(cq.Destroy())
	// Output:
	// post send to QP 2 in RESET (destroyed: false): invalid argument
	// 1 post send to QP 2: work request 1 (id 2): send queue full, 1 of 1 work requests outstanding: no room
	// true true
	// CQ 0 serves 2 queues of QPs: in use
}

// Only now and then a send asks for a completion. The next completion of the queue
// frees the places of those that did not.
func ExampleQP_PostSend_unsignaled() {
	dev, err := driver.Open(newMachine().bus(), driver.Config{MAC: [6]byte{2, 5: 1}, IPv4: [4]byte{10, 0, 0, 1}})
	check(err)
	pd, err := dev.AllocPD()
	check(err)
	cq, err := dev.CreateCQ(4, driver.CQOptions{})
	check(err)
	qp, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 4})
	check(err)
	check(qp.Connect(qp.Endpoint(), driver.ConnectOptions{}))

	wcs := make([]driver.WC, 4)
	for i := range uint64(12) {
		_, err := qp.PostSend(driver.SendWR{ID: i, Op: abi.OpNop, Signaled: i%4 == 3})
		check(err)
		if i%4 == 3 {
			n, err := cq.Wait(wcs, math.MaxInt64)
			check(err)
			fmt.Println(n, wcs[0].ID)
		}
	}
	// Output:
	// 1 3
	// 1 7
	// 1 11
}

// Each thread of a host has its own Bus, and uses the objects of others through
// handles of its own.
func ExampleDevice_On() {
	m := newMachine()
	dev, err := driver.Open(m.bus(), driver.Config{MAC: [6]byte{2, 5: 1}, IPv4: [4]byte{10, 0, 0, 1}})
	check(err)
	pd, err := dev.AllocPD()
	check(err)
	for n := range 2 {
		m.spawn(func(bus *bus) {
			mine := dev.On(bus)
			cq, err := mine.CreateCQ(4, driver.CQOptions{Vector: n})
			check(err)
			qp, err := pd.On(mine).CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 4})
			check(err)
			check(qp.Connect(qp.Endpoint(), driver.ConnectOptions{}))
			_, err = qp.PostSend(driver.SendWR{ID: uint64(n), Op: abi.OpNop, Signaled: true})
			check(err)
			wcs := make([]driver.WC, 1)
			_, err = cq.Wait(wcs, math.MaxInt64)
			check(err)
			fmt.Println("thread", n, wcs[0].Status)
		})
	}
	m.run()
	// Unordered output:
	// thread 0 SUCCESS
	// thread 1 SUCCESS
}

// The text of an Endpoint goes to the peer by any way that is at hand.
func ExampleEndpoint() {
	mine := driver.Endpoint{QPN: 2, PSN: 0x123456, GID: [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 1}, MAC: [6]byte{2, 0, 0, 0, 0, 1}}
	text := mine.String()
	fmt.Println(text)
	var theirs driver.Endpoint
	check(theirs.UnmarshalText([]byte(text)))
	fmt.Println(theirs == mine)
	// Output:
	// qpn=0x000002,psn=0x123456,gid=::ffff:10.0.0.1,mac=02:00:00:00:00:01
	// true
}

// A program that sleeps until there is something to do: it takes the events of a
// vector, arms the queue again, and only then takes all completions, so that none
// comes unnoticed in between. Moderation wakes it once for several completions.
func ExampleDevice_CQEvent() {
	dev, err := driver.Open(newMachine().bus(), driver.Config{MAC: [6]byte{2, 5: 1}, IPv4: [4]byte{10, 0, 0, 1}})
	check(err)
	pd, err := dev.AllocPD()
	check(err)
	cq, err := dev.CreateCQ(16, driver.CQOptions{Moderation: driver.Moderation{Count: 8, Period: 16}})
	check(err)
	qp, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 8, SigAll: true})
	check(err)
	check(qp.Connect(qp.Endpoint(), driver.ConnectOptions{}))

	check(cq.Arm(false))
	for i := range uint64(3) {
		_, err := qp.PostSend(driver.SendWR{ID: i, Op: abi.OpNop})
		check(err)
	}
	check(cq.Resize(100)) // at any time: what was not polled stays
	wcs, events := make([]driver.WC, 4), 0
	for done := 0; done < 3; {
		told, err := dev.CQEvent(0, math.MaxInt64)
		check(err)
		events++
		check(told.Arm(false))
		for n := 1; n > 0; done += n {
			n, err = told.Poll(wcs)
			check(err)
			for _, wc := range wcs[:n] {
				fmt.Println(wc.ID, wc.Status)
			}
		}
	}
	check(cq.Ack(events)) // before Destroy, which would wait for it
	check(qp.Destroy())
	check(cq.Destroy())
	// Output:
	// 0 SUCCESS
	// 1 SUCCESS
	// 2 SUCCESS
}
