// Package atomic does the read-modify-write of COMPARE_SWAP and FETCH_ADD on host
// memory. All atomics of the device pass here, one at a time on each word, so they
// are atomic to each other, whatever QP they belong to.
//
//	        ┌──────────────────────────────┐
//	Req ───►│ slots: WAIT ► READ ► WRITE ► │───► Res (responder)
//	scatter │        POST ► FINISH         │───► Done (scatter)
//	        └──┬────────▲───┬──────────▲───┘
//	       Read│    Data│   │Write     │WriteDone
//	           ▼        │   ▼WriteData │
//	                   dma
//
// An operation waits for every older one on the same word; those on different
// words overlap. Its word is read, the new value written, and when that has entered
// the posted queue, which no later read can pass, the next operation on the word
// goes on: Res has the original value, Done releases the QP. A COMPARE_SWAP that
// does not match writes nothing. If the word can't be read nothing is written, and
// Res and Done say so.
//
// Duplicates of atomics never come here: responder keeps the values. The slot for one
// goes through with its request.
//
// A word is 8 bytes, little-endian, at a multiple of 8: the low bits of the address
// are ignored, qpc has refused a request that needs them. Whatever the same QP
// wrote before has entered the posted queue before Req comes.
//
// Ports: Req, Res, Done, Read, Data, Write, WriteData, WriteDone, all of Atomic.
//
// Latency in cycles: Req to Read 1, Data to Write 1, WriteDone to Res and Done 1,
// and to Read of the next operation on the word 1. Initiation interval: 1; with
// Slots operations under way, one for each that ends.
//
// Invariants: Data and WriteDone are always taken, each belongs to a slot; of the
// operations on one word at most one is between READ and POST, the oldest.
package atomic
