package image

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Image is what QEMU boots.
type Image struct{ Kernel, Initrd string }

// tools are the programs of the guest, beside busybox and the agent.
var tools = []string{
	"rdma", "ibv_devinfo", "ibv_rc_pingpong", "ibv_uc_pingpong", "ibv_ud_pingpong", "ibv_srq_pingpong",
	"ib_send_bw", "ib_write_bw", "ib_read_bw", "ib_atomic_bw", "ib_send_lat", "ib_write_lat",
}

// Build makes an image in a folder of its own.
func Build(cache string) (Image, error) {
	var i Image
	if err := Missing(); err != nil {
		return i, err
	}
	if err := os.MkdirAll(cache, 0o777); err != nil {
		return i, err
	}
	deb, err := fetch(cache)
	if err != nil {
		return i, err
	}
	k, err := unpack(deb, cache)
	if err != nil {
		return i, err
	}
	i = Image{Kernel: k.vmlinux, Initrd: filepath.Join(cache, "initramfs.cpio")}
	agent := filepath.Join(cache, "agent")
	source := filepath.Join(cache, "agent.c")
	if err := os.WriteFile(source, agentSource, 0o666); err != nil {
		return i, err
	}
	if out, err := exec.Command("gcc", "-O2", "-Wall", "-Werror", "-o", agent, source, "-libverbs").CombinedOutput(); err != nil {
		return i, fmt.Errorf("gcc: %w: %s", err, out)
	}
	return i, i.root(k, agent)
}

// root writes the root file system.
func (i *Image) root(k *kernel, agent string) error {
	f, err := os.Create(i.Initrd)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	t := tree{c: cpio{w: w}, has: map[string]bool{}}
	t.file("init", 0o755, initScript)
	for _, d := range []string{"dev", "proc", "sys", "tmp", "run", "sbin"} {
		t.dir(d)
	}
	t.file("etc/passwd", 0o644, []byte("root:x:0:0:root:/:/bin/sh\n"))
	t.file("etc/hosts", 0o644, []byte("127.0.0.1 localhost\n"))
	for n, m := range k.order {
		t.file("modules/"+m+".ko", 0o644, k.modules[m])
		k.order[n] = m + ".ko\n"
	}
	t.file("modules/order", 0o644, []byte(strings.Join(k.order, "")))
	t.copy("bin/agent", agent)
	for _, name := range tools {
		path, err := exec.LookPath(name)
		if err != nil {
			return err
		}
		t.copy("bin/"+name, path)
	}
	t.verbs()
	t.busybox()
	if t.err != nil {
		return t.err
	}
	if err := t.c.close(); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

// tree is a file system being written.
type tree struct {
	c   cpio
	has map[string]bool
	err error
}

func (t *tree) dir(name string) {
	if name == "." || t.has[name] {
		return
	}
	t.dir(filepath.Dir(name))
	t.has[name] = true
	t.c.add(name, typeDir|0o755, nil)
}

func (t *tree) file(name string, mode int, data []byte) {
	if !t.has[name] {
		t.dir(filepath.Dir(name))
		t.has[name] = true
		t.c.add(name, typeFile|mode, data)
	}
}

// copy adds a file of this machine and the libraries that it is linked with.
func (t *tree) copy(name, path string) {
	if t.has[name] || t.err != nil {
		return
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.err = err
		return
	}
	t.file(name, 0o755, data)
	out, _ := exec.Command("ldd", path).Output() // fails for what is linked statically
	for _, w := range strings.Fields(string(out)) {
		if strings.HasPrefix(w, "/") {
			t.copy(strings.TrimPrefix(w, "/"), w)
		}
	}
}

// verbs adds the Soft-RoCE provider of libibverbs, which looks for it by name.
func (t *tree) verbs() {
	t.file("etc/libibverbs.d/rxe.driver", 0o644, []byte("driver rxe\n"))
	found, _ := filepath.Glob("/usr/lib/*/libibverbs/librxe-rdmav*.so")
	if len(found) == 0 {
		t.err = fmt.Errorf("ibverbs-providers has no Soft-RoCE provider")
		return
	}
	for _, p := range found {
		t.copy(strings.TrimPrefix(p, "/"), p)
	}
}

// busybox adds the shell and what it calls, but for what is there already.
func (t *tree) busybox() {
	t.copy("bin/busybox", "/bin/busybox")
	out, err := exec.Command("/bin/busybox", "--list").Output()
	if err != nil && t.err == nil {
		t.err = err
	}
	for _, a := range strings.Fields(string(out)) {
		if !t.has["bin/"+a] {
			t.c.add("bin/"+a, typeLink|0o777, []byte("busybox"))
		}
	}
}
