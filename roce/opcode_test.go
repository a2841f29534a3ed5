package roce

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of the specification: name, headers behind the BTH.
var opcodeTable = map[Opcode]string{
	0x00: "RC_SEND_FIRST", 0x01: "RC_SEND_MIDDLE", 0x02: "RC_SEND_LAST", 0x03: "RC_SEND_LAST_IMM imm",
	0x04: "RC_SEND_ONLY", 0x05: "RC_SEND_ONLY_IMM imm", 0x06: "RC_WRITE_FIRST reth", 0x07: "RC_WRITE_MIDDLE",
	0x08: "RC_WRITE_LAST", 0x09: "RC_WRITE_LAST_IMM imm", 0x0A: "RC_WRITE_ONLY reth", 0x0B: "RC_WRITE_ONLY_IMM reth imm",
	0x0C: "RC_READ_REQ reth", 0x0D: "RC_READ_RESP_FIRST aeth", 0x0E: "RC_READ_RESP_MIDDLE", 0x0F: "RC_READ_RESP_LAST aeth",
	0x10: "RC_READ_RESP_ONLY aeth", 0x11: "RC_ACK aeth", 0x12: "RC_ATOMIC_ACK aeth atomicack",
	0x13: "RC_CMP_SWAP atomic", 0x14: "RC_FETCH_ADD atomic", 0x16: "RC_SEND_LAST_INV ieth", 0x17: "RC_SEND_ONLY_INV ieth",
	0x20: "UC_SEND_FIRST", 0x21: "UC_SEND_MIDDLE", 0x22: "UC_SEND_LAST", 0x23: "UC_SEND_LAST_IMM imm",
	0x24: "UC_SEND_ONLY", 0x25: "UC_SEND_ONLY_IMM imm", 0x26: "UC_WRITE_FIRST reth", 0x27: "UC_WRITE_MIDDLE",
	0x28: "UC_WRITE_LAST", 0x29: "UC_WRITE_LAST_IMM imm", 0x2A: "UC_WRITE_ONLY reth", 0x2B: "UC_WRITE_ONLY_IMM reth imm",
	0x64: "UD_SEND_ONLY deth", 0x65: "UD_SEND_ONLY_IMM deth imm",
	0x81: "CNP",
}

var headerSizes = map[string]int{
	"imm": 4, "reth": 16, "aeth": 4, "atomicack": 8, "atomic": 28, "ieth": 4, "deth": 8,
}

func TestOpcodes(t *testing.T) {
	for i := range 256 {
		o := Opcode(i)
		entry, known := opcodeTable[o]
		require.Equal(t, known, o.Valid(), "%#02x", i)
		if !known {
			require.Contains(t, o.String(), "OP_0x")
			require.Equal(t, 12, o.HeaderSize())
			require.Equal(t, opInfo{0, 12}, opTable[i], "all predicates false")
			require.False(t, o.IsRequest())
			continue
		}
		words := strings.Fields(entry)
		name := words[0]
		require.Equal(t, name, o.String())
		size, headers := 12, map[string]bool{}
		for _, h := range words[1:] {
			size += headerSizes[h]
			headers[h] = true
		}
		require.Equal(t, size, o.HeaderSize(), name)
		require.Equal(t, headers["imm"], o.HasImm(), name)
		require.Equal(t, headers["reth"], o.HasRETH(), name)
		require.Equal(t, headers["aeth"], o.HasAETH(), name)
		require.Equal(t, headers["atomicack"], o.HasAtomicAckETH(), name)
		require.Equal(t, headers["atomic"], o.HasAtomicETH(), name)
		require.Equal(t, headers["ieth"], o.HasIETH(), name)
		require.Equal(t, headers["deth"], o.HasDETH(), name)

		has := func(s string) bool { return strings.Contains(name, s) }
		require.Equal(t, has("_FIRST"), o.IsFirst(), name)
		require.Equal(t, has("_MIDDLE"), o.IsMiddle(), name)
		require.Equal(t, has("_LAST"), o.IsLast(), name)
		require.Equal(t, !has("_FIRST") && !has("_MIDDLE") && !has("_LAST"), o.IsOnly(), name)
		require.Equal(t, o.IsFirst() || o.IsOnly(), o.Starts(), name)
		require.Equal(t, o.IsLast() || o.IsOnly(), o.Ends(), name)
		require.Equal(t, has("SEND"), o.IsSend(), name)
		require.Equal(t, has("WRITE"), o.IsWrite(), name)
		require.Equal(t, has("READ_REQ"), o.IsReadRequest(), name)
		require.Equal(t, has("READ_RESP"), o.IsReadResponse(), name)
		require.Equal(t, has("CMP") || has("FETCH"), o.IsAtomic(), name)
		response := has("READ_RESP") || has("ACK")
		require.Equal(t, response, o.IsResponse(), name)
		require.Equal(t, !response && o != CNP, o.IsRequest(), name)
		require.Equal(t, has("SEND") && o.Starts() || has("WRITE") && o.HasImm(), o.TakesReceive(), name)
		if o != CNP {
			require.Equal(t, name[:2], o.Transport().String(), name)
		}
	}
	require.Equal(t, Transport(4), CNP.Transport())
	require.Equal(t, "T4", CNP.Transport().String())
	require.Equal(t, RCFetchAdd, Opcode(0x14))
	require.Equal(t, UDSendOnlyImm, Opcode(0x65))
}

func TestMTU(t *testing.T) {
	for i, bytes := range []int{256, 512, 1024, 2048, 4096} {
		m, ok := MTUOf(bytes)
		require.True(t, ok)
		require.Equal(t, MTU(i+1), m)
		require.Equal(t, bytes, m.Bytes())
		require.True(t, m.Valid())
		for _, k := range []uint32{1, 2, 7} {
			n := k * uint32(bytes)
			require.Equal(t, k, m.Packets(n))
			require.Equal(t, k+1, m.Packets(n+1))
			require.Equal(t, k, m.Packets(n-1))
		}
		require.Equal(t, uint32(1), m.Packets(0))
		require.Equal(t, uint32(1<<31/bytes), m.Packets(MaxMessage))
	}
	_, ok := MTUOf(1500)
	require.False(t, ok)
	require.False(t, MTU(0).Valid())
	require.False(t, MTU(6).Valid())
	require.Equal(t, "1024", MTU1024.String())
	require.Equal(t, "MTU(6)", MTU(6).String())
}

func TestSyndromes(t *testing.T) {
	require.Equal(t, Syndrome(0x1F), ACKSyndrome(NoCredits))
	require.Equal(t, Syndrome(0x2E), RNRSyndrome(14))
	require.Equal(t, Syndrome(0x60), NAKSyndrome(NAKSequence))
	require.Equal(t, Syndrome(0x63), NAKSyndrome(NAKRemoteOperation))
	for i := range 256 {
		s := Syndrome(i)
		require.Equal(t, i < 0x40 || i >= 0x60 && i <= 0x64, s.Valid(), "%#02x", i)
		require.Equal(t, uint8(i&31), s.Value())
		if i < 0x80 {
			require.Equal(t, SyndromeKind(i>>5), s.Kind())
		} else {
			require.Equal(t, KindReserved, s.Kind())
		}
	}
	require.Equal(t, "ACK_31", ACKSyndrome(31).String())
	require.Equal(t, "RNR_14", RNRSyndrome(14).String())
	require.Equal(t, "NAK_REMOTE_ACCESS", NAKSyndrome(NAKRemoteAccess).String())
	require.Equal(t, "SYNDROME_0x65", Syndrome(0x65).String())
}

// Both tables double every two codes from some code on: an independent rule.
func TestSyndromeTables(t *testing.T) {
	for code := uint8(7); code < 31; code++ {
		a, ok := Credits(code)
		b, _ := Credits(code - 2)
		require.True(t, ok)
		require.Equal(t, 2*b, a, "credits %d", code)
		require.Equal(t, 2*RNRDelay(code-2), RNRDelay(code), "timer %d", code)
	}
	require.Equal(t, 2*RNRDelay(29), RNRDelay(31))
	for code := uint8(1); code <= 6; code++ {
		require.Equal(t, []uint32{1, 2, 3, 4, 6, 8}[code-1], RNRDelay(code))
		n, _ := Credits(code)
		require.Equal(t, []int{1, 2, 3, 4, 6, 8}[code-1], n)
	}
	require.Equal(t, uint32(65536), RNRDelay(0), "655.36 ms")
	require.Equal(t, uint32(49152), RNRDelay(31), "491.52 ms")
	_, ok := Credits(31)
	require.False(t, ok)
	for n := range 40000 {
		c := CreditCode(n)
		low, _ := Credits(c)
		require.LessOrEqual(t, low, n)
		if high, ok := Credits(c + 1); ok {
			require.Greater(t, high, n)
		}
	}
}

func TestPKeyMatch(t *testing.T) {
	for _, c := range []struct {
		a, b PKey
		want bool
	}{
		{0xFFFF, 0xFFFF, true}, {0xFFFF, 0x7FFF, true}, {0x7FFF, 0xFFFF, true}, {0x7FFF, 0x7FFF, false},
		{0x8001, 0x0001, true}, {0x8001, 0x8002, false}, {0x8000, 0x8000, false}, {0, 0, false}, {0x1234, 0xFFFF, false},
	} {
		require.Equal(t, c.want, c.a.Match(c.b), "%#x %#x", c.a, c.b)
	}
}
