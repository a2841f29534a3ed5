package abi

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// transitions are the tables of the specification as text: per type, from, to,
// required, optional. RESET and ERR as targets apart.
const transitions = `
RC RESET INIT PKEY_INDEX,PORT,ACCESS_FLAGS -
RC INIT INIT - PKEY_INDEX,PORT,ACCESS_FLAGS
RC INIT RTR AV,PATH_MTU,DEST_QPN,RQ_PSN,MAX_DEST_RD_ATOMIC,MIN_RNR_TIMER ACCESS_FLAGS,PKEY_INDEX
RC RTR RTS TIMEOUT,RETRY_CNT,RNR_RETRY,SQ_PSN,MAX_RD_ATOMIC ACCESS_FLAGS,MIN_RNR_TIMER,CUR_STATE
RC RTS RTS - ACCESS_FLAGS,MIN_RNR_TIMER,CUR_STATE
RC SQD RTS - ACCESS_FLAGS,MIN_RNR_TIMER,CUR_STATE
RC RTS SQD - EN_SQD_ASYNC_NOTIFY
RC SQD SQD - PORT,AV,TIMEOUT,RETRY_CNT,RNR_RETRY,MAX_RD_ATOMIC,MAX_DEST_RD_ATOMIC,ACCESS_FLAGS,PKEY_INDEX,MIN_RNR_TIMER
UC RESET INIT PKEY_INDEX,PORT,ACCESS_FLAGS -
UC INIT INIT - PKEY_INDEX,PORT,ACCESS_FLAGS
UC INIT RTR AV,PATH_MTU,DEST_QPN,RQ_PSN ACCESS_FLAGS,PKEY_INDEX
UC RTR RTS SQ_PSN ACCESS_FLAGS,CUR_STATE
UC RTS RTS - ACCESS_FLAGS,CUR_STATE
UC SQD RTS - ACCESS_FLAGS,CUR_STATE
UC SQE RTS - ACCESS_FLAGS,CUR_STATE
UC RTS SQD - EN_SQD_ASYNC_NOTIFY
UC SQD SQD - AV,ACCESS_FLAGS,PKEY_INDEX
UD RESET INIT PKEY_INDEX,PORT,QKEY -
UD INIT INIT - PKEY_INDEX,PORT,QKEY
UD INIT RTR - PKEY_INDEX,QKEY
UD RTR RTS SQ_PSN CUR_STATE,QKEY
UD RTS RTS - CUR_STATE,QKEY
UD SQD RTS - CUR_STATE,QKEY
UD SQE RTS - CUR_STATE,QKEY
UD RTS SQD - EN_SQD_ASYNC_NOTIFY
UD SQD SQD - PKEY_INDEX,QKEY
RAW_PACKET RESET INIT PORT -
RAW_PACKET INIT INIT - PORT
RAW_PACKET INIT RTR - -
RAW_PACKET RTR RTS - CUR_STATE
RAW_PACKET RTS RTS - CUR_STATE
RAW_PACKET SQD RTS - CUR_STATE
RAW_PACKET SQE RTS - CUR_STATE
RAW_PACKET RTS SQD - -
RAW_PACKET SQD SQD - -
`

func attrSet(t *testing.T, list string) (m QPAttr) {
	if list == "-" {
		return 0
	}
next:
	for _, name := range strings.Split(list, ",") {
		for _, v := range qpAttrs.Values {
			if v.Name == name {
				m |= QPAttr(v.Value)
				continue next
			}
		}
		require.Failf(t, "unknown attribute", "%s", name)
	}
	return m
}

func TestTransitions(t *testing.T) {
	type sets struct{ required, optional QPAttr }
	want := map[string]sets{}
	for _, line := range strings.Split(strings.TrimSpace(transitions), "\n") {
		f := strings.Fields(line)
		want[strings.Join(f[:3], " ")] = sets{attrSet(t, f[3]), attrSet(t, f[4])}
	}
	seen := 0
	for typ := range QPType(8) {
		for from := range QPState(8) {
			for to := range QPState(8) {
				edge := fmt.Sprintf("%v %v %v", typ, from, to)
				required, optional, ok := Transition(typ, from, to)
				w, listed := want[edge]
				known := typ >= QPTypeRC && typ <= QPTypeRaw && from <= QPErr
				always := known && (to == QPReset || to == QPErr)
				require.Equal(t, listed || always, ok, edge)
				require.Equal(t, w, sets{required, optional}, edge)
				require.Zero(t, required&optional, edge)
				if listed {
					seen++
				}
			}
		}
	}
	require.Len(t, want, seen)
	_, _, ok := Transition(QPTypeRC, 255, QPErr)
	require.False(t, ok)
}
