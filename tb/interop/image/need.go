package image

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Packages are the Debian packages that an image is made of, and QEMU.
var Packages = []string{
	"qemu-system-x86", "busybox-static", "xz-utils", "iproute2", "ibverbs-utils", "ibverbs-providers",
	"libibverbs-dev", "perftest", "gcc", "libc6-dev",
}

// needs is a program or file that must be there, and the package that has it.
var needs = map[string]string{
	"qemu-system-x86_64":              "qemu-system-x86",
	"/bin/busybox":                    "busybox-static",
	"xz":                              "xz-utils",
	"rdma":                            "iproute2",
	"ibv_rc_pingpong":                 "ibverbs-utils",
	"/etc/libibverbs.d/rxe.driver":    "ibverbs-providers",
	"/usr/include/infiniband/verbs.h": "libibverbs-dev",
	"ib_send_bw":                      "perftest",
	"gcc":                             "gcc",
	"/usr/include/string.h":           "libc6-dev",
	"apt-get":                         "apt",
	"dpkg-deb":                        "dpkg",
}

// Missing names the packages that must be installed first, nil if none. It is an
// error without apt: then only a machine with Debian's packages will do.
func Missing() error {
	missing := map[string]bool{}
	for what, pkg := range needs {
		var err error
		if strings.HasPrefix(what, "/") {
			_, err = os.Stat(what)
		} else {
			_, err = exec.LookPath(what)
		}
		if err != nil {
			missing[pkg] = true
		}
	}
	var list []string
	for _, p := range append(Packages, "apt", "dpkg") {
		if missing[p] {
			list = append(list, p)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("these packages of Debian 12 are not installed: %s", strings.Join(list, " "))
}
