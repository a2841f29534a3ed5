package driver

import "rnic/abi"

// opsOf are the operations of a QP, by type: bit n is operation n.
var opsOf = [...]uint32{
	abi.QPTypeRC: 1<<(abi.OpNop+1) - 1,
	abi.QPTypeUC: 1<<abi.OpSend | 1<<abi.OpSendImm | 1<<abi.OpWrite | 1<<abi.OpWriteImm |
		1<<abi.OpLocalInv | 1<<abi.OpBindMW | 1<<abi.OpFastReg | 1<<abi.OpNop,
	abi.QPTypeUD:  1<<abi.OpSend | 1<<abi.OpSendImm | 1<<abi.OpNop,
	abi.QPTypeRaw: 1<<abi.OpSend | 1<<abi.OpNop,
}

// has tells whether QPs of this one's type have an operation.
func (q *qp) has(op abi.WQEOp) bool { return opsOf[q.typ]>>op&1 != 0 }

// connected tells whether the QP has one peer.
func (q *qp) connected() bool { return q.typ == abi.QPTypeRC || q.typ == abi.QPTypeUC }
