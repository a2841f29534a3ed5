package interop

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// drops are the model's counters of packets that it did not accept. Frames that are
// no RoCE come too (ARP), and what belongs to no open question, a second answer.
var drops = []string{
	"rx_drop_overflow", "rx_drop_bad_fcs", "rx_drop_malformed", "rx_drop_bad_transport", "rx_drop_bad_pkey", "rx_drop_bad_address",
}

// counters is where Linux has those of Soft-RoCE.
const counters = "/sys/class/infiniband/rxe0/ports/1/hw_counters/"

// shell runs a command in the guest by its agent.
func (l *Lab) shell(cmd string, limit time.Duration) (string, error) {
	r, err := l.linux.do("sh "+cmd, limit)
	if err != nil {
		return "", err
	}
	f := strings.Fields(strings.TrimPrefix(r, "="))
	if len(f) == 0 || f[0] != "0" {
		return "", fmt.Errorf("linux: %s: %s", cmd, r)
	}
	return strings.Join(f[1:], " "), nil
}

// demandCounts demands that Linux accepted every good packet of the model, and the
// model every good packet of Linux. Soft-RoCE counts a packet when its headers, its
// queue pair and its ICRC are right; the network below must have dropped nothing.
// Up to late packets of the model may have met a queue pair that had failed before
// they came: by what the model had sent in front of them, or because it gave up.
func (l *Lab) demandCounts(late int) error {
	const cmd = "cat " + counters + "rcvd_pkts /sys/class/net/eth0/statistics/rx_dropped /sys/class/net/eth0/statistics/rx_errors; " +
		"awk '/^Udp:/ {n++; if (n == 2) print $4+$6+$8} /^Ip:/ {m++; if (m == 2) print $5+$6+$9}' /proc/net/snmp"
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		got, err := l.shell(cmd, answerLimit)
		if err != nil {
			return err
		}
		good, _, _ := l.hub.counts()
		accepted, rest, _ := strings.Cut(got, " ")
		n, _ := strconv.Atoi(accepted)
		missing := good[model] - l.missing - n
		if missing >= 0 && missing <= late && rest == "0 0 0 0" {
			l.missing += missing
			break
		}
		if time.Now().After(end) {
			l.missing += missing // told once
			return fmt.Errorf("linux: of %d packets %d were not accepted (%d may be); interface: dropped, in error, UDP's, IP's: %s",
				good[model], missing, late, rest)
		}
	}
	for _, name := range drops {
		r, err := l.model.ask("count %s", name)
		if err != nil {
			return err
		}
		if r != "0" {
			return fmt.Errorf("model: %s is %s", name, r)
		}
	}
	r, err := l.model.ask("count rx_drop_bad_icrc")
	if err != nil {
		return err
	}
	if _, bad, _ := l.hub.counts(); r != strconv.Itoa(bad[linux]) {
		return fmt.Errorf("model: rx_drop_bad_icrc is %s, %d packets were damaged", r, bad[linux])
	}
	return nil
}
