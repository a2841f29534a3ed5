package interop

import (
	"fmt"
	"strings"
)

// pings are echo requests of the guest, which must find the model first: ARP and
// neighbour solicitations come to a raw queue pair of the model, and so do the requests.
// Software answers, by the same queue pair. All of it passes the NIC.
func pings() (list []Case) {
	for _, gid := range []int{1, 0} {
		for _, size := range []int{56, 1472, 4000} {
			list = append(list, Case{Name: fmt.Sprintf("ping of %d bytes, GID %d", size, gid), run: func(a *attempt) {
				if size == 4000 && gid == 0 {
					size = 3900
				}
				to := strings.TrimPrefix(a.model.gids[gid], "::ffff:")
				if gid == 0 {
					to += "%eth0"
				}
				_, err := a.shell("ip neigh flush dev eth0", answerLimit)
				a.must(err)
				frames := number("n="+a.ask(a.model, "count raw_rx_frames"), "n")
				out, err := a.shell(fmt.Sprintf("ping -c 5 -i 0.02 -W %d -s %d %s", max(1, int(a.patience.Seconds())), size, to), answerLimit)
				a.must(err)
				if !strings.Contains(out, "5 packets received") {
					a.fail("%s", out)
				}
				if n := number("n="+a.ask(a.model, "count raw_rx_frames"), "n") - frames; n < 6 {
					a.fail("%d frames came to the NIC", n)
				}
			}})
		}
	}
	return list
}
