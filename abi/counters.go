package abi

// Counter is the index of a 64-bit counter in the counters page. Reading the low
// word latches the high one; a read of 8 bytes needs no latch.
type Counter uint16

const (
	TxPackets Counter = iota
	TxBytes
	RxPackets
	RxBytes
	RxDropOverflow
	RxDropBadFCS
	RxDropNotRoCE
	RxDropMalformed
	RxDropBadICRC
	RxDropBadQPN
	RxDropBadTransport
	RxDropBadState
	RxDropBadPKey
	RxDropBadAddress
	RxDropBadQKey
	RxDropOther
	DuplicateRequest
	OutOfSequence
	OutOfBuffer
	PacketSeqErr
	LocalAckTimeoutErr
	RNRNakRetryErr
	ImpliedNakSeqErr
	ReqCQEError
	ReqRemoteAccessErrors
	ReqRemoteInvalidRequest
	ReqRemoteOperational
	RespCQEError
	RespLocalLengthError
	RespLocalProtectionErrors
	RespRemoteAccessErrors
	RespRemoteInvalidRequest
	AcksSent
	NaksSent
	RNRNaksSent
	CQEsWritten
	EventsWritten
	MSIXSent
	CQOverruns
	Doorbells
	DoorbellBadPage
	DoorbellBadNumber
	PushedWQEs
	PushedWQEsIgnored
	MMIOWriteIgnored
	MMIOReadUnmapped
	DMAReads
	DMAReadBytes
	DMAWrites
	DMAWriteBytes
	DMAReadErrors
	WQEFetches
	AdminCommands
	RawTxFrames
	RawRxFrames

	NumCounters = iota
)

var counters = [NumCounters]struct{ name, doc string }{
	TxPackets:                 {"tx_packets", "RoCE frames sent by the MAC"},
	TxBytes:                   {"tx_bytes", "bytes of those frames, without FCS"},
	RxPackets:                 {"rx_packets", "RoCE frames received by the MAC with a good FCS, dropped ones too"},
	RxBytes:                   {"rx_bytes", "bytes of those frames, without FCS"},
	RxDropOverflow:            {"rx_drop_overflow", "frames dropped: receive buffer full, or no gap in the wire for one that was turned round"},
	RxDropBadFCS:              {"rx_drop_bad_fcs", "frames dropped: bad FCS"},
	RxDropNotRoCE:             {"rx_drop_not_roce", "frames dropped: not UDP port 4791"},
	RxDropMalformed:           {"rx_drop_malformed", "packets dropped: lengths, fragments, TVer, UDP checksum"},
	RxDropBadICRC:             {"rx_drop_bad_icrc", "packets dropped: bad ICRC"},
	RxDropBadQPN:              {"rx_drop_bad_qpn", "packets dropped: no such QP"},
	RxDropBadTransport:        {"rx_drop_bad_transport", "packets dropped: opcode of another transport than the QP's"},
	RxDropBadState:            {"rx_drop_bad_state", "packets dropped: QP not in a state to receive them"},
	RxDropBadPKey:             {"rx_drop_bad_pkey", "packets dropped: wrong P_Key"},
	RxDropBadAddress:          {"rx_drop_bad_address", "packets dropped: source or destination address not the QP's"},
	RxDropBadQKey:             {"rx_drop_bad_qkey", "datagrams dropped: wrong Q_Key"},
	RxDropOther:               {"rx_drop_other", "packets dropped for another reason: ghost ACKs and responses, duplicates that cannot be answered, packets behind a NAK"},
	DuplicateRequest:          {"duplicate_request", "requests received again"},
	OutOfSequence:             {"out_of_sequence", "requests received beyond the expected PSN"},
	OutOfBuffer:               {"out_of_buffer", "requests received without a receive WQE"},
	PacketSeqErr:              {"packet_seq_err", "NAK PSN sequence error received"},
	LocalAckTimeoutErr:        {"local_ack_timeout_err", "local ACK timeouts"},
	RNRNakRetryErr:            {"rnr_nak_retry_err", "RNR NAKs received"},
	ImpliedNakSeqErr:          {"implied_nak_seq_err", "ACKs or responses beyond an unanswered READ or atomic"},
	ReqCQEError:               {"req_cqe_error", "send CQEs in error, flushes too"},
	ReqRemoteAccessErrors:     {"req_remote_access_errors", "NAK remote access error received"},
	ReqRemoteInvalidRequest:   {"req_remote_invalid_request", "NAK invalid request received"},
	ReqRemoteOperational:      {"req_remote_operational_errors", "NAK remote operational error received"},
	RespCQEError:              {"resp_cqe_error", "receive CQEs in error, flushes too"},
	RespLocalLengthError:      {"resp_local_length_error", "messages longer than their receive WQE"},
	RespLocalProtectionErrors: {"resp_local_protection_errors", "messages whose receive WQE failed its local key check"},
	RespRemoteInvalidRequest:  {"resp_remote_invalid_request", "requests refused with NAK invalid request"},
	RespRemoteAccessErrors:    {"resp_remote_access_errors", "requests refused with NAK remote access error"},
	AcksSent:                  {"acks_sent", "positive ACK packets sent"},
	NaksSent:                  {"naks_sent", "NAK packets sent, without RNR NAKs"},
	RNRNaksSent:               {"rnr_naks_sent", "RNR NAK packets sent"},
	CQEsWritten:               {"cqes_written", "CQEs written"},
	EventsWritten:             {"events_written", "events written"},
	MSIXSent:                  {"msix_sent", "interrupts sent"},
	CQOverruns:                {"cq_overruns", "CQEs lost: CQ full"},
	Doorbells:                 {"doorbells", "doorbells accepted"},
	DoorbellBadPage:           {"doorbell_bad_page", "doorbells ignored: not the object's page"},
	DoorbellBadNumber:         {"doorbell_bad_number", "doorbells ignored: no such object"},
	PushedWQEs:                {"pushed_wqes", "pushed WQEs taken"},
	PushedWQEsIgnored:         {"pushed_wqes_ignored", "pushed WQEs ignored: incomplete, or not the next of their QP; the WQE is then read from memory"},
	MMIOWriteIgnored:          {"mmio_write_ignored", "writes ignored: read-only, unmapped, of a wrong size, or a doorbell of unknown kind"},
	MMIOReadUnmapped:          {"mmio_read_unmapped", "reads that hit no register: they return 0"},
	DMAReads:                  {"dma_reads", "read request TLPs"},
	DMAReadBytes:              {"dma_read_bytes", "bytes asked for by them"},
	DMAWrites:                 {"dma_writes", "memory write TLPs"},
	DMAWriteBytes:             {"dma_write_bytes", "bytes of them"},
	DMAReadErrors:             {"dma_read_errors", "completions with an error status, and completion timeouts"},
	WQEFetches:                {"wqe_fetches", "reads of send WQEs"},
	AdminCommands:             {"admin_commands", "admin commands completed"},
	RawTxFrames:               {"raw_tx_frames", "frames of RAW_PACKET QPs sent"},
	RawRxFrames:               {"raw_rx_frames", "frames that are not RoCE, given to a RAW_PACKET QP"},
}

// Width is the number of bits of a Counter.
func (Counter) Width() int { return 16 }

// String returns the counter's name, as Linux names it where it has one.
func (c Counter) String() string {
	if int(c) < len(counters) {
		return counters[c].name
	}
	return "invalid"
}

// Doc says what the counter counts.
func (c Counter) Doc() string {
	if int(c) < len(counters) {
		return counters[c].doc
	}
	return ""
}

// Counters lists all counters by index.
func Counters() []Counter {
	cs := make([]Counter, NumCounters)
	for i := range cs {
		cs[i] = Counter(i)
	}
	return cs
}
