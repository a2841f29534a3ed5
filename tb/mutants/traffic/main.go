// Command traffic runs the random traffic that a fault must not survive: a short list
// of seeds, up to the first that fails.
package main

import (
	"fmt"
	"os"
	"strconv"

	"rnic/tb/random"
)

// runs are those without arguments.
const runs = 40

func main() {
	var seeds []uint64
	for s := uint64(1); s <= runs; s++ {
		seeds = append(seeds, s)
	}
	if len(os.Args) > 1 {
		seeds = nil
	}
	for _, a := range os.Args[1:] {
		n, err := strconv.ParseUint(a, 10, 64)
		if err != nil {
			fmt.Fprintln(os.Stderr, "traffic:", err)
			os.Exit(2)
		}
		seeds = append(seeds, n)
	}
	for _, s := range seeds {
		if _, err := random.Run(s, random.Options{}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}
