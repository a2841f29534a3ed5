package latency

import (
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"testing"

	"rnic/abi"
	"rnic/driver"
	"rnic/hdl"
	"rnic/roce"
	"rnic/tb"
	"rnic/tb/host"
)

func TestExplore(t *testing.T) {
	mode := os.Getenv("MODE")
	b, err := tb.New(tb.Config{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	var start, end uint64
	eps := [2]driver.Endpoint{}
	var qps [2]*driver.QP
	var cqs [2]*driver.CQ
	var mrs [2]*driver.MR
	var devs [2]*driver.Device
	for i, h := range b.Hosts {
		i, h := i, h
		h.Go("main", func(th *hdl.Thread, bus *host.Bus) {
			k := uint8(h.Index)
			cfg := driver.Config{MAC: roce.HostMAC(k), IPv4: roce.HostIPv4(k), GID: roce.HostIPv6(k), NoPush: mode != "push"}
			dev, err := driver.Open(bus, cfg)
			devs[i] = dev
			chk := func(err error) {
				if err != nil {
					panic(err)
				}
			}
			chk(err)
			pd, err := dev.AllocPD()
			chk(err)
			buf, err := dev.AllocBuffer(4096, 0)
			chk(err)
			mr, err := pd.RegMR(buf, abi.AccessLocalWrite)
			chk(err)
			mrs[i] = mr
			cq, err := dev.CreateCQ(64, driver.CQOptions{})
			chk(err)
			qp, err := pd.CreateQP(driver.QPConfig{SendCQ: cq, RecvCQ: cq, MaxSend: 16, MaxRecv: 16, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInline: 32})
			chk(err)
			cqs[i], qps[i] = cq, qp
			bts, _ := qp.Endpoint().MarshalBinary()
			h.OOB.Send(bts)
			chk(eps[i].UnmarshalBinary(h.OOB.Recv(th)))
			chk(qp.Connect(eps[i], driver.ConnectOptions{}))
			wcs := make([]driver.WC, 4)
			if i == 1 {
				for n := range 8 {
					_, err := qp.PostRecv(driver.RecvWR{ID: uint64(n), SGEs: []abi.SGE{mr.SGE(64*n, 64)}})
					chk(err)
				}
				h.OOB.Send([]byte("go"))
				for n := range 4 {
					th.Sleep(3000)
					_ = n
				}
				th.Sleep(10000)
				_, err = cq.Poll(wcs)
				chk(err)
				return
			}
			h.OOB.Recv(th)
			for n := range 3 {
				th.Sleep(3000)
				if n == 2 {
					start = th.Now()
				}
				wr := driver.SendWR{ID: uint64(n), Op: abi.OpSend, Signaled: true}
				if mode == "" {
					wr.SGEs = []abi.SGE{mr.SGE(0, 8)}
				} else {
					wr.Inline = make([]byte, 8)
				}
				_, err := qp.PostSend(wr)
				chk(err)
			}
			end = th.Now()
			n, err := cq.Wait(wcs, math.MaxInt64)
			chk(err)
			_ = n
		})
	}
	type ev struct {
		c uint64
		s string
	}
	var evs []ev
	probes := [2]*tb.Probe{}
	paths := [2][]string{}
	for i, h := range b.Hosts {
		for _, s := range h.K.Signals() {
			if s.Role.Past() && s.Kind == hdl.Bool && (s.Role == hdl.RoleTake || s.Role == hdl.RolePut) {
				paths[i] = append(paths[i], s.Path)
			}
		}
		probes[i], err = tb.NewProbe(h.K, 1000000, paths[i]...)
		if err != nil {
			t.Fatal(err)
		}
		h.Machine.RC.OnWrite = func(c, a uint64, d []byte) {
			evs = append(evs, ev{c, fmt.Sprintf("%s memory write %x len %d", h.K.Name(), a, len(d))})
		}
	}
	if err := b.Run(1000000); err != nil {
		t.Fatal(err)
	}
	for i := range probes {
		for _, p := range paths[i] {
			for _, c := range probes[i].Cycles(p) {
				evs = append(evs, ev{c, p})
			}
		}
	}
	sort.SliceStable(evs, func(i, j int) bool { return evs[i].c < evs[j].c })
	fmt.Println("start", start, "end", end)
	for _, e := range evs {
		if e.c >= start && e.c < start+1200 && !strings.Contains(e.s, "xxx") {
			fmt.Println(e.c-start, e.s)
		}
	}
}
