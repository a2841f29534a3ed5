package admin

import "rnic/abi"

// operations are those of the send queue.
const operations = 1<<abi.OpSend | 1<<abi.OpSendImm | 1<<abi.OpSendInv | 1<<abi.OpWrite | 1<<abi.OpWriteImm |
	1<<abi.OpRead | 1<<abi.OpCompareSwap | 1<<abi.OpFetchAdd | 1<<abi.OpNop |
	1<<abi.OpBindMW | 1<<abi.OpLocalInv | 1<<abi.OpFastReg

const maxRawFrame = 4096 // bytes: what port.TxPkt says of Raw

// device is what QUERY_DEVICE tells. What is not there is not supported: the
// device refuses it.
func device(p Params) (b [abi.MailboxSize]byte) {
	const pageSizes = 1<<31 - 1<<12 // 4 KiB to 1 GiB
	lim0, lim1 := &abi.DefaultLimits0, &abi.DefaultLimits1
	d := abi.DeviceMailbox{
		MaxQP:           1 << p.LogQP,
		MaxCQ:           1 << p.LogCQ,
		MaxEQ:           1 << p.LogEQ,
		MaxMR:           p.Keys,
		MaxSRQ:          1 << p.LogSRQ,
		MaxPages:        p.Pages,
		MaxSQUnits:      1 << abi.MaxLogRing,
		MaxRQEntries:    1 << abi.MaxLogRing,
		MaxCQE:          1 << abi.MaxLogRing,
		MaxSGE:          uint16(lim0.MaxSGE),
		MaxInline:       lim0.MaxInline,
		MaxMRSize:       uint64(p.Pages) << 30,
		PageSizes:       pageSizes,
		WQEOps:          operations,
		QPTypes:         1<<abi.QPTypeRC | 1<<abi.QPTypeUC | 1<<abi.QPTypeUD | 1<<abi.QPTypeRaw,
		Access:          abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic | abi.AccessMWBind,
		MaxRdAtomic:     lim1.MaxRdAtomic,
		MaxDestRdAtomic: lim1.MaxRdAtomic,
		MaxRetry:        7,
		MaxRNRRetry:     7,
		MaxMTU:          lim1.MaxMTU,
		Ports:           1,
		GIDs:            abi.NumGIDs,
		PKeys:           1,
		MaxAH:           1 << p.LogAH,
		MaxSRQEntries:   1 << abi.MaxLogRing,
		MaxFastRegPages: abi.MaxFastRegPages,
		MaxRawFrame:     maxRawFrame,
	}
	abi.DeviceMailboxLayout.Encode(&d, b[:])
	return b
}
