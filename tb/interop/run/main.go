// Command run is the matrix of the model against Linux's Soft-RoCE in a virtual
// machine: one line a case, and how many passed.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"time"

	"github.com/alecthomas/kong"

	"rnic/tb/interop"
	"rnic/tb/interop/image"
)

type cli struct {
	Out  string `default:"out/interop" help:"Folder for the guest's image and what the run leaves: captures and the recording."`
	Run  string `help:"Only the cases that this regular expression matches."`
	Cut  bool   `help:"Cut the wire out of the model: every case must fail."`
	List bool   `help:"Only name the cases."`
	Inst bool   `name:"install" help:"Install the packages of Debian that are missing."`
}

func main() {
	var c cli
	kong.Parse(&c, kong.Name("interop"), kong.Description("The model against Linux's Soft-RoCE in QEMU."))
	if err := c.run(); err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
}

func (c *cli) run() error {
	only, err := regexp.Compile(c.Run)
	if err != nil {
		return err
	}
	var cases []interop.Case
	for _, k := range interop.Matrix() {
		if only.MatchString(k.Name) {
			cases = append(cases, k)
			if c.List {
				fmt.Println(k.Name)
			}
		}
	}
	if c.List {
		return nil
	}
	if c.Inst {
		if err := image.Install(); err != nil {
			return err
		}
	}
	img, err := image.Build(c.Out)
	if err != nil {
		return err
	}
	out, err := filepath.Abs(c.Out)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	lab, err := interop.Start(ctx, img, out)
	if err != nil {
		return err
	}
	if c.Cut {
		lab.Cut()
	}
	passed, failed := 0, 0
	for _, k := range cases {
		began := time.Now()
		err := lab.Run(k)
		verdict, why := "ok  ", ""
		switch {
		case err != nil:
			verdict, why = "FAIL", "\n     "+err.Error()
			failed++
		default:
			passed++
		}
		fmt.Printf("%s %-48s %6.2f s%s\n", verdict, k.Name, time.Since(began).Seconds(), why)
		if ctx.Err() != nil {
			break
		}
	}
	if err = lab.Close(); err == nil {
		err = check(filepath.Join(out, "sent.pcapng"))
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		return fmt.Errorf("%d cases failed", failed)
	}
	return err
}

// check judges the capture of all cases.
func check(capture string) error {
	packets, by, err := interop.Check(capture)
	if err == nil {
		fmt.Printf("capture: %d RoCE packets, none malformed, every ICRC right (%s)\n", packets, by)
	}
	return err
}
