package transfer

import (
	"fmt"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
)

// unreliable tells whether a message may be lost, and nobody is told.
func (j *Job) unreliable() bool { return j.Transport > abi.QPTypeRC }

// datagrams tells whether each message goes to a QP of host b of its own.
func (j *Job) datagrams() bool { return j.Transport == abi.QPTypeUD }

// maxVLAN is the highest VLAN number; 4095 is reserved (IEEE 802.1Q-2022 table 9-2).
const maxVLAN = 4094

// checkTransport tells what is wrong with the type of the QPs and what goes with it.
func (j *Job) checkTransport() error {
	write := j.Op == abi.OpWrite || j.Op == abi.OpWriteImm
	switch {
	case j.Transport > abi.QPTypeUD:
		return fmt.Errorf("transport %v: must be RC, UC or UD", j.Transport)
	case j.Transport == abi.QPTypeUC && !write && j.Op != abi.OpSend && j.Op != abi.OpSendImm:
		return fmt.Errorf("%v over UC: must be SEND, SEND_IMM, WRITE or WRITE_IMM", j.Op)
	case j.datagrams() && j.Op != abi.OpSend && j.Op != abi.OpSendImm:
		return fmt.Errorf("%v over UD: must be SEND or SEND_IMM", j.Op)
	case j.datagrams() && j.MsgSize > j.MTU.Bytes():
		return fmt.Errorf("messages of %d bytes over UD: at most the MTU, %d", j.MsgSize, j.MTU.Bytes())
	case j.unreliable() && j.QPs*j.MsgSize > maxMessage/j.spare():
		return fmt.Errorf("messages of %d bytes over %d QPs of %v: at most %d bytes together", j.MsgSize, j.QPs, j.Transport, maxMessage/j.spare())
	case j.unreliable() && j.TwoWay:
		return fmt.Errorf("both ways over %v: must be RC", j.Transport)
	case j.unreliable() && j.Retries != Retries{}:
		return fmt.Errorf("retries over %v, which acknowledges nothing: must be RC", j.Transport)
	case j.SRQ && !j.received():
		return fmt.Errorf("an SRQ with %v, which takes no receives", j.Op)
	case j.VLAN != nil && *j.VLAN&0xfff > maxVLAN:
		return fmt.Errorf("VLAN %d: must be 0 to %d", *j.VLAN&0xfff, maxVLAN)
	}
	return nil
}

// wire is the transport as opcodes have it.
func (j *Job) wire() roce.Transport {
	return [...]roce.Transport{abi.QPTypeRC: roce.RC, abi.QPTypeUC: roce.UC, abi.QPTypeUD: roce.UD}[j.Transport]
}

// dest is the QP of host b that message i goes to. A QP sends its datagrams to all of
// them in turn.
func (j *Job) dest(i int) int {
	if j.datagrams() {
		return (i + i/j.QPs) % j.QPs
	}
	return i % j.QPs
}

// header is the bytes before the data in a receive buffer.
func (j *Job) header() int {
	if j.datagrams() {
		return driver.GRHSize
	}
	return 0
}

// qkey is that of QP n of either host.
func (j *Job) qkey(n int) uint32 { return uint32(0x1000 + n) }

// slots is how many receive buffers host b has. QPs whose messages may be lost have a
// share each, as none knows which of its messages come.
func (j *Job) slots() int {
	if j.unreliable() {
		return (j.round() + j.QPs - 1) / j.QPs * j.QPs * j.spare()
	}
	return j.round()
}

// spare is how many receives there are for a message of a round: it may come again.
func (j *Job) spare() int {
	if j.Faults != nil {
		return 2
	}
	return 1
}

// space is the bytes of a receive buffer, and at that of a slot in the memory of host b.
func (j *Job) space() int { return j.header() + j.MsgSize }

func (j *Job) at(slot int) int { return slot * j.space() }
