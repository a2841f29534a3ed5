// Package driver is verbs for Go programs: it opens a NIC through a [Bus] and
// gives protection domains, memory regions and windows, completion queues, shared
// receive queues, address handles, and queue pairs of the types RC, UC, UD and
// RAW_PACKET.
//
//	Open ── Device ─┬─ AllocBuffer ── Buffer        virtual addresses over frames
//	                ├─ AllocPD ── PD ─┬─ RegMR, AllocFastMR ── MR   keys
//	                │                 ├─ AllocMW ── MW              Bind
//	                │                 ├─ CreateAH ── AH             of UD
//	                │                 ├─ CreateSRQ ── SRQ           PostRecv
//	                │                 └─ CreateQP ── QP             PostSend, PostRecv
//	                ├─ CreateCQ ── CQ                               Poll, Arm, Wait, CQEvent, Resize
//	                └─ SetGID, SetMTU, SetRawQP                     the port
//
//	program ──PostSend──► WQE in the ring ──doorbell or pushed WQE──► NIC
//	program ◄──Poll────── CQE by its phase bit ◄───────────────────── NIC
//	program ◄──Wait────── event queue ◄──MSI-X─────────────────────── NIC
//
// All that driver and device exchange is described in package abi. The semantics
// are those of the verbs of InfiniBand (IBTA volume 1, chapter 11) and of
// libibverbs.
//
// # Verbs
//
//	ibv_open_device, ibv_close_device       Open, Device.Close
//	ibv_query_device, ibv_query_port        Device.Attr, Device.MTU
//	ibv_query_gid                           Device.GIDs; Device.SetGID
//	ibv_alloc_pd, ibv_dealloc_pd            Device.AllocPD, PD.Destroy
//	ibv_reg_mr, ibv_dereg_mr                PD.RegMR, PD.RegMRRange, MR.Dereg
//	ibv_alloc_mw, ibv_dealloc_mw            PD.AllocMW, MW.Dealloc
//	ibv_bind_mw                             MW.Bind (type 1); BIND_MW work request (type 2)
//	ibv_inc_rkey                            MakeKey of package abi
//	ib_alloc_mr, ib_map_mr_sg, ib_reg_wr    PD.AllocFastMR, FAST_REG work request
//	ibv_create_cq, ibv_destroy_cq           Device.CreateCQ, CQ.Destroy
//	ibv_resize_cq, ibv_modify_cq            CQ.Resize, CQ.Moderate
//	ibv_poll_cq, ibv_req_notify_cq          CQ.Poll, CQ.Arm
//	ibv_get_cq_event, ibv_ack_cq_events     Device.CQEvent, CQ.Ack
//	ibv_create_qp, ibv_destroy_qp           PD.CreateQP, QP.Destroy
//	ibv_modify_qp, ibv_query_qp             QP.Modify, QP.Query; QP.Init, QP.Connect, QP.Start
//	ibv_post_send, ibv_post_recv            QP.PostSend, QP.PostRecv
//	ibv_create_srq, ibv_destroy_srq         PD.CreateSRQ, SRQ.Destroy
//	ibv_modify_srq, ibv_query_srq           SRQ.Modify, SRQ.Query
//	ibv_post_srq_recv                       SRQ.PostRecv
//	ibv_create_ah, ibv_destroy_ah           PD.CreateAH, AH.Destroy
//	ibv_init_ah_from_wc                     Device.AHAttrFromWC
//	ibv_create_ah_from_wc                   PD.CreateAHFromWC
//	ibv_create_flow (all that is not RoCE)  Device.SetRawQP
//	ibv_get_async_event                     Device.AsyncEvent
//	ibv_ack_async_event                     Device.AckAsync
//
// What the device can judge, it judges: keys, domains, bounds and the attributes of a
// transition. The driver refuses at once what the device is never told of: operations
// that a type of QP does not have, elements and inline data beyond the limits, objects
// that are destroyed or of another device, and parents that still have children.
//
// # How many
//
// Device.Attr tells the sizes of the device's tables. Of MaxQP numbers 0 and 1 are
// reserved, so there can be MaxQP-2 QPs. There can be MaxCQ CQs, MaxSRQ SRQs, MaxAH address
// handles, and MaxMR regions and windows together, as long as the regions' pages fit in
// MaxPages. A number whose object is gone, but which a posted work request names, is not
// free yet: see [AH.Destroy].
//
// # What blocks
//
// PostSend, PostRecv, Bind, Poll and Arm never wait for the device, and there is no
// PCIe read in them; only a Bus that has no room for another write holds them up. Open,
// Close, Wait, WaitAsync, CQEvent, AsyncEvent, Counter and all that creates, changes,
// queries or destroys an object do.
//
// # Events
//
// An event that [Device.CQEvent] or [Device.AsyncEvent] returned waits to be
// acknowledged, by [CQ.Ack] or [Device.AckAsync]: until then the CQ, QP or SRQ that it
// is of can't be destroyed, and Destroy blocks. [CQ.Wait], [Device.AsyncEvents] and
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
// CQE of its queue, and its place in the queue is free from then on. The places of a
// shared receive queue come back one by one, in any order: the free ones are a list,
// and each work request tells the device the slot of the next.
package driver
