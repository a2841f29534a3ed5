// The blocks. Each ends in the slice that registers its output. The sideband m of
// a beat is {seq[31:0], index[9:0], queue[3:0], last}.

module source (
  input clk, input [10:0] active,
  output valid, input take, output [511:0] hd, output [46:0] hm);

  reg [63:0] x = 64'h9E3779B97F4A7C15;
  reg [31:0] seq = 0;
  reg [9:0] phase = 0;
  wire ready;
  wire [63:0] x1 = x ^ (x << 13);
  wire [63:0] x2 = x1 ^ (x1 >> 7);
  wire [63:0] xn = x2 ^ (x2 << 17);
  wire run = {1'b0, phase} < active && ready;
  wire put = run && xn[2:0] != 0;

  always @(posedge clk) begin
    phase <= phase + 1;
    if (run) x <= xn;
    if (put) seq <= seq + 1;
  end

  slice s (clk, put, ready,
    {xn[7:0], xn[63:8], xn[15:0], xn[63:16], xn[23:0], xn[63:24], xn[31:0], xn[63:32],
     xn[39:0], xn[63:40], xn[47:0], xn[63:48], xn[55:0], xn[63:56], xn},
    {seq, xn[45:36], xn[35:32], xn[50:48] == 3'd0},
    valid, take, hd, hm);
endmodule

// Round robin over 16 requests, beginning behind the last grant.
module arbiter (
  input clk, input [15:0] req, input take,
  output any, output [3:0] grant);

  reg [3:0] last = 15;
  wire [3:0] base = last + 4'd1;
  wire [31:0] turned = {req, req} >> base;
  reg [3:0] off;
  integer i;
  always @* begin
    off = 0;
    for (i = 15; i >= 0; i = i - 1) if (turned[i]) off = i[3:0];
  end
  assign any = req != 0;
  assign grant = base + off;
  always @(posedge clk) if (take) last <= grant;
endmodule

module stage #(parameter N = 0) (
  input clk,
  input v, output t, input [511:0] d, input [46:0] m,
  output valid, input take, output [511:0] hd, output [46:0] hm);

  localparam W = 64 * (N % 8);
  localparam [63:0] K = 64'h9E3779B97F4A7C15 * (N + 1);
  wire ready;
  assign t = v && ready;
  wire [63:0] x = d[W +: 64] ^ {m[46:15], 18'd0, m[14:1]};
  reg [511:0] nd;
  always @* begin
    nd = d;
    nd[W +: 64] = {x[62-N:0], x[63:63-N]} + K;
  end
  slice s (clk, t, ready, nd, m, valid, take, hd, hm);
endmodule

// 1024 lines of 256 bits, write-first: a cycle to read, one to modify and write.
module context_ram (
  input clk,
  input v, output t, input [511:0] d, input [46:0] m,
  output valid, input take, output [511:0] hd, output [46:0] hm);

  reg [255:0] mem [0:1023];
  reg held = 0;
  reg [511:0] ad = 0;
  reg [46:0] am = 0;
  reg [255:0] q = 0;
  integer i;
  initial for (i = 0; i < 1024; i = i + 1) mem[i] = 0;

  wire ready;
  wire put = held && ready;
  assign t = v && (!held || put);

  wire [31:0] psn = q[31:0] + 1;
  wire [31:0] bytes = q[63:32] + 64;
  wire [63:0] hash = {q[126:64], q[127]} ^ ad[63:0];
  wire [63:0] sum = q[191:128] + {32'd0, am[46:15]};
  wire [63:0] xy = q[127:64] ^ ad[511:448];
  wire [255:0] line = {xy, sum, hash, bytes, psn};

  always @(posedge clk) begin
    if (put) mem[am[14:5]] <= line;
    if (put || !held) held <= v;
    if (t) begin
      ad <= d;
      am <= m;
      q <= put && am[14:5] == m[14:5] ? line : mem[m[14:5]];
    end
  end

  slice s (clk, put, ready, {ad[511:448] ^ hash, ad[447:0]}, {psn, am[14:0]}, valid, take, hd, hm);
endmodule

// Behind it the sideband is {crc[31:0], seq[31:0]}.
module crc #(parameter CRC = 1) (
  input clk,
  input v, output t, input [511:0] d, input [46:0] m,
  output valid, input take, output [511:0] hd, output [63:0] hm);

`include "crc512.vh"
  reg [31:0] register = 32'hffffffff;
  wire ready;
  assign t = v && ready;
  // Nothing is computed for a beat that is not there: that is twice as fast at light load.
  reg [31:0] next;
  always @*
    if (!t) next = 0;
    else if (CRC != 0) next = crc512(register, d);
    else next = register ^ d[31:0];
  always @(posedge clk) if (t) register <= m[0] ? 32'hffffffff : next;
  slice #(64) s (clk, t, ready, d, {next, m[46:15]}, valid, take, hd, hm);
endmodule

module sink (
  input clk,
  input v, output t, input [511:0] d, input [63:0] m,
  output reg [63:0] check, output reg [31:0] count);

  reg [31:0] y = 32'h12345678;
  wire [31:0] y1 = y ^ (y << 13);
  wire [31:0] y2 = y1 ^ (y1 >> 17);
  wire [31:0] yn = y2 ^ (y2 << 5);
  initial begin check = 0; count = 0; end
  assign t = v && y[1:0] != 0;

  always @(posedge clk) if (v) begin
    y <= yn;
    if (t) begin
      count <= count + 1;
      check <= {check[62:0], check[63]} ^ m
        ^ d[63:0] ^ d[127:64] ^ d[191:128] ^ d[255:192]
        ^ d[319:256] ^ d[383:320] ^ d[447:384] ^ d[511:448];
    end
  end
endmodule
