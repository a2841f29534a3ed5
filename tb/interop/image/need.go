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

// Missing is an error that names the packages that must be installed first, nil if
// there are none.
func Missing() error {
	if list := missing(); len(list) > 0 {
		return fmt.Errorf("these packages of Debian 12 are not installed: %s", strings.Join(list, " "))
	}
	return nil
}

// Install installs them, as root or by sudo.
func Install() error {
	list := missing()
	if len(list) == 0 {
		return nil
	}
	args := append([]string{"apt-get", "-o", "DPkg::Lock::Timeout=400", "install", "-y", "--no-install-recommends"}, list...)
	if os.Getuid() != 0 {
		args = append([]string{"sudo"}, args...)
	}
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	return cmd.Run()
}

func missing() (list []string) {
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
	for _, p := range append(Packages, "apt", "dpkg") {
		if missing[p] {
			list = append(list, p)
		}
	}
	return list
}
