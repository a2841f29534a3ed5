package abi

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/bits"
)

func encode[T any](l *bits.Layout[T], v T) string {
	b := make([]byte, l.Size)
	l.Encode(&v, b)
	return hex.EncodeToString(b)
}

// bytes joins hexadecimal text and pads it with zero bytes.
func bytes(size int, parts ...string) string {
	s := strings.ReplaceAll(strings.Join(parts, ""), " ", "")
	return s + strings.Repeat("00", size-len(s)/2)
}

// TestGoldenBytes pins the place of every field of the structures on the data
// path, written by hand.
func TestGoldenBytes(t *testing.T) {
	require.Equal(t, bytes(8, "332211 13 6655"), encode(DoorbellLayout,
		Doorbell{Number: 0x112233, Kind: DoorbellCQArm, SolicitedOnly: true, Index: 0x5566}))

	ctrl := WQEControl{Op: OpSendImm, Flags: WQESignalled | WQEInlined, Units: 2, NumSGE: 3,
		InlineLen: 0x0140, Index: 0x1234, Imm: 0x89abcdef, QPN: 0x778899}
	const ctrlBytes = "01 09 02 03 4001 3412 efcdab89 998877 00"
	remote := RemoteSegment{Addr: 0x0102030405060708, RKey: 0xa1a2a3a4}
	const remoteBytes = "0807060504030201 a4a3a2a1 00000000"
	sge := SGE{Addr: 0x1112131415161718, Length: 0x21222324, LKey: 0x31323334}
	const sgeBytes = "1817161514131211 24232221 34333231"
	require.Equal(t, bytes(64, ctrlBytes, remoteBytes, sgeBytes, bytes(16)),
		encode(WQELayout, WQE{Ctrl: ctrl, Remote: remote, SGE: [2]SGE{sge}}))
	require.Equal(t, bytes(64, ctrlBytes, remoteBytes, "c0c1", bytes(30)),
		encode(WQEInlineLayout, WQEInline{Ctrl: ctrl, Remote: remote, Data: [32]byte{0xc0, 0xc1}}))
	require.Equal(t, bytes(64, ctrlBytes, remoteBytes, sgeBytes, "0200000000000000 0300000000000080"),
		encode(WQEAtomicLayout, WQEAtomic{Ctrl: ctrl, Remote: remote, SGE: sge,
			Atomic: AtomicSegment{SwapAdd: 2, Compare: 1<<63 | 3}}))
	require.Equal(t, bytes(64, bytes(48), sgeBytes), encode(WQESGEsLayout, WQESGEs{SGE: [4]SGE{3: sge}}))
	require.Equal(t, bytes(64, ctrlBytes, "665544 00 332211 00 04030281 00000000", sgeBytes, bytes(16)),
		encode(WQEUDLayout, WQEUD{Ctrl: ctrl, AH: AHSegment{AHN: 0x445566, DestQPN: 0x112233, QKey: 0x81020304}, SGE: [2]SGE{sge}}))
	require.Equal(t, bytes(64, ctrlBytes, remoteBytes, "0706050403020100 0e", bytes(23)),
		encode(WQEBindLayout, WQEBind{Ctrl: ctrl, Remote: remote, Bind: BindSegment{Length: 0x01020304050607,
			Access: AccessRemoteWrite | AccessRemoteRead | AccessRemoteAtomic}}))
	require.Equal(t, bytes(64, ctrlBytes, remoteBytes, "0706050403020100 2000 0c 07", bytes(20)),
		encode(WQEFastRegLayout, WQEFastReg{Ctrl: ctrl, Remote: remote, FastReg: FastRegSegment{Length: 0x01020304050607,
			NumPages: 32, LogPageSize: 12, Access: AccessLocalWrite | AccessRemoteWrite | AccessRemoteRead}}))
	require.Equal(t, bytes(16, "04 00 3412 7856"), encode(RWQEControlLayout, RWQEControl{NumSGE: 4, Index: 0x1234, Next: 0x5678}))

	require.Equal(t, bytes(64, "3412 81 05 332211 0a 665544 01 04030201 0d0c0b0a", "00000000", "0807060504030201", bytes(31), "01"),
		encode(CQELayout, CQE{Index: 0x1234, Opcode: WCRecvWithImm, Status: StatusWRFlush, QPN: 0x112233, Flags: CQEWithImm | CQEWithInv,
			SrcQPN: 0x445566, VendorErr: VendorFlush, ByteLen: 0x01020304, Imm: 0x0a0b0c0d, Timestamp: 0x0102030405060708, Phase: true}))
	require.Equal(t, bytes(32, "80 00 3412 04030201 0807060504030201", bytes(15), "01"),
		encode(EventLayout, Event{Type: EventCompletion, Syndrome: 0x1234, Number: 0x01020304, Timestamp: 0x0102030405060708, Phase: true}))

	require.Equal(t, bytes(64, "06 00 3412 04030201 0807060504030201 01000000 02000000 0300000000000000 0400000000000000"),
		encode(AdminCommandLayout, AdminCommand{Op: AdminCreateQP, ID: 0x1234, Object: 0x01020304, Mailbox: 0x0102030405060708,
			Param0: 1, Param1: 2, Param2: 3, Param3: 4}))
	require.Equal(t, bytes(32, "3412 03 09 04030201 0807060504030201", bytes(15), "01"),
		encode(AdminCompletionLayout, AdminCompletion{ID: 0x1234, Status: AdminBadParam, Syndrome: SynPathMTU, Object: 0x01020304,
			Result: 0x0102030405060708, Phase: true}))
}

func TestGoldenMailboxes(t *testing.T) {
	require.Equal(t, bytes(256, "0807060504030201 0a 03 0201"), encode(EQMailboxLayout, EQMailbox{Base: 0x0102030405060708, LogSize: 10, Vector: 3, UARPage: 0x0102}))
	require.Equal(t, bytes(256, "0807060504030201 0a 03 0201"), encode(CQMailboxLayout, CQMailbox{Base: 0x0102030405060708, LogSize: 10, EQN: 3, UARPage: 0x0102}))
	require.Equal(t, bytes(256, "0807060504030201 0010000000000000 332211 07 aa 0c 0000 1817161514131211 04030201"),
		encode(MRMailboxLayout, MRMailbox{Addr: 0x0102030405060708, Length: 4096, PD: 0x112233,
			Access: AccessLocalWrite | AccessRemoteWrite | AccessRemoteRead, KeyLow: 0xaa, LogPageSize: 12,
			PageList: 0x1112131415161718, NumPages: 0x01020304}))
	require.Equal(t, bytes(256, bytes(16), "332211 00 aa 00 0000", bytes(8), "20000000 04030201 03"),
		encode(MRMailboxLayout, MRMailbox{PD: 0x112233, KeyLow: 0xaa, NumPages: 32, FirstPage: 0x01020304, Kind: KeyWindow2}))
	require.Equal(t, bytes(256, "332211 0000000000", "020000000002 01 40"),
		encode(AHMailboxLayout, AHMailbox{PD: 0x112233, AV: AV{DMAC: [6]byte{2, 0, 0, 0, 0, 2}, SGIDIndex: 1, HopLimit: 64}}))
	require.Equal(t, bytes(256, "0807060504030201 0a 06 03 03 332211 00 0201 0403 0605 0807"),
		encode(SRQMailboxLayout, SRQMailbox{Base: 0x0102030405060708, LogSize: 10, LogStride: 6, MaxSGE: 3, Mask: SRQRing | SRQLimit,
			PD: 0x112233, UARPage: 0x0102, Limit: 0x0304, Producer: 0x0506, Consumer: 0x0708}))
	require.Equal(t, bytes(256, bytes(16), "04030201", bytes(52), "14131211 24232221 3231 4241"),
		encode(DeviceMailboxLayout, DeviceMailbox{MaxSRQ: 0x01020304, MaxAH: 0x11121314, MaxSRQEntries: 0x21222324,
			MaxFastRegPages: 0x3132, MaxRawFrame: 0x4142}))
	require.Equal(t, bytes(40, "020000000002 01 40", "00000000000000000000ffff0a000002", "4523 11 68 01c0 0520"),
		encode(AVLayout, AV{DMAC: [6]byte{2, 0, 0, 0, 0, 2}, SGIDIndex: 1, HopLimit: 64,
			DGID:      [16]byte{10: 0xff, 11: 0xff, 12: 10, 15: 2},
			FlowLabel: 0x12345, VLANValid: true, TrafficClass: 0x68, UDPSPort: 0xc001, VLAN: 0x2005}))
	b := make([]byte, MailboxSize)
	QPMailboxLayout.Encode(&QPMailbox{
		AttrMask: AttrDestQPN, Type: QPTypeRC, SQBase: 1 << 56, RQBase: 2 << 56, PD: 0x112233, SQMaxSGE: 4,
		State: QPErr, DestQPN: 0x445566, Timeout: 31, RetryCnt: 7, RNRRetry: 6,
		AV: AV{HopLimit: 64}, MSN: 0x778899,
	}, b)
	require.Equal(t, "00001000 02000000"+"0000000000000001"+"0000000000000002"+"33221104", hex.EncodeToString(b[:4])+" "+hex.EncodeToString(b[4:28]))
	require.Equal(t, byte(QPErr), b[48])
	require.Equal(t, "665544", hex.EncodeToString(b[60:63]))
	require.Equal(t, byte(31), b[67])
	require.Equal(t, []byte{7, 6}, b[72:74])
	require.Equal(t, byte(64), b[76+7])
	require.Equal(t, "998877", hex.EncodeToString(b[144:147]))
}

// TestVerbsNumbers pins the values that programs know from <infiniband/verbs.h>.
func TestVerbsNumbers(t *testing.T) {
	require.EqualValues(t, [...]WCOpcode{0, 1, 2, 3, 4, 5, 6, 128, 129},
		[...]WCOpcode{WCSend, WCWrite, WCRead, WCCompareSwap, WCFetchAdd, WCBindMW, WCLocalInv, WCRecv, WCRecvWithImm})
	require.Equal(t, [...]WCStatus{0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 19, 21},
		[...]WCStatus{StatusSuccess, StatusLocLen, StatusLocQPOp, StatusLocProt, StatusWRFlush, StatusMWBind, StatusBadResp,
			StatusLocAccess, StatusRemInvReq, StatusRemAccess, StatusRemOp, StatusRetryExc, StatusRNRRetryExc, StatusFatal, StatusGeneral})
	require.Equal(t, [...]EventType{0, 1, 2, 3, 4, 5, 8, 9, 10, 14, 15, 16},
		[...]EventType{EventCQErr, EventQPFatal, EventQPReqErr, EventQPAccessErr, EventCommEst, EventSQDrained, EventDeviceFatal,
			EventPortActive, EventPortErr, EventSRQErr, EventSRQLimitReached, EventQPLastWQEReached})
	require.EqualValues(t, 1<<0|1<<4|1<<5|1<<3, AttrState|AttrPKeyIndex|AttrPort|AttrAccessFlags)
	require.EqualValues(t, 1<<7|1<<8|1<<12|1<<15|1<<17|1<<20, AttrAV|AttrPathMTU|AttrRQPSN|AttrMinRNRTimer|AttrMaxDestRdAtomic|AttrDestQPN)
	require.EqualValues(t, 1<<9|1<<10|1<<11|1<<13|1<<16, AttrTimeout|AttrRetryCnt|AttrRNRRetry|AttrMaxRdAtomic|AttrSQPSN)
	require.EqualValues(t, 1<<1|1<<2|1<<6, AttrCurState|AttrSQDAsyncNotify|AttrQKey)
	require.Equal(t, [...]QPType{2, 3, 4, 5}, [...]QPType{QPTypeRC, QPTypeUC, QPTypeUD, QPTypeRaw})
	require.Equal(t, [...]QPState{0, 1, 2, 3, 4, 5, 6}, [...]QPState{QPReset, QPInit, QPRTR, QPRTS, QPSQD, QPSQE, QPErr})
	require.Equal(t, [...]AccessFlags{1, 2, 4, 8, 16},
		[...]AccessFlags{AccessLocalWrite, AccessRemoteWrite, AccessRemoteRead, AccessRemoteAtomic, AccessMWBind})
	require.Equal(t, [...]uint32{0, 256, 512, 1024, 2048, 4096, 0, 0},
		[...]uint32{MTU(0).Bytes(), MTU256.Bytes(), MTU512.Bytes(), MTU1024.Bytes(), MTU2048.Bytes(), MTU4096.Bytes(), MTU(6).Bytes(), MTU(255).Bytes()})
}
