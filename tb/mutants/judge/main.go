// Command judge is what the faults of package mutants are shown to first: random
// traffic, then the scenario files, in one program that is soon compiled. It ends with
// the first that is not as it must be, says why, and exits with 1.
//
//	judge random [SEED ...]    with losses, and without
//	judge scenario [FILE ...]  those of the folder scenarios
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"rnic/tb/random"
	"rnic/tb/scenario"
)

// seeds are drawn when none is given: from 1 on.
const seeds = 40

// mixed is up to which of them there are QPs of all types, too.
const mixed = 15

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: judge random [SEED ...] | scenario [FILE ...]")
		os.Exit(2)
	}
	judge := map[string]func([]string) error{"random": traffic, "scenario": scenarios}[os.Args[1]]
	if judge == nil {
		fmt.Fprintf(os.Stderr, "judge: %q is neither random nor scenario\n", os.Args[1])
		os.Exit(2)
	}
	if err := judge(os.Args[2:]); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// traffic runs random traffic.
func traffic(args []string) error {
	var list []uint64
	for _, a := range args {
		n, err := strconv.ParseUint(a, 10, 64)
		if err != nil {
			return err
		}
		list = append(list, n)
	}
	if list == nil {
		for n := uint64(1); n <= seeds; n++ {
			list = append(list, n)
		}
	}
	for _, n := range list {
		for _, loss := range []bool{true, false} {
			if n <= mixed || args != nil {
				if _, err := random.Run(n, random.Options{QPs: 1, Guests: true, Loss: loss}); err != nil {
					return err
				}
			}
			if _, err := random.Run(n, random.Options{Loss: loss}); err != nil {
				return err
			}
		}
	}
	return nil
}

// scenarios runs scenario files.
func scenarios(files []string) (err error) {
	if len(files) == 0 {
		if files, err = filepath.Glob("scenarios/*.yaml"); err != nil {
			return err
		}
	}
	if len(files) == 0 {
		return errors.New("there are no scenario files")
	}
	for _, f := range files {
		s, err := scenario.Load(f)
		if err != nil {
			return err
		}
		r, err := s.Run(scenario.Options{Seed: 1})
		if err != nil {
			return fmt.Errorf("%s: %w", f, err)
		}
		for _, c := range r.Checks {
			if !c.Pass {
				return fmt.Errorf("%s:%d: %s %s: must be %s, is %s", f, c.Line, c.Group, c.What, c.Want, c.Got)
			}
		}
	}
	return nil
}
