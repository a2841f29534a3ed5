package hdl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSnake(t *testing.T) {
	for in, want := range map[string]string{
		"QPN": "qpn", "WQESched": "wqe_sched", "RxBuf": "rx_buf", "S": "s", "In": "in",
		"Crc32Out": "crc32_out", "ReqQ": "req_q", "PktTX": "pkt_tx", "already_snake": "already_snake",
		"state": "state", "lastPSN": "last_psn", "Rx0": "rx0", "CQEs": "cqes", "FreeQPsLeft": "free_qps_left",
	} {
		require.Equal(t, want, snake(in), in)
	}
}

func TestRoundRobin(t *testing.T) {
	require.Equal(t, -1, RoundRobin(0, 5))
	require.Equal(t, 0, RoundRobin(1, -1))
	require.Equal(t, 0, RoundRobin(1, 0))
	require.Equal(t, 63, RoundRobin(1<<63|1, 0))
	require.Equal(t, 0, RoundRobin(1<<63|1, 63))
	require.Equal(t, 5, RoundRobin(1<<5|1<<3, 3))
	require.Equal(t, 3, RoundRobin(1<<5|1<<3, 5))
	for r := range uint64(1 << 6) { // against the definition
		for last := -1; last < 6; last++ {
			want := -1
			if r != 0 {
				for i := 1; i <= 6; i++ {
					if b := (last + i + 6) % 6; r>>b&1 != 0 {
						want = b
						break
					}
				}
			}
			require.Equal(t, want, RoundRobin(r, last), "%06b after %d", r, last)
		}
	}
}

func TestTimersAgainstSets(t *testing.T) {
	k := &Kernel{awake: make([]uint64, 1)}
	k.timers.grow(8)
	want := map[int32]map[uint64]bool{}
	x := uint64(1)
	draw := func(n uint64) uint64 { x = mix(x, 7); return x % n }
	for range 20000 {
		switch draw(3) {
		case 0, 1:
			i, at := int32(draw(8)), k.cycle+2+draw(50)
			k.timers.add(i, at)
			if want[i] == nil {
				want[i] = map[uint64]bool{}
			}
			want[i][at] = true
			if draw(40) == 0 {
				k.timers.cancel(i)
				want[i] = nil
			}
		case 2:
			first := uint64(never)
			for _, s := range want {
				for at := range s {
					first = min(first, at)
				}
			}
			require.Equal(t, first, k.timers.first)
			k.cycle += draw(4)
			k.awake[0] = 0
			k.timers.fire(k)
			due := uint64(0)
			for i, s := range want {
				for at := range s {
					if at <= k.cycle {
						due |= 1 << i
						delete(s, at)
					}
				}
			}
			require.Equal(t, due, k.awake[0])
		}
	}
}
