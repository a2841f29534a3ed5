package roce

import "fmt"

// Drop is why a receiver drops a frame before it looks at the queue pair. As an
// error it is what ParseFrame returns; frames are dropped silently and counted.
type Drop uint8

const (
	DropNone        Drop = iota
	DropNotIP            // EtherType neither IPv4 nor IPv6
	DropNotUDP           // protocol or next header not 17
	DropNotRoCE          // UDP destination port not 4791
	DropShort            // the frame ends inside a header
	DropIPVersion        // version does not agree with the EtherType
	DropIPOptions        // IPv4 header length not 5 words
	DropIPChecksum       // IPv4 header checksum wrong
	DropIPLength         // IP length over the frame's, or under the headers'
	DropFragment         // IPv4 fragment
	DropUDPLength        // UDP length does not agree with the IP length
	DropUDPChecksum      // UDP checksum neither 0 nor right
	DropPayload          // length under that of the headers, pad and ICRC
	DropICRC             // ICRC wrong
	DropTVer             // transport header version not 0
)

var dropNames = [...]string{
	"none", "not IP", "not UDP", "not RoCE", "short frame", "IP version", "IP options", "IP checksum", "IP length",
	"fragment", "UDP length", "UDP checksum", "payload length", "ICRC", "transport version",
}

// Width is 4 bits.
func (Drop) Width() int { return 4 }

// String returns a few words, as "UDP checksum".
func (d Drop) String() string {
	if int(d) < len(dropNames) {
		return dropNames[d]
	}
	return fmt.Sprintf("drop %d", uint8(d))
}

// Error returns "dropped: " and String.
func (d Drop) Error() string { return "dropped: " + d.String() }

// Foreign tells whether the frame is not RoCEv2 at all, rather than a bad one.
func (d Drop) Foreign() bool { return d >= DropNotIP && d <= DropNotRoCE }
