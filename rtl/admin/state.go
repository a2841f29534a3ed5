package admin

// state is what the block is doing.
type state uint8

const (
	off         state = iota // disabled
	idle                     // wait for a command
	fetch                    // the command is being read
	dispatch                 // look at the command
	mailbox                  // the mailbox is being read
	execute                  // look at the mailbox
	checkUse                 // DESTROY_CQ, DESTROY_SRQ: is it used?
	queueResult              // wait for cq_writer
	checkCQs                 // CREATE_QP: do its CQs exist?
	qpResult                 // wait for qpc
	markers                  // send the purge markers
	markersBack              // wait for them
	endWindows               // have mpt unbind the QP's windows
	qpSettle                 // wait for qpc to free or clear the QP
	useRead                  // count the uses of the QP's CQs and SRQ
	useWrite
	answer   // write a mailbox
	pages    // move the page list
	mrResult // wait for mpt
	complete // write the completion
	posted   // wait until it is in the posted queue
	raise    // raise the interrupt
	failed   // a ring can't be used
)

var stateNames = [...]string{
	"OFF", "IDLE", "FETCH", "DISPATCH", "MAILBOX", "EXECUTE", "CHECK_USE", "QUEUE_RESULT", "CHECK_CQS", "QP_RESULT",
	"MARKERS", "MARKERS_BACK", "END_WINDOWS", "QP_SETTLE", "USE_READ", "USE_WRITE", "ANSWER", "PAGES", "MR_RESULT", "COMPLETE", "POSTED",
	"RAISE", "FAILED",
}

// Width is 5 bits.
func (state) Width() int { return 5 }

func (s state) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "RESERVED"
}
