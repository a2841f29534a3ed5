package console

import (
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"strings"

	"rnic/abi"
	"rnic/driver"
	"rnic/roce"
	"rnic/tb/host"
)

// BufferSize is the bytes of the buffer.
const BufferSize = 4 << 20

const (
	cqEntries = 4096
	depth     = 128 // work requests of a queue
	remote    = abi.AccessLocalWrite | abi.AccessRemoteWrite | abi.AccessRemoteRead | abi.AccessRemoteAtomic
)

// Console is an open device and the objects of its user.
type Console struct {
	bus *host.Bus
	dev *driver.Device
	pd  *driver.PD
	cq  *driver.CQ
	buf *driver.Buffer
	all *driver.MR
	mrs map[int]*driver.MR
	qps map[int]*queuePair
	srq map[int]*driver.SRQ
	ahs map[int]*driver.AH
	mws map[int]*driver.MW
}

// Open opens the device and makes domain, completion queue, buffer and a region of
// all of it that peers may read and write.
func Open(bus *host.Bus, cfg driver.Config) (*Console, error) {
	c := &Console{
		bus: bus, mrs: map[int]*driver.MR{}, qps: map[int]*queuePair{},
		srq: map[int]*driver.SRQ{}, ahs: map[int]*driver.AH{}, mws: map[int]*driver.MW{},
	}
	var err error
	if c.dev, err = driver.Open(bus, cfg); err != nil {
		return nil, err
	}
	if c.pd, err = c.dev.AllocPD(); err != nil {
		return nil, err
	}
	if c.cq, err = c.dev.CreateCQ(cqEntries, driver.CQOptions{}); err != nil {
		return nil, err
	}
	if c.buf, err = c.dev.AllocBuffer(BufferSize, 0); err != nil {
		return nil, err
	}
	c.all, err = c.pd.RegMR(c.buf, remote|abi.AccessMWBind)
	return c, err
}

// Do executes a line and returns the answer.
func (c *Console) Do(line string) string {
	a := parse(line)
	out, err := c.run(a)
	if a.err != nil {
		err = a.err
	}
	if err != nil {
		return "! " + strings.ReplaceAll(err.Error(), "\n", " ")
	}
	if out == "" {
		out = "ok"
	}
	return "= " + out
}

func (c *Console) run(a *args) (string, error) {
	switch a.verb {
	case "info":
		cfg := &c.dev.Config
		return fmt.Sprintf("addr=%#x len=%d rkey=%#x mac=%s gid0=%s gid1=%s", c.all.Addr, BufferSize, uint32(c.all.RKey),
			roce.MAC(cfg.MAC), roce.GID(cfg.GID), roce.GIDFromIPv4(cfg.IPv4)), nil
	case "fill", "sum", "put", "get":
		return c.memory(a)
	case "mr", "dereg":
		return c.region(a)
	case "qp":
		return c.create(a)
	case "srq", "srecv", "slimit", "sleft", "sdel":
		return c.shared(a)
	case "ah", "ahdel":
		return c.handle(a)
	case "mw", "mwdel":
		return c.window(a)
	case "events":
		return c.events()
	case "poll":
		return c.poll(a)
	case "count":
		return c.count(a)
	}
	q := c.qps[a.id]
	if q == nil {
		return "", fmt.Errorf("%s: no such command, or no queue pair %d", a.verb, a.id)
	}
	return c.onQP(a, q)
}

// Pattern writes the bytes that a seed decides.
func Pattern(b []byte, seed uint32) {
	for i := range b {
		b[i] = byte((uint32(i)*2654435761 ^ seed*40503) >> 13)
	}
}

// Sum is FNV-1a of 64 bits.
func Sum(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b) // never fails
	return h.Sum64()
}

// memory executes what touches the buffer alone.
func (c *Console) memory(a *args) (string, error) {
	off, n := a.length("off", 0), a.length("len", 0)
	data, err := hex.DecodeString(a.kv["hex"])
	if err != nil {
		return "", fmt.Errorf("hex: %w", err)
	}
	if a.verb == "put" {
		n = len(data)
	}
	if off+n > BufferSize {
		return "", fmt.Errorf("%d bytes at %d of a buffer of %d", n, off, BufferSize)
	}
	b := make([]byte, n)
	switch a.verb {
	case "fill":
		Pattern(b, uint32(a.num("seed", 0)))
		_, err = c.buf.WriteAt(b, int64(off))
		return "", err
	case "put":
		_, err = c.buf.WriteAt(data, int64(off))
		return "", err
	}
	if _, err := c.buf.ReadAt(b, int64(off)); err != nil && n > 0 {
		return "", err
	}
	if a.verb == "get" {
		return hex.EncodeToString(b), nil
	}
	return fmt.Sprintf("%016x", Sum(b)), nil
}

// region registers a part of the buffer, or ends that.
func (c *Console) region(a *args) (string, error) {
	if a.verb == "dereg" {
		m := c.mrs[a.id]
		if m == nil {
			return "", fmt.Errorf("no region %d", a.id)
		}
		return "", gone(c.mrs, a.id, m.Dereg())
	}
	m, err := c.pd.RegMRRange(c.buf, a.length("off", 0), a.length("len", BufferSize), access(a.kv["access"]))
	if err != nil {
		return "", err
	}
	c.mrs[a.id] = m
	return fmt.Sprintf("addr=%#x rkey=%#x", m.Addr, uint32(m.RKey)), nil
}

// access is what the letters allow, and local write.
func access(letters string) abi.AccessFlags {
	f := abi.AccessLocalWrite
	for letter, bit := range map[string]abi.AccessFlags{
		"r": abi.AccessRemoteRead, "w": abi.AccessRemoteWrite, "a": abi.AccessRemoteAtomic,
	} {
		if strings.Contains(letters, letter) {
			f |= bit
		}
	}
	return f
}

// count reads a counter by its name.
func (c *Console) count(a *args) (string, error) {
	for n := range abi.Counter(abi.NumCounters) {
		if n.String() == a.kv["word"] {
			v, err := c.dev.Counter(n)
			return fmt.Sprint(v), err
		}
	}
	return "", fmt.Errorf("no counter %q", a.kv["word"])
}

// Program opens the device on a thread of a station and returns it and what executes
// a line. Without a device every line is answered by why there is none.
func Program(bus *host.Bus, cfg driver.Config) (*driver.Device, func(string) string) {
	c, err := Open(bus, cfg)
	if err != nil {
		return nil, func(string) string { return "! " + err.Error() }
	}
	return c.dev, c.Do
}
