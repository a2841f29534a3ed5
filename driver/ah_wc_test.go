package driver_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"rnic/abi"
	"rnic/driver"
)

var received = driver.WC{Opcode: abi.WCRecv, Flags: abi.CQEGRH, ByteLen: 40}

// Only the completion of a datagram to an address of the port leads back.
func TestAHAttrFromWCRefuses(t *testing.T) {
	p := datagrams(t)
	six := p.m.grh(&abi.AV{DGID: addr16("fe80::1"), UDPSPort: 0xc000})
	four := p.m.grh(&abi.AV{DGID: addr16("::ffff:10.0.0.1"), SGIDIndex: 1})
	for name, c := range map[string]struct {
		wc   driver.WC
		grh  []byte
		want error
	}{
		"failed":       {driver.WC{Opcode: abi.WCRecv, Flags: abi.CQEGRH, Status: abi.StatusWRFlush}, six, driver.ErrInvalid},
		"a send":       {driver.WC{Flags: abi.CQEGRH}, six, driver.ErrInvalid},
		"no GRH":       {driver.WC{Opcode: abi.WCRecv}, six, driver.ErrInvalid},
		"short":        {received, six[:39], driver.ErrInvalid},
		"no header":    {received, make([]byte, 40), driver.ErrInvalid},
		"foreign IPv6": {received, p.m.grh(&abi.AV{DGID: addr16("fe80::9")}), driver.ErrNotFound},
		"foreign IPv4": {received, p.m.grh(&abi.AV{DGID: addr16("::ffff:10.0.0.9"), SGIDIndex: 1}), driver.ErrNotFound},
	} {
		_, err := p.dev.AHAttrFromWC(&c.wc, c.grh)
		require.ErrorIs(t, err, c.want, name)
		_, err = p.pd.CreateAHFromWC(&c.wc, c.grh, mac2)
		require.ErrorIs(t, err, c.want, name)
	}
	_, err := p.dev.AHAttrFromWC(nil, six)
	require.ErrorIs(t, err, driver.ErrInvalid)
	_, err = p.pd.CreateAHFromWC(nil, nil, mac2)
	require.ErrorIs(t, err, driver.ErrInvalid)
	for _, grh := range [][]byte{six, four} {
		_, err := p.dev.AHAttrFromWC(&received, append(grh, 1, 2, 3))
		require.NoError(t, err)
	}
	six[20] = 0x45 // as an IPv4 header begins, but the checksum of one is not there
	a, err := p.dev.AHAttrFromWC(&received, six)
	require.NoError(t, err)
	require.Equal(t, addr16("fe80::4500:1"), a.DGID)
}

func FuzzAHAttrFromWC(f *testing.F) {
	p := datagrams(f)
	f.Add(p.m.grh(&abi.AV{DGID: addr16("fe80::1")}), uint8(1))
	f.Add(p.m.grh(&abi.AV{DGID: addr16("::ffff:10.0.0.1"), SGIDIndex: 1}), uint8(1))
	f.Fuzz(func(t *testing.T, grh []byte, flags uint8) {
		wc := received
		wc.Flags = abi.CQEFlags(flags)
		a, err := p.dev.AHAttrFromWC(&wc, grh)
		if err == nil {
			require.Less(t, a.SGIDIndex, 2)
			require.NotEqual(t, 3, int(a.TrafficClass&3))
		}
	})
}
