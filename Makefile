# The commands of the project. `make run` and `make test` need Go and make only;
# what else each wants, it says.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FILE        ?=
OUT         ?= out
SEEDS       ?= 1000
FROM        ?= 1000

.PHONY: run test bench bench-kernel bench-waves figures waves docs lint soak interop mutants

run: ## send FILE (or a built-in payload) from host a to host b, with waves and captures
	$(GO) run ./cmd/rnic run --fst --pcap --out $(OUT) $(FILE)

test: ## every test
	$(GO) test -timeout 18m ./...

bench: ## goodput, message rate and latency of the NIC, in cycles
	$(GO) run ./cmd/rnic bench

figures: ## docs/img/bench: all sizes, MTUs, numbers of QPs and PCIe profiles, losses, as tables and pictures
	$(GO) run ./cmd/rnic bench --sweep --csv $(OUT)/bench
	$(GO) run ./cmd/rnic bench --loss --csv $(OUT)/bench
	mkdir -p docs/img/bench
	cp $(OUT)/bench/*.svg docs/img/bench

bench-kernel: ## the kernel against Verilator (needs verilator and a C++ compiler)
	$(GO) run ./bench/kernel/compare

bench-waves: ## waves: value changes a second and sizes, against Verilator and vcd2fst (also needs gtkwave)
	$(GO) run ./bench/kernel/compare -waves -rounds 5 -cycles 50000

waves: ## the pictures of the README (needs gtkwave, wireshark, xvfb, xauth, xdotool, imagemagick and chromium)
	bash docs/make-pictures.sh

docs: ## docs/registers.md and include/rnic_abi.h from package abi; the cycles of docs/send.md from a run
	$(GO) generate ./abi
	$(GO) test -run "TestSendDoc|TestWavesToolsDoc|TestDebuggingDoc" ./cmd/rnic -update

lint: ## gofmt, go vet, staticcheck, import rules
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "gofmt: these files are not formatted" >&2; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -run TestImports .

soak: ## random traffic: SEEDS seeds from FROM on, each without losses and with them; 40,000 adds to two words
	$(GO) test ./tb/random -run 'TestSoak$$' -v -timeout 0 -seeds=$(SEEDS) -from=$(FROM)
	$(GO) test ./tb/e2e -run 'TestAdders$$' -adds=10000

interop: ## the model against Linux's Soft-RoCE in QEMU: says what it needs, and installs that with INSTALL=1
	$(GO) run ./tb/interop/run $(if $(INSTALL),--install)

mutants: ## small faults put into the design, one at a time: the bench must catch each
	$(GO) run ./tb/mutants
