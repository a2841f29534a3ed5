package pcie

// Span returns the length in DWs and the byte enables of n bytes at addr (n in
// 1..4096, not across a multiple of 4096). A single DW has all its enables in
// first, and last 0.
func Span(addr uint64, n int) (dws DWords, first, last ByteEnable) {
	off := int(addr & 3)
	dws = DWords((off + n + 3) / 4)
	first = ByteEnable(0xF<<off) & 0xF
	last = 0xF >> (-(off + n) & 3)
	if dws == 1 {
		return 1, first & last, 0
	}
	return dws, first, last
}

// Request returns the header of a read or write of n bytes at addr; the rest of
// the TLP is zero. n must be a result of Chunk, or 0 for a read that only
// flushes earlier writes.
func Request(kind Kind, addr uint64, n int) TLP {
	t := TLP{Kind: kind, Addr: addr &^ 3}
	if n == 0 {
		t.Len = 1
		return t
	}
	t.Len, t.First, t.Last = Span(addr, n)
	return t
}

// Chunk is the number of bytes that the next request of a transfer takes: of
// left bytes at addr, at most limit in whole DWs (MaxPayload or MaxReadRequest, a
// power of two, 128..4096), never across a multiple of 4096. If it can't be all
// of them, it ends at a multiple of limit, so that those behind it are aligned.
func Chunk(addr uint64, left, limit int) int {
	page := PageSize - int(addr%PageSize)
	if left <= page && int(addr&3)+left <= limit {
		return left
	}
	return min(left, limit-int(addr%uint64(limit)))
}

// CompletionChunk is the number of bytes that a completion takes of left bytes
// at addr: it ends at the multiple of RCB that is `blocks` of them on, counting
// the one that addr lies in, or at the end. The completer may choose any number
// of blocks from 1 to MaxPayload/RCB for each completion.
func CompletionChunk(addr uint64, left, blocks int) int {
	return min(left, blocks*RCB-int(addr%RCB))
}

// Completion returns the header of a completion with data for bytes done to
// done+n of read request r. The bytes of a flushing read count as one (2.3.1.1).
func Completion(r *TLP, completer ID, done, n int) TLP {
	t := completion(r, completer, done)
	t.Kind = CplD
	t.Len = DWords((int(t.Lower&3) + n + 3) / 4)
	return t
}

// Failure returns the header of the completion that ends read request r in
// error after done bytes. There is no further one for that request.
func Failure(r *TLP, completer ID, done int, status Status) TLP {
	t := completion(r, completer, done)
	t.Kind, t.Status = Cpl, status
	return t
}

func completion(r *TLP, completer ID, done int) TLP {
	return TLP{
		Class: r.Class, Attr: r.Attr, ID: r.ID, Tag: r.Tag,
		Completer: completer,
		Count:     ByteCount(max(1, r.Bytes()) - done),
		Lower:     LowerAddr((r.Start() + uint64(done)) & 0x7F),
	}
}
