// Package image makes what QEMU boots as the peer of the model: Debian's kernel and
// a root file system with its Soft-RoCE driver, the verbs tools and the agent.
//
//	apt-get download linux-image ──► vmlinux (ELF: QEMU starts it without unpacking)
//	                             └─► modules ┐
//	installed packages: tools, libraries ────┼──► initramfs
//	guest/init, guest/agent.c ───────────────┘
//
// Nothing is installed. The kernel's package goes to a cache folder and is not
// fetched again. What is missing on the machine, [Missing] says.
package image
