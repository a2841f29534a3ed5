package pcie

// Endpoint is a device as the host side sees it: the boundary between the NIC
// and a root complex, be it the test bench's, a vfio-user server's or that of a
// machine emulator. No method blocks; those that may have to wait return false
// and are called again later. All are called from one goroutine.
//
// Order is that of PCIe (2.4): BARWrites take effect in call order and before
// any later BARRead; what Send returns is in the order in which the device made
// it, posted writes never passed by what came after them. So a completion of a
// BARRead pushes the DMA writes before it, and an MSI-X message its completions.
type Endpoint interface {
	// ConfigRead returns n bytes (1, 2 or 4, naturally aligned) of configuration
	// space at off, little-endian; all ones if there is no such register.
	ConfigRead(off uint16, n int) uint32

	// ConfigWrite writes n bytes of configuration space. What is read-only, or
	// not there, is left as it is.
	ConfigWrite(off uint16, n int, v uint32)

	// BARWrite writes 1 to 64 bytes at offset off of BAR 0, not across a multiple
	// of 64. It is posted: true says accepted, and there is no other answer. A
	// write to an offset that takes none is accepted and counted by the device.
	BARWrite(off uint64, b []byte) bool

	// BARRead asks for n bytes (4 or 8, naturally aligned) at offset off of BAR
	// 0. True says accepted; exactly one completion with that tag comes from Send
	// later: CplD, or Cpl with UnsupportedRequest. The tag must not be in use.
	BARRead(tag Tag, off uint64, n int) bool

	// Send moves the next beat of what the device sends into b: MWr and MRd of
	// its DMA with host bus addresses, MSI-X messages (MWr to the address that
	// the host put into the MSI-X table), completions of BARRead. False: nothing
	// now. Beats of one TLP come one after the other, none of another between.
	Send(b *Beat) bool

	// Receive gives the device one beat of a completion (Cpl or CplD) for an MRd
	// that came from Send. True says accepted. Completions of one request come in
	// the order of addresses; those of different requests in any order. One that
	// answers no outstanding request is counted by the device and ignored.
	Receive(b *Beat) bool

	// Reset is a function level reset: configuration space and all registers as
	// at power-on, no request outstanding; completions that still arrive are
	// ignored. A second Reset changes nothing.
	Reset()
}
