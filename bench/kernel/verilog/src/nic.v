// The top. `slices` and `levels` say how full every slice and FIFO is; they exist
// only to be compared, with PROBE.
module nic #(parameter CRC = 1) (
  input clk, input [10:0] active,
`ifdef PROBE
  output [39:0] slices, output [39:0] levels,
`endif
  output [63:0] check, output [31:0] count);

  genvar g;

  // Source and demultiplexer.
  wire xv, xt;
  wire [511:0] xd;
  wire [46:0] xm;
  source src (clk, active, xv, xt, xd, xm);

  wire [7:0] ready, valid, put, take;
  wire [4:0] level [0:7];
  wire [511:0] fd [0:7];
  wire [46:0] fm [0:7];
  assign xt = xv && ready[xm[4:2]];

  // FIFOs and arbiter.
  wire [15:0] req;
  wire any;
  wire [3:0] grant;
  wire at = any && ar;
  generate
    for (g = 0; g < 8; g = g + 1) begin : fifo
      assign put[g] = xt && xm[4:2] == g;
      assign take[g] = at && grant[3:1] == g;
      fifo16 f (clk, put[g], ready[g], xd, xm, valid[g], take[g], fd[g], fm[g], level[g]);
      assign req[2*g]   = valid[g] && !fm[g][1];
      assign req[2*g+1] = valid[g] &&  fm[g][1];
    end
  endgenerate
  arbiter arb (clk, req, at, any, grant);
  wire ar;
  slice as (clk, at, ar, fd[grant[3:1]], fm[grant[3:1]], v[0], t[0], d[0], m[0]);

  // Data path: stages 0..7, context, stages 8..15.
  wire [17:0] v, t;
  wire [511:0] d [0:17];
  wire [46:0] m [0:17];
  generate
    for (g = 0; g < 8; g = g + 1) begin : lower
      stage #(g) s (clk, v[g], t[g], d[g], m[g], v[g+1], t[g+1], d[g+1], m[g+1]);
    end
    for (g = 8; g < 16; g = g + 1) begin : upper
      stage #(g) s (clk, v[g+1], t[g+1], d[g+1], m[g+1], v[g+2], t[g+2], d[g+2], m[g+2]);
    end
  endgenerate
  context_ram ctx (clk, v[8], t[8], d[8], m[8], v[9], t[9], d[9], m[9]);

  wire cv, ct;
  wire [511:0] cd;
  wire [63:0] cm;
  crc #(CRC) sum (clk, v[17], t[17], d[17], m[17], cv, ct, cd, cm);
  sink snk (clk, cv, ct, cd, cm, check, count);

`ifdef PROBE
  assign slices = {
    sum.s.full, cv, upper[15].s.s.full, v[17], upper[14].s.s.full, v[16], upper[13].s.s.full, v[15],
    upper[12].s.s.full, v[14], upper[11].s.s.full, v[13], upper[10].s.s.full, v[12], upper[9].s.s.full, v[11],
    upper[8].s.s.full, v[10], ctx.s.full, v[9], lower[7].s.s.full, v[8], lower[6].s.s.full, v[7],
    lower[5].s.s.full, v[6], lower[4].s.s.full, v[5], lower[3].s.s.full, v[4], lower[2].s.s.full, v[3],
    lower[1].s.s.full, v[2], lower[0].s.s.full, v[1], as.full, v[0], src.s.full, xv};
  assign levels = {level[7], level[6], level[5], level[4], level[3], level[2], level[1], level[0]};
`endif
endmodule
