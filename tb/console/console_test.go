package console_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rnic/tb/console"
	"rnic/tb/ether"
)

// ask is a console at the end of lines: a host whose QPs talk to each other through the
// loopback of its NIC.
func ask(t *testing.T) func(format string, v ...any) string {
	s, err := ether.New(ether.Config{Seed: 1}, console.Program)
	require.NoError(t, err)
	w, err := ether.OpenWire("listen:" + filepath.Join(t.TempDir(), "w"))
	require.NoError(t, err)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	lines, answers, ended := make(chan string), make(chan string, 1), make(chan error, 1)
	go func() { ended <- s.Run(ctx, w, lines, func(r string) { answers <- r }) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, w.Close())
		s.Close()
	})
	return func(format string, v ...any) string {
		select {
		case lines <- fmt.Sprintf(format, v...):
			return <-answers
		case <-ctx.Done():
			return "too late"
		}
	}
}

const self = "gid=10.0.0.1 mac=02:00:00:00:00:01"

// numberOf is a field of an answer.
func numberOf(t *testing.T, answer, name string) string {
	for _, f := range strings.Fields(answer) {
		if v, ok := strings.CutPrefix(f, name+"="); ok {
			return v
		}
	}
	t.Fatalf("no %s in %q", name, answer)
	return ""
}

// pair connects QPs 1 and 2, with what each is made with.
func pair(t *testing.T, do func(string, ...any) string, one, two string) {
	a, b := numberOf(t, do("qp 1 %s", one), "qpn"), numberOf(t, do("qp 2 %s", two), "qpn")
	require.Equal(t, "= ok", do("conn 1 qpn=%s %s psn=1 rpsn=2", b, self))
	require.Equal(t, "= ok", do("conn 2 qpn=%s %s psn=2 rpsn=1", a, self))
}

func TestUC(t *testing.T) {
	do := ask(t)
	pair(t, do, "type=uc", "type=uc")
	do("fill off=0 len=3000 seed=1")
	require.Equal(t, "= ok", do("recv 2 off=8192 len=3000 id=5"))
	require.Equal(t, "= ok", do("send 1 op=send_imm off=0 len=3000 id=4 imm=7"))
	r := do("poll 2 ms=100 qps=1")
	require.Contains(t, r, "id=5 status=0 recv=3000 imm=0x7 qp=2")
	require.Contains(t, r, "id=4 status=0 qp=1")
	require.Equal(t, do("sum off=0 len=3000"), do("sum off=8192 len=3000"))
	require.Contains(t, do("send 1 op=read off=0 len=8 id=1 addr=1 rkey=1"), "! ")
	for _, l := range []string{"reset 1", "del 1", "del 2"} {
		require.Equal(t, "= ok", do(l), l)
	}
}

func TestUD(t *testing.T) {
	do := ask(t)
	a, b := numberOf(t, do("qp 1 type=ud qkey=7"), "qpn"), numberOf(t, do("qp 2 type=ud qkey=8"), "qpn")
	for _, l := range []string{"start 1 psn=3", "start 2", "recv 2 off=8192 len=140 id=5"} {
		require.Equal(t, "= ok", do(l), l)
	}
	require.Contains(t, do("send 1 op=send off=0 len=100 id=4 qpn=%s qkey=8", b), "! ah=: no such")
	require.Contains(t, do("ah 1 gid=10.0.0.1 mac=nonsense"), "! mac=nonsense")
	require.Contains(t, do("ah 1 "+self), "= ahn=")
	do("fill off=0 len=100 seed=1")
	require.Equal(t, "= ok", do("send 1 op=send off=0 len=100 id=3 ah=1 qpn=%s qkey=9", b)) // dropped
	require.Equal(t, "= ok", do("send 1 op=send off=0 len=100 id=4 ah=1 qpn=%s qkey=8", b))
	require.Contains(t, do("poll 3 ms=100"), "id=5 status=0 recv=140 src="+a)
	require.Equal(t, do("sum off=0 len=100"), do("sum off=8232 len=100"))
	require.Equal(t, "= 1", do("count rx_drop_bad_qkey"))
	require.Equal(t, "= ok", do("ahdel 1"))
	require.Contains(t, do("ahdel 1"), "! no address handle 1")
	require.Contains(t, do("conn 1 qpn=2 "+self), "! ")
}

func TestShared(t *testing.T) {
	do := ask(t)
	require.Contains(t, do("qp 2 srq=1"), "! srq=1: no such")
	require.Contains(t, do("srq 1 max=8"), "max=15")
	pair(t, do, "", "srq=1")
	require.Equal(t, "= ok", do("srecv 1 off=8192 len=64 id=5 n=3"))
	require.Equal(t, "= ok", do("slimit 1 limit=3"))
	do("events")
	require.Equal(t, "= ok", do("send 1 op=send off=0 len=64 id=4"))
	require.Contains(t, do("poll 2 ms=100 qps=1"), "id=5 status=0 recv=64 qp=2")
	require.Contains(t, do("events"), "SRQ_LIMIT_REACHED")
	require.Equal(t, "= none", do("events"))
	require.Equal(t, "= limit=0 max=15", do("sleft 1"))
	require.Contains(t, do("sdel 1"), "! ") // a QP has it
	require.Equal(t, "= ok", do("del 2"))
	require.Equal(t, "= ok", do("sdel 1"))
	require.Contains(t, do("srecv 1"), "! no shared receive queue 1")
}

func TestWindow(t *testing.T) {
	do := ask(t)
	pair(t, do, "", "")
	require.Contains(t, do("mw 1 qp=9"), "! qp=9: no such")
	key := numberOf(t, do("mw 1 qp=2 off=8192 len=4096 wr=3"), "rkey")
	require.Equal(t, "= 1 | id=3 status=0", do("poll 1 ms=100"))
	addr := numberOf(t, do("info"), "addr")
	require.Equal(t, "= ok", do("put off=0 hex=0102030405060708"))
	write := fmt.Sprintf("send 1 op=write off=0 len=8 id=4 addr=%s2000 rkey=%s", strings.TrimSuffix(addr, "0000"), key)
	require.Equal(t, "= ok", do("%s", write))
	require.Equal(t, "= 1 | id=4 status=0", do("poll 1 ms=100"))
	require.Equal(t, "= 0102030405060708", do("get off=8192 len=8"))
	require.Equal(t, "= ok", do("send 2 op=local_inv imm=%s id=5", key))
	require.Equal(t, "= 1 | id=5 status=0", do("poll 1 ms=100"))
	require.Equal(t, "= ok", do("%s", write))
	require.Equal(t, "= 1 | id=4 status=10", do("poll 1 ms=100"))
	require.Equal(t, "= ok", do("mwdel 1"))
	require.Contains(t, do("mwdel 1"), "! no window 1")
}

func TestRaw(t *testing.T) {
	do := ask(t)
	require.Contains(t, do("qp 1 type=tcp"), "! type=tcp")
	do("qp 1 type=raw")
	require.Equal(t, "= ok", do("start 1"))
	require.Equal(t, "= ok", do("raw 1"))
	require.Equal(t, "= ok", do("recv 1 off=4096 len=100 id=5"))
	require.Equal(t, "= ok", do("put off=0 hex=02000000000102000000000188b50a0b0c")) // to itself
	require.Equal(t, "= ok", do("send 1 op=send off=0 len=17 id=4"))
	r := do("poll 2 ms=100")
	require.Contains(t, r, "id=5 status=0 recv=60")
	require.Equal(t, "= 02000000000102000000000188b50a0b0c000000", do("get off=4096 len=20"))
	require.Equal(t, "= ok", do("put off=0 hex=ffffffffffff02000000000181000007000088b5"))
	require.Contains(t, do("send 1 op=write off=0 len=17 id=4"), "! ")
}
