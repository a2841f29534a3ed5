package admin

import (
	"rnic/abi"
	"rnic/rtl/port"
)

type mrRegs struct {
	List  port.BusAddr // what of the page list is not yet asked for
	Left  uint32       // pages not yet handed to mpt
	Chunk uint16       // beats that the read which is out still brings
	Bad   bool         // the list could not be read
}

const pageEntry = 8 // bytes of a page list's entry

// register checks what mpt doesn't, and starts a registration. mpt takes all
// addresses of any list, so the list is bounded here. Only a region has a list.
func (m *Admin) register(b *[abi.MailboxSize]byte) {
	var a abi.MRMailbox
	_ = abi.MRMailboxLayout.Decode(b[:], &a)
	list := a.Kind == abi.KeyRegion
	switch {
	case list && a.PageList%pageEntry != 0:
		m.end(abi.AdminBadParam, abi.SynPageList)
	case list && a.NumPages > m.par.Pages:
		m.end(abi.AdminNoResource, abi.SynNumPages)
	case m.MR.Ready():
		m.MR.Put(port.MRAdmin{Index: m.Q.Cmd.Object, MR: a})
		m.D.State, m.D.MR = mrResult, mrRegs{}
		if list {
			m.D.State, m.D.MR = pages, mrRegs{List: port.BusAddr(a.PageList), Left: a.NumPages}
		}
	}
}

func (m *Admin) deregister() {
	if m.MR.Ready() {
		m.MR.Put(port.MRAdmin{Dereg: true, Index: m.Q.Cmd.Object})
		m.D.State, m.D.MR = mrResult, mrRegs{}
	}
}

// pages moves the page list from host memory to mpt, a chunk at a time. When it
// can't be read, mpt gets addresses that no page has for the rest, and refuses.
func (m *Admin) pages() {
	q, d := &m.Q.MR, &m.D.MR
	switch {
	case q.Left == 0:
		m.D.State = mrResult
	case q.Chunk == 0 && !q.Bad:
		if !m.Read.Ready() {
			return
		}
		n := min(Chunk, q.Left*pageEntry)
		m.Read.Put(port.ReadReq{Addr: q.List, Len: n})
		d.List = q.List + port.BusAddr(n)
		d.Chunk = uint16((n + port.BeatBytes - 1) / port.BeatBytes)
	case m.MRPages.Ready() && (q.Bad || m.Data.Valid()):
		n := min(port.BeatBytes/pageEntry, q.Left)
		d.Left = q.Left - n
		b := port.Beat{Len: uint8(n * pageEntry), Last: d.Left == 0}
		if !q.Bad {
			in := m.Data.Take()
			b.Data, d.Bad = in.Data, in.Err
			d.Chunk = q.Chunk - 1
		}
		if d.Bad {
			for i := range b.Data {
				b.Data[i] = 0xff
			}
		}
		m.MRPages.Put(b)
	}
}

// mrResult takes mpt's answer, which comes when nothing uses any more what has ended. The
// end of a QP's windows can't fail.
func (m *Admin) mrResult() {
	op := m.Q.Cmd.Op
	ofQP := op == abi.AdminModifyQP || op == abi.AdminDestroyQP
	switch {
	case !m.MRRes.Valid(), ofQP && !m.QP.Ready():
		return
	case ofQP:
		m.MRRes.Take()
		m.endQP()
		return
	}
	r := m.MRRes.Take()
	if m.Q.MR.Bad {
		m.end(abi.AdminDMAError, abi.SynPageList)
		return
	}
	m.end(r.Status, abi.AdminSyndrome(r.Syndrome))
}
