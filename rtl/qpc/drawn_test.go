package qpc

import (
	"pgregory.net/rapid"

	"rnic/abi"
	"rnic/roce"
	"rnic/rtl/port"
)

// drawn is random traffic for a few QPs: mostly what neighbours send, in any
// interleaving, sometimes what none would.
func drawn(t *rapid.T) []traffic {
	var first, posted, f traffic // QPs, receives, the rest
	qpn := rapid.SampledFrom([]port.QPN{0, 1, 0, 1, 0, 1, 15, 2, 16, 1 << 23})
	retries := rapid.SampledFrom([]uint8{0, 1, 7})
	near := func(base uint32) roce.PSN {
		return roce.PSN(base).Add(rapid.Uint32Range(0, 12).Draw(t, "psn")).Sub(2)
	}
	types := rapid.SampledFrom([]abi.QPType{abi.QPTypeRC, abi.QPTypeRC, abi.QPTypeUC, abi.QPTypeUD, abi.QPTypeRaw})
	flags := rapid.SampledFrom([]abi.QPFlags{0, abi.QPHasSRQ})
	numbers := rapid.SampledFrom([]port.QPN{0, 0, 1, 3, 4, 1 << 23})
	is := map[port.QPN]abi.QPType{}
	for life := range rapid.IntRange(1, 3).Draw(t, "lives") {
		for n := range port.QPN(rapid.IntRange(0, 2).Draw(t, "others")) {
			q, h := sharedQueue(), handleTo2()
			h.PD -= uint32(n)
			f.Admin = append(f.Admin, port.QPAdmin{Op: port.SRQCreate, QPN: n, SRQ: q}, port.QPAdmin{Op: port.AHCreate, QPN: n, AH: h})
		}
		for _, n := range []port.QPN{0, 1, 15} {
			a := connected()
			is[n] = types.Draw(t, "type")
			a.Type, a.Flags, a.SRQN = is[n], flags.Draw(t, "flags"), uint32(numbers.Draw(t, "srqn"))
			a.AccessFlags = rapid.SampledFrom([]abi.AccessFlags{abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic, 0}).Draw(t, "access")
			a.RetryCnt, a.RNRRetry = retries.Draw(t, "retries"), retries.Draw(t, "rnr retries")
			f.Admin = append(f.Admin, port.QPAdmin{Op: port.QPCreate, QPN: n, Attr: a})
			for s := abi.QPReset; s != abi.QPRTS; s++ {
				required, _, _ := abi.Transition(a.Type, s, s+1)
				a.AttrMask, a.State = required|abi.AttrState, s+1
				f.Admin = append(f.Admin, port.QPAdmin{Op: port.QPModify, QPN: n, Attr: a})
			}
		}
		if life == 0 {
			first, f = f, first
			for _, n := range []port.QPN{0, 1, 15} {
				posted.Bell = append(posted.Bell, port.QPDoorbell{QPN: n, RQ: true, Index: rapid.Uint16Range(0, 12).Draw(t, "receives"), Page: 5})
				posted.Bell = append(posted.Bell, port.QPDoorbell{QPN: n % 2, SRQ: true, Index: rapid.Uint16Range(0, 12).Draw(t, "entries"), Page: 6})
				posted.Bell = append(posted.Bell, port.QPDoorbell{QPN: n, Index: rapid.Uint16Range(0, 9).Draw(t, "sends"), Page: 5})
			}
		}
		for range rapid.IntRange(0, 20).Draw(t, "admin") {
			a := connected()
			a.AttrMask = abi.AttrState
			a.State = rapid.SampledFrom([]abi.QPState{abi.QPSQD, abi.QPRTS, abi.QPErr, abi.QPReset}).Draw(t, "state")
			op := rapid.SampledFrom([]port.QPAdminOp{port.QPQuery, port.QPModify, port.QPModify, port.QPClear, port.QPFree, port.QPDestroy}).Draw(t, "op")
			f.Admin = append(f.Admin, port.QPAdmin{Op: op, QPN: qpn.Draw(t, "qpn"), Attr: a})
		}
		for range rapid.IntRange(0, 5).Draw(t, "admin of others") {
			q := sharedQueue()
			q.Mask, q.Limit = rapid.SampledFrom([]abi.SRQAttr{abi.SRQLimit, abi.SRQRing, 4}).Draw(t, "mask"), rapid.Uint16Range(0, 16).Draw(t, "limit")
			f.Admin = append(f.Admin, port.QPAdmin{
				Op: port.QPAdminOp(rapid.IntRange(int(port.AHCreate), int(port.SRQDestroy)).Draw(t, "op")), QPN: numbers.Draw(t, "number"), SRQ: q, AH: handleTo2(),
			})
		}
	}
	// What rapid draws tends to the beginning of a list.
	ports := rapid.SampledFrom([]source{
		srcRx, srcRx, srcRx, srcRx, srcRx, srcBell, srcGet, srcPut, srcTxReq, srcRetire, srcToldSRQ, srcTxFault, srcReadPost, srcRespDone, srcFatal,
	})
	in := map[port.QPN]*uint32{}
	for range rapid.SampledFrom([]int{60, 100, 20, 0}).Draw(t, "rest") {
		n := qpn.Draw(t, "qpn")
		switch ports.Draw(t, "port") {
		case srcToldSRQ:
			f.Bell = append(f.Bell, port.QPDoorbell{
				SRQ: true, QPN: numbers.Draw(t, "srqn"), Index: rapid.Uint16Range(0, 16).Draw(t, "posted"), Page: rapid.SampledFrom([]uint8{6, 6, 5}).Draw(t, "page"),
			})
		case srcBell:
			rq := rapid.Bool().Draw(t, "rq")
			f.Bell = append(f.Bell, port.QPDoorbell{
				QPN: n, RQ: rq, Push: !rq && rapid.Bool().Draw(t, "push"),
				Index: rapid.Uint16Range(0, 20).Draw(t, "index"), Page: rapid.SampledFrom([]uint8{5, 5, 5, 6}).Draw(t, "page"),
			})
		case srcGet:
			f.Get = append(f.Get, port.SQGet{QPN: n, Packets: 16})
		case srcPut:
			f.Put = append(f.Put, port.SQPut{
				QPN: n, ExecIdx: rapid.Uint16Range(0, 20).Draw(t, "exec"), NextPSN: near(0xfffff0), Messages: 1, Requests: 1,
				Entered: rapid.Uint16Range(0, 20).Draw(t, "entered"), EnteredPSN: near(0xfffff0),
				Credited: rapid.Uint8Range(0, 1).Draw(t, "credited"),
				Fault:    rapid.IntRange(0, 5).Draw(t, "fault") == 5,
			})
		case srcTxReq:
			f.TxReq = append(f.TxReq, port.TxHdrReq{QPN: n, Resp: rapid.Bool().Draw(t, "resp"), Gen: rapid.Uint8Range(0, 2).Draw(t, "gen"), UD: rapid.Bool().Draw(t, "ud"), AH: port.AHN(numbers.Draw(t, "ahn"))})
		case srcTxFault:
			f.TxFault = append(f.TxFault, port.SQFault{QPN: n, PSN: near(0xfffff0), Gen: rapid.Uint8Range(0, 2).Draw(t, "gen"), Status: abi.StatusLocProt})
		case srcRetire:
			f.Retire = append(f.Retire, port.Retire{
				Kind: rapid.SampledFrom([]port.RetireKind{port.RetireDone, port.RetireTimeout, port.RetireRewind}).Draw(t, "kind"),
				QPN:  n, Messages: 1, Una: near(0xfffff0), Gen: rapid.Uint8Range(0, 3).Draw(t, "gen"),
				Any: rapid.Bool().Draw(t, "any"), Oldest: rapid.Uint16Range(0, 20).Draw(t, "oldest"), First: near(0xfffff0), Last: near(0xfffff0),
			})
		case srcFatal:
			f.Fatal = append(f.Fatal, port.Retire{Kind: port.RetireFatal, QPN: n})
		case srcReadPost:
			first := near(0xfffff0)
			f.Reads = append(f.Reads, port.ReadPost{
				QPN: n, Op: rapid.SampledFrom([]abi.WQEOp{abi.OpRead, abi.OpFetchAdd}).Draw(t, "op"), UnitIdx: 3,
				FirstPSN: first, LastPSN: first.Add(rapid.Uint32Range(0, 2).Draw(t, "more")), Len: rapid.SampledFrom([]uint32{0, 8, 1024, 2049}).Draw(t, "len"),
			})
		case srcRespDone:
			f.Done = append(f.Done, port.RespDone{QPN: n, Again: rapid.Bool().Draw(t, "again")})
		default:
			if in[n] == nil {
				in[n] = new(uint32)
			}
			f.Rx = append(f.Rx, drawnOp(t, n, is[n], in[n], near))
		}
	}
	return []traffic{first, posted, f}
}

// opcodesOf are the opcodes that are drawn for a type of QPs.
var opcodesOf = map[abi.QPType][]roce.Opcode{
	abi.QPTypeRC: {
		roce.RCSendOnly, roce.RCSendFirst, roce.RCWriteOnly, roce.RCWriteFirst, roce.RCAck, roce.RCReadRequest, roce.RCCmpSwap, roce.RCSendLast,
		roce.RCSendMiddle, roce.RCWriteLastImm, roce.RCReadRespFirst, roce.RCReadRespOnly, roce.RCReadRespLast, roce.RCAtomicAck, roce.UCSendOnly,
	},
	abi.QPTypeUC: {
		roce.UCSendFirst, roce.UCSendLast, roce.UCSendOnly, roce.UCSendMiddle, roce.UCWriteOnly, roce.UCWriteFirst, roce.UCWriteLastImm, roce.RCAck,
	},
	abi.QPTypeUD: {roce.UDSendOnly, roce.UDSendOnlyImm, roce.UCSendOnly},
}

// drawnOp is an operation of the receive pipeline, for a QP of type typ to which in
// packets came in order.
func drawnOp(t *rapid.T, n port.QPN, typ abi.QPType, in *uint32, near func(uint32) roce.PSN) port.RxOp {
	op := port.RxOp{
		Kind: port.RxOpKind(rapid.SampledFrom([]uint8{0, 0, 0, 0, 0, 0, 1, 2, 3}).Draw(t, "kind")), QPN: n,
		Status: rapid.SampledFrom([]abi.WCStatus{abi.StatusLocLen, abi.StatusRemAccess, abi.StatusLocQPOp}).Draw(t, "status"),
		Vendor: rapid.SampledFrom([]abi.VendorErr{0, 0, abi.VendorWQERead}).Draw(t, "vendor"), RQIdx: rapid.Uint16Range(0, 5).Draw(t, "rqidx"),
		PSN: near(0xfffffe), Silent: rapid.IntRange(0, 9).Draw(t, "silent") == 9,
	}
	if rapid.IntRange(0, 3).Draw(t, "send") == 3 {
		op.Send, op.PSN, op.Status = true, near(0xfffff0), abi.StatusLocProt
	}
	opcodes := opcodesOf[typ]
	if opcodes == nil {
		opcodes = opcodesOf[abi.QPTypeRC]
	}
	opcode := rapid.SampledFrom(opcodes).Draw(t, "opcode")
	op.Pkt = from2(opcode, near(0xfffffe))
	if !opcode.IsResponse() && op.Kind == port.RxPacket && rapid.IntRange(0, 6).Draw(t, "order") != 6 {
		op.Pkt.PSN = roce.PSN(0xfffffe).Add(*in)
		*in++
	}
	op.Pkt.Len = rapid.SampledFrom([]uint16{1024, 0, 1, 2000}).Draw(t, "len")
	op.Pkt.Reth = port.Reth{VA: 0x1000, RKey: 0x100, Len: rapid.SampledFrom([]uint32{1024, 1025, 1, 0, 8}).Draw(t, "length")}
	if opcode.IsResponse() {
		op.Pkt.PSN = near(0xfffff0)
		op.Pkt.MSN = port.MSN(rapid.Uint32Range(0, 4).Draw(t, "msn"))
		op.Pkt.Syndrome = rapid.SampledFrom([]uint8{31, 31, 0, 3, 0x60, 0x61, 0x21}).Draw(t, "syndrome")
		if opcode == roce.RCAck {
			op.Pkt.Len = 0
		}
	}
	op.Pkt.Raw = (rapid.IntRange(0, 9).Draw(t, "raw") == 9) != (typ == abi.QPTypeRaw)
	op.Pkt.AckReq = rapid.Bool().Draw(t, "ackreq")
	return op
}
