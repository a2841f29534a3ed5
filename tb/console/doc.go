// Package console drives the verbs of one simulated host by lines of text, one
// command and one answer each: for people at a terminal, and for tests whose other
// end is another machine. The agent of package interop speaks the same language on
// Linux's verbs, so that a script can address either end.
//
//	qp 1                              = qpn=3
//	conn 1 qpn=17 gid=10.0.0.2 mac=52:54:00:00:00:02 psn=100 rpsn=200
//	recv 1 off=0 len=4096 id=7        = ok
//	send 1 op=write off=0 len=100 id=8 addr=0x7f0000000000 rkey=0x1 = ok
//	poll 2 ms=1000                    = 2 | id=7 … | id=8 …
//
// An answer begins with "= ", one that tells a failure with "! ". The first line
// after [Open] may be anything: objects live as long as the host.
//
// # Commands
//
// Objects have small numbers that the user chooses. Fields are name=value, in any
// order; numbers are as in Go. All memory is one buffer; off is an offset in it.
//
//	info                      addr, len and rkey of the buffer, mac, gids
//	fill off len seed         writes bytes that seed decides
//	sum off len               FNV-1a, 64 bits
//	put off hex, get off len  bytes
//	mr ID off len access      registers; access of r, w, a (remote read, write, atomic)
//	dereg ID
//	qp ID gid type srq qkey   creates, in INIT; gid 0 (IPv6) or 1 (IPv4); type rc, uc, ud or raw
//	conn ID qpn gid mac psn rpsn mtu timeout retry rnr minrnr rd access tc vlan
//	start ID psn              of ud and raw, in place of conn
//	raw ID                    gets the frames that are no RoCE; they were the host's software's
//	recv ID off len id n lkey
//	send ID op off len id n lkey addr rkey imm add cmp swap flags; ud: ah qpn qkey
//	poll N ms qps             waits for N completions; qps=1 tells the queue pair of each
//	err ID, reset ID, state ID, del ID
//	ah ID gid mac tc vlan, ahdel ID             address handle
//	srq ID max limit, srecv ID off len id n lkey, slimit ID limit, sleft ID, sdel ID
//	mw ID qp off len wr, mwdel ID               window of type 2, bound by work request wr
//	events                    asynchronous ones since the last time
//	count NAME                a counter of the device
//
// In send, n posts so many with ids and offsets that follow each other; flags are
// f (fence), s (solicited), q (quiet: not signalled). A completion tells what it means:
// recv= bytes received, imm=, inv= (a key), tag= (of a VLAN), and of ud src= the QP that
// sent it, with 40 bytes of header before the data.
package console
