// Package replay has a capture's packets arrive at the NIC as the peer sent them,
// and compares its answers with the captured ones, packet by packet: so that a
// capture of another implementation, the Linux kernel's, decides what is right.
//
//	capture ─► Conversations: requests and answers of each RC connection
//	              │ requests: QP number, keys and addresses made the model's own
//	              ▼
//	           host b's NIC ─► answers ─► compared: opcode, PSN, syndrome, MSN, data
package replay

import (
	"bytes"

	"rnic/roce"
)

// Conversation is one direction of an RC connection: the requests of one side and
// the other's answers, in the order of the capture.
type Conversation struct {
	Peer, Self Address // who asks, who answers
	PeerQP     roce.QPN
	SelfQP     roce.QPN
	MTU        roce.MTU
	Requests   []roce.Packet
	Answers    []roce.Packet
}

// Address is a host as its frames show it.
type Address struct {
	MAC roce.MAC
	GID roce.GID // IPv4: mapped
}

type flowKey struct {
	src, dst roce.GID
	qp       roce.QPN
}

// Conversations takes the frames of a capture apart. Frames that are no RC packets
// are left out, as are requests that nobody answers.
func Conversations(frames [][]byte) []*Conversation {
	var order []flowKey
	requests := map[flowKey]*Conversation{}
	answers := map[flowKey][]roce.Packet{}
	for _, f := range frames {
		p, err := roce.ParseFrame(bytes.Clone(f))
		if err != nil || p.BTH.Opcode.Transport() != roce.RC || !p.BTH.Opcode.Valid() {
			continue
		}
		src, dst := addresses(&p)
		k := flowKey{src.GID, dst.GID, p.BTH.DestQP}
		if p.BTH.Opcode.IsResponse() {
			answers[k] = append(answers[k], p)
			continue
		}
		c := requests[k]
		if c == nil {
			c = &Conversation{Peer: src, Self: dst, SelfQP: p.BTH.DestQP}
			requests[k] = c
			order = append(order, k)
		}
		c.Requests = append(c.Requests, p)
	}
	var out []*Conversation
	for _, k := range order {
		if c := requests[k]; c.pair(answers) {
			c.MTU = c.mtu()
			out = append(out, c)
		}
	}
	return out
}

func addresses(p *roce.Packet) (src, dst Address) {
	src.MAC, dst.MAC = p.Eth.Src, p.Eth.Dst
	if p.V6 {
		src.GID, dst.GID = p.IP6.Src, p.IP6.Dst
	} else {
		src.GID, dst.GID = roce.GIDFromIPv4(p.IP4.Src), roce.GIDFromIPv4(p.IP4.Dst)
	}
	return src, dst
}

// pair finds the peer's QP: the one that the most answers with PSNs of the requests
// go to. Packets name their destination only.
func (c *Conversation) pair(answers map[flowKey][]roce.Packet) bool {
	asked := map[roce.PSN]bool{}
	for i := range c.Requests {
		asked[c.Requests[i].BTH.PSN] = true
	}
	best := 0
	for k, list := range answers {
		if k.src != c.Self.GID || k.dst != c.Peer.GID {
			continue
		}
		n := 0
		for i := range list {
			if asked[list[i].BTH.PSN] {
				n++
			}
		}
		if n > best || n == best && n > 0 && k.qp < c.PeerQP {
			best, c.PeerQP, c.Answers = n, k.qp, list
		}
	}
	return best > 0
}

// mtu is the payload of full packets; the largest MTU if there is none.
func (c *Conversation) mtu() roce.MTU {
	for _, list := range [][]roce.Packet{c.Requests, c.Answers} {
		for i := range list {
			op := list[i].BTH.Opcode
			if op.IsFirst() || op.IsMiddle() {
				if m, ok := roce.MTUOf(len(list[i].Payload)); ok {
					return m
				}
			}
		}
	}
	return roce.MTU4096
}
