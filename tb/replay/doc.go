// Package replay has a capture decide what is right. One side of each connection
// of a capture is played to the model as it was recorded, and what the model sends
// stands next to what the other side sent, packet by packet.
//
//	capture ─► Conversations: one direction of a connection, requests and answers
//	              │
//	              ├─ as Responder: the requests arrive ─► answers  ─┐
//	              │                                                 ├► Rows
//	              └─ as Requester: work requests are posted, the    │
//	                 answers arrive ─► requests, also those after   │
//	                 NAK, RNR NAK and timeout ──────────────────────┘
//
// QP number, keys and addresses of what arrives are made the model's own. What the
// model needs to be told beyond that is inferred: MTU, first PSN, memory behind the
// keys with what it held, when a receive was there, the work requests, how often was
// retried, and which frames were lost on the way (a capture at a sender has them).
//
// UC and UD are not answered: as their receiver the model must end receives, and have in
// memory, what the packets that arrived say.
//
// A row is the same, or a legal difference, or wrong. What is legal, and by which
// rule, is in Differences and nowhere else.
package replay
