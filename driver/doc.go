// Package driver is verbs for Go programs: it opens a NIC through a [Bus] and
// gives protection domains, memory regions, completion queues and queue pairs.
//
//	Open ── Device ─┬─ AllocBuffer ── Buffer        virtual addresses over frames
//	                ├─ AllocPD ── PD ─┬─ RegMR ── MR      keys
//	                │                 └─ CreateQP ── QP   PostSend, PostRecv
//	                └─ CreateCQ ── CQ                     Poll, Arm, Wait, CQEvent, Resize
//
//	program ──PostSend──► WQE in the ring ──doorbell or pushed WQE──► NIC
//	program ◄──Poll────── CQE by its phase bit ◄───────────────────── NIC
//	program ◄──Wait────── event queue ◄──MSI-X─────────────────────── NIC
//
// All that driver and device exchange is described in package abi. The semantics
// are those of the verbs of InfiniBand (IBTA volume 1, chapter 11) and of
// libibverbs.
//
// # What blocks
//
// PostSend, PostRecv, Poll and Arm never wait for the device, and there is no
// PCIe read in them; only a Bus that has no room for another write holds them up. Open,
// Close, Wait, WaitAsync, CQEvent, AsyncEvent, Counter and all that creates, changes,
// queries or destroys an object do.
//
// # Events
//
// An event that [Device.CQEvent] or [Device.AsyncEvent] returned waits to be
// acknowledged, by [CQ.Ack] or [Device.AckAsync]: until then the CQ or QP that it is
// of can't be destroyed, and Destroy blocks. [CQ.Wait], [Device.AsyncEvents] and
// [Device.WaitAsync] need no acknowledgement.
//
// # CPU time
//
// A work request posted costs Config.PostCost, a poll that finds nothing
// Config.PollCost; both are spent on the Bus.
//
// # Threads
//
// Threads here are those of a simulated host: they take turns, and give way only
// inside calls of the Bus. Each has its own Bus. [Device.On] is the same device
// seen from another thread, and what is made through it spends that thread's time
// and uses a doorbell page of its own; [CQ.On], [QP.On] and so on do the same for
// an object that another thread made. A handle must be used by the thread whose
// Bus it has, and by no other.
//
// Several threads may issue admin commands, poll one CQ or wait on one vector at
// the same time. Posting to one queue from several threads is safe too, but a QP
// must not be reset or destroyed while another thread posts to it. The package is
// not made for goroutines that run in parallel.
//
// # Memory
//
// Rings are consecutive in bus address space and written and read through the
// Bus, one access a WQE or CQE. wr_id stays in the driver: the index in a CQE
// leads back to it. A work request without SIGNALLED is given up with the next
// CQE of its queue, and its place in the queue is free from then on.
package driver
