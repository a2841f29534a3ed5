package image

import (
	"archive/tar"
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// meta depends on the newest kernel. The one for clouds has no Soft-RoCE.
const meta = "linux-image-amd64"

// roots are the modules that the guest needs; what they depend on comes along.
var roots = []string{"virtio_pci", "virtio_net", "crc32-pclmul", "rdma_rxe", "ib_uverbs"}

// kernel is the ELF kernel and the modules in the order in which they load.
type kernel struct {
	vmlinux string
	order   []string
	modules map[string][]byte
}

// fetch puts the kernel's package into the cache, unless it is there, and returns
// its path.
func fetch(cache string) (string, error) {
	out, err := exec.Command("apt-cache", "depends", meta).Output()
	name := ""
	for _, w := range strings.Fields(string(out)) {
		if strings.HasPrefix(w, "linux-image-") && w != meta {
			name = w
			break
		}
	}
	if name == "" {
		return "", fmt.Errorf("apt knows no %s (apt-get update?): %v", meta, err)
	}
	pattern := filepath.Join(cache, name+"_*.deb")
	if found, _ := filepath.Glob(pattern); len(found) > 0 {
		return found[0], nil
	}
	cmd := exec.Command("apt-get", "-q", "download", name)
	cmd.Dir = cache
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("apt-get download %s: %w: %s", name, err, bytes.TrimSpace(out))
	}
	found, _ := filepath.Glob(pattern)
	if len(found) == 0 {
		return "", fmt.Errorf("apt-get download left no %s", pattern)
	}
	return found[0], nil
}

// unpack takes kernel and modules out of a package.
func unpack(deb, cache string) (*kernel, error) {
	cmd := exec.Command("dpkg-deb", "--fsys-tarfile", deb)
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	var boot []byte
	all := map[string][]byte{}
	for r := tar.NewReader(pipe); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", deb, err)
		}
		base := filepath.Base(h.Name)
		switch {
		case strings.HasPrefix(base, "vmlinuz-"):
			boot, err = io.ReadAll(r)
		case strings.HasSuffix(base, ".ko") && wanted(h.Name):
			all[module(base)], err = io.ReadAll(r)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", deb, err)
		}
	}
	if err := cmd.Wait(); err != nil {
		return nil, fmt.Errorf("%s: %w", deb, err)
	}
	k := &kernel{vmlinux: filepath.Join(cache, "vmlinux"), modules: map[string][]byte{}}
	for _, m := range roots {
		if err := k.load(module(m), all); err != nil {
			return nil, err
		}
	}
	return k, k.decompress(boot)
}

// wanted tells whether a module is in a folder that the roots draw from.
func wanted(path string) bool {
	for _, d := range []string{
		"/drivers/infiniband/", "/drivers/virtio/", "/drivers/net/", "/net/core/", "/net/ipv4/", "/net/ipv6/", "/crypto/",
		"/lib/", "/fs/configfs/",
	} {
		if strings.Contains(path, d) && !strings.Contains(path, "/drivers/infiniband/hw/") && !strings.Contains(path, "/net/ethernet/") {
			return true
		}
	}
	return false
}

// module is the name of a module as others name it.
func module(file string) string {
	return strings.ReplaceAll(strings.TrimSuffix(file, ".ko"), "-", "_")
}

// load enters a module behind those that it depends on.
func (k *kernel) load(name string, all map[string][]byte) error {
	if k.modules[name] != nil {
		return nil
	}
	data, ok := all[name]
	if !ok {
		return fmt.Errorf("the kernel's package has no module %s", name)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	info, err := f.Section(".modinfo").Data()
	if err != nil {
		return fmt.Errorf("module %s: %w", name, err)
	}
	for _, field := range strings.Split(string(info), "\x00") {
		for _, key := range []string{"depends=", "softdep=pre: "} {
			list, ok := strings.CutPrefix(field, key)
			if !ok {
				continue
			}
			for _, d := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
				if _, known := all[module(d)]; known {
					if err := k.load(module(d), all); err != nil {
						return err
					}
				}
			}
		}
	}
	k.modules[name] = data
	k.order = append(k.order, name)
	return nil
}

// decompress writes the ELF kernel that a boot image has inside: its offset and
// size are in the setup header (Linux, Documentation/x86/boot.rst).
func (k *kernel) decompress(boot []byte) error {
	if len(boot) < 0x250 || string(boot[0x202:0x206]) != "HdrS" {
		return fmt.Errorf("the kernel's package has no boot image")
	}
	le := binary.LittleEndian
	from := (uint64(boot[0x1f1])+1)*512 + uint64(le.Uint32(boot[0x248:]))
	to := from + uint64(le.Uint32(boot[0x24c:]))
	if to > uint64(len(boot)) {
		return fmt.Errorf("the boot image is cut short")
	}
	out, err := os.Create(k.vmlinux)
	if err != nil {
		return err
	}
	defer out.Close()
	cmd := exec.Command("xz", "-dc", "--single-stream")
	cmd.Stdin, cmd.Stdout = bytes.NewReader(boot[from:to]), out
	err = cmd.Run() // complains of the size that the kernel appends
	if s, e := out.Stat(); e != nil || s.Size() < 16<<20 {
		return fmt.Errorf("the kernel in the boot image is not packed by xz: %v", err)
	}
	return out.Close()
}
