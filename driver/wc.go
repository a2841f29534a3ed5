package driver

import (
	"fmt"

	"rnic/abi"
)

// WC is a work completion. With another status than SUCCESS only ID, Status, QPN,
// QP, VendorErr and Timestamp say something.
type WC struct {
	ID        uint64 // of the work request
	Status    abi.WCStatus
	Opcode    abi.WCOpcode
	VendorErr abi.VendorErr
	Flags     abi.CQEFlags
	ByteLen   uint32 // bytes received (UD: and 40), or read
	Imm       uint32 // with flag WITH_IMM; the key with WITH_INV; the tag control with VLAN
	QPN       uint32
	SrcQPN    uint32
	QP        *QP    // as CreateQP returned it: the handle of the thread that made it
	Timestamp uint64 // clock cycles of the device when the CQE was made
}

// Err is nil for SUCCESS, else a *CompletionError.
func (w *WC) Err() error {
	if w.Status == abi.StatusSuccess {
		return nil
	}
	return &CompletionError{ID: w.ID, QPN: w.QPN, Status: w.Status, VendorErr: w.VendorErr}
}

// CompletionError is a work request that failed.
type CompletionError struct {
	ID        uint64
	QPN       uint32
	Status    abi.WCStatus
	VendorErr abi.VendorErr
}

// Error names work request, QP, status and reason.
func (e *CompletionError) Error() string {
	return fmt.Sprintf("work request %d of QP %d: %s (%s)", e.ID, e.QPN, e.Status, e.VendorErr)
}
