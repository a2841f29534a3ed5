// Runs the model by commands on standard input, one a line:
//
//   run ACTIVE CYCLES   run on; answers nanoseconds of processor time, count and checksum
//   probe ACTIVE CYCLES run on; answers a line a cycle: count, checksum, slices, levels
//   dump FILE           trace from here on, to the file
#include "Vnic.h"
#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Waves = VerilatedFstC;
#elif VM_TRACE
#include "verilated_vcd_c.h"
using Waves = VerilatedVcdC;
#endif
#include <cinttypes>
#include <cstdio>
#include <ctime>

int main() {
  VerilatedContext context;
#if VM_TRACE
  context.traceEverOn(true);
#endif
  Vnic nic{&context};
#if VM_TRACE
  Waves waves;
  bool tracing = false;
#endif
  uint64_t time = 0;
  nic.clk = 0;
  nic.eval();

  char line[1024], word[16], file[1000];
  unsigned active;
  long cycles;
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "dump %999[^\n]", file) == 1) {
#if VM_TRACE
      nic.trace(&waves, 99);
      waves.open(file);
      tracing = true;
#endif
      continue;
    }
    if (sscanf(line, "%15s %u %ld", word, &active, &cycles) != 3) return 1;
    nic.active = active;
    nic.eval();
    clock_t start = clock();
    for (long i = 0; i < cycles; i++) {
      nic.clk = 1;
      nic.eval();
#if VM_TRACE
      if (tracing) waves.dump(time);
#endif
      time += 2;
      nic.clk = 0;
      nic.eval();
#if VM_TRACE
      if (tracing) waves.dump(time - 1);
#endif
#ifdef PROBE
      if (word[0] == 'p')
        printf("%" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", nic.count, (uint64_t)nic.check, (uint64_t)nic.slices, (uint64_t)nic.levels);
#endif
    }
    int64_t took = (int64_t)(clock() - start) * (1000000000 / CLOCKS_PER_SEC);
    if (word[0] == 'r') printf("%" PRId64 " %" PRIu32 " %" PRIu64 "\n", took, nic.count, (uint64_t)nic.check);
    fflush(stdout);
  }
#if VM_TRACE
  if (tracing) waves.close();
#endif
  nic.final();
}
