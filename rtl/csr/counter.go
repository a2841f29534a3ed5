package csr

import "rnic/abi"

// Counter is the present value of a counter, for testbenches and never for Eval.
func (c *CSR) Counter(n abi.Counter) uint64 { return c.counter(n) }

// counter is the present value of a counter: where each is kept.
func (c *CSR) counter(n abi.Counter) uint64 {
	switch {
	case n <= abi.RxDropBadICRC:
		return c.portCounter(n)
	case n <= abi.RNRNaksSent:
		return c.transportCounter(n)
	}
	return c.hostCounter(n)
}

func (c *CSR) portCounter(n abi.Counter) uint64 {
	rx, tx := c.Taps.Rx.Get(), c.Taps.Tx.Get()
	switch n {
	case abi.TxPackets:
		return tx.TxPackets
	case abi.TxBytes:
		return tx.TxBytes
	case abi.RxPackets:
		return rx.RxPackets
	case abi.RxBytes:
		return rx.RxBytes
	case abi.RxDropOverflow:
		return rx.DropOverflow + c.Taps.Loop.Get()
	case abi.RxDropBadFCS:
		return rx.DropFCS
	case abi.RxDropNotRoCE:
		return rx.DropNotRoCE
	case abi.RxDropMalformed:
		return rx.DropMalformed
	case abi.RxDropBadICRC:
		return rx.DropICRC
	}
	return 0
}

func (c *CSR) transportCounter(n abi.Counter) uint64 {
	r, tx := c.Taps.Resp.Get(), c.Taps.Tx.Get()
	switch n {
	case abi.RxDropBadQPN:
		return r.DropBadQPN
	case abi.RxDropBadTransport:
		return r.DropBadTransport
	case abi.RxDropBadState:
		return r.DropBadState
	case abi.RxDropBadPKey:
		return r.DropBadPKey
	case abi.RxDropBadAddress:
		return r.DropBadAddress
	case abi.RxDropBadQKey:
		return r.DropBadQKey
	case abi.RxDropOther:
		return r.DropOther + c.Taps.Rx.Get().DropOther
	case abi.DuplicateRequest:
		return r.DuplicateRequest
	case abi.OutOfSequence:
		return r.OutOfSequence
	case abi.OutOfBuffer:
		return r.OutOfBuffer
	case abi.PacketSeqErr:
		return r.PacketSeqErr
	case abi.LocalAckTimeoutErr:
		return c.Taps.QP.Get().LocalAckTimeoutErr
	case abi.RNRNakRetryErr:
		return r.RnrNakRetryErr
	case abi.ImpliedNakSeqErr:
		return r.ImpliedNakSeqErr
	case abi.ReqCQEError:
		return c.Taps.CQ.Get().ReqCQEError
	case abi.ReqRemoteAccessErrors:
		return r.ReqRemoteAccessErr
	case abi.ReqRemoteInvalidRequest:
		return r.ReqRemoteInvalidRequest
	case abi.ReqRemoteOperational:
		return r.ReqRemoteOperational
	case abi.RespCQEError:
		return c.Taps.CQ.Get().RespCQEError
	case abi.RespLocalLengthError:
		return r.RespLocalLengthError
	case abi.RespLocalProtectionErrors:
		return r.RespLocalProtection
	case abi.RespRemoteAccessErrors:
		return r.RespRemoteAccess
	case abi.RespRemoteInvalidRequest:
		return r.RespRemoteInvalidRequest
	case abi.AcksSent:
		return tx.AcksSent
	case abi.NaksSent:
		return tx.NaksSent
	case abi.RNRNaksSent:
		return tx.RnrNaksSent
	}
	return 0
}

func (c *CSR) hostCounter(n abi.Counter) uint64 {
	cq, dma, own := c.Taps.CQ.Get(), c.Taps.Dma.Get(), &c.Q.Stats
	sched, bell := c.Taps.Sched.Get(), c.Taps.QP.Get()
	switch n {
	case abi.CQEsWritten:
		return cq.CQEs
	case abi.EventsWritten:
		return cq.Events
	case abi.MSIXSent:
		return cq.Msix
	case abi.CQOverruns:
		return cq.Overruns
	case abi.Doorbells:
		return own.Doorbells
	case abi.DoorbellBadPage:
		return bell.BadPage + cq.BadPage
	case abi.DoorbellBadNumber:
		return bell.BadNumber + cq.BadNumber
	case abi.PushedWQEs:
		return sched.PushedWQEs
	case abi.PushedWQEsIgnored:
		return sched.PushedIgnored + own.PushIgnored
	case abi.MMIOWriteIgnored:
		return own.WriteIgnored
	case abi.MMIOReadUnmapped:
		return own.ReadUnmapped
	case abi.DMAReads:
		return dma.Reads
	case abi.DMAReadBytes:
		return dma.ReadBytes
	case abi.DMAWrites:
		return dma.Writes
	case abi.DMAWriteBytes:
		return dma.WriteBytes
	case abi.DMAReadErrors:
		return dma.ReadErrors
	case abi.WQEFetches:
		return sched.WQEFetches
	case abi.AdminCommands:
		return c.Taps.Admin.Get().Commands
	case abi.RawTxFrames:
		return c.Taps.Tx.Get().RawFrames
	case abi.RawRxFrames:
		return c.Taps.Rx.Get().RawFrames
	}
	return 0
}
