package replay

import (
	"fmt"
	"strings"
)

// Difference is a way in which two right implementations may differ.
type Difference struct {
	Name   string `json:"name"`
	Role   Role   `json:"role"` // of the model
	What   string `json:"what"`
	Why    string `json:"why"`
	Clause string `json:"clause"` // of the InfiniBand Architecture Specification, volume 1; "-": none is needed
}

// The names of the differences.
const (
	dCredits  = "credits"
	dMerged   = "merged"
	dSplit    = "split"
	dTimer    = "rnr-timer"
	dLong     = "long-send"
	dBehind   = "nak-behind-rnr"
	dMemory   = "memory"
	dMSN      = "msn-ahead"
	dEnd      = "capture-ends"
	dPartial  = "partial"
	dAckReq   = "ack-request"
	dAhead    = "ahead"
	dAgain    = "again"
	dNeedless = "needless"
	dUnseen   = "unseen"
	dDoubled  = "doubled"
	dOvertook = "overtaken"
	dOthers   = "others"
)

// Differences are all that are legal; whatever else differs is wrong.
var Differences = []Difference{
	{dCredits, AsResponder, "an ACK gives another number of credits", "how many receives are told is the responder's choice, and 31 tells none", "9.7.7.2"},
	{dMerged, AsResponder, "an ACK that the capture has not", "an acknowledgement stands for all requests before it; the captured side merged several into one", "9.7.5.1.2"},
	{dSplit, AsResponder, "no ACK where the capture has one", "an acknowledgement stands for all requests before it; the model merged several into one", "9.7.5.1.2"},
	{dTimer, AsResponder, "an RNR NAK has another timer", "the timer is an attribute of the responder's QP, which may change", "9.7.5.2.8"},
	{dLong, AsResponder, "a SEND longer than its receive: another NAK code", "invalid request is right; Soft-RoCE answers remote operational error", "9.7.5"},
	{dBehind, AsResponder, "no sequence NAK behind an RNR NAK", "what comes behind a request that found no receive is dropped; Soft-RoCE takes it for a gap", "9.7.5.2.8"},
	{dMemory, AsResponder, "memory is other than the requests left it", "others write it too: the model's was made equal before the request arrived", "-"},
	{dMSN, AsResponder, "the answer to a request that came again has a lower MSN", "it carries the MSN of the moment; to the captured side more requests had come by then", "9.7.5.1.2"},
	{dDoubled, AsResponder, "no answer where the capture has the same one again", "the request came twice, which the capture does not show", "9.7.5"},
	{dUnseen, AsResponder, "an answer that the capture has not, and what it answers is asked again", "it was lost before it came to where was captured", "9.7.6.1.3"},
	{dEnd, AsResponder, "an answer behind the last captured one", "the capture ends before it", "-"},
	{dAckReq, AsRequester, "AckReq is set in other packets", "when to ask for an acknowledgement is the requester's choice", "9.7.5"},
	{dAhead, AsRequester, "a packet goes out before the captured answer came", "a requester may send ahead as far as its window goes; the captured one was slower", "9.7.5"},
	{dAgain, AsRequester, "a packet is sent again that the captured requester did not send again", "a retry begins at the oldest packet that is not acknowledged and repeats all behind it", "9.7.6"},
	{dNeedless, AsRequester, "a packet is not sent again that the captured requester sent again", "it was acknowledged already", "9.7.6"},
	{dOvertook, AsRequester, "a packet is sent before others that the capture has before it", "others overtook it before it came to where was captured", "9.7.5"},
	{dUnseen, AsRequester, "a packet is sent that the capture has only as sent again", "it was lost before it came to where was captured", "9.7.6"},
	{dPartial, AsRequester, "a packet is not sent, and the capture has not all of its message", "without the end of a message nobody knows what was posted", "-"},
	{dDoubled, AsRequester, "a packet of UC is sent once that the capture has again", "UC sends nothing again: the network doubled it", "9.8.2"},
	{dOthers, AsRequester, "a datagram has another PSN", "the captured QP sent to others in between, which is not replayed; UD looks at no PSN", "9.8.3"},
	{dEnd, AsRequester, "a request behind the last captured one", "the capture ends before it", "-"},
}

// NotCompared is what says nothing about the transport.
const NotCompared = "Ethernet header, IP identification, TTL, DSCP and ECN, UDP source port, P_Key, MigReq, QP numbers; keys and addresses of what the model is given"

// Table is Differences in Markdown, and what is not compared.
func Table() string {
	rows := [][]string{{"difference", "model is", "what", "why it is legal", "clause"}, {"-", "-", "-", "-", "-"}}
	for _, d := range Differences {
		rows = append(rows, []string{d.Name, string(d.Role), d.What, d.Why, d.Clause})
	}
	var b strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(r, " | "))
	}
	fmt.Fprintf(&b, "\nNot compared: %s.\n", NotCompared)
	return b.String()
}

// Find is the difference of a name; nil: none.
func Find(role Role, name string) *Difference {
	for i := range Differences {
		if d := &Differences[i]; d.Role == role && d.Name == name {
			return d
		}
	}
	return nil
}

// legal is the name of a difference that is in the table.
func legal(role Role, name string) string { return Find(role, name).Name }
