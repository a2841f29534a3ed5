// A register slice of two places: full rate, and valid, ready and head are
// functions of present state alone. The same slice as an hdl stream of depth 2.
module slice #(parameter M = 47) (
  input clk,
  input put, output ready, input [511:0] d, input [M-1:0] m,
  output reg valid, input take, output reg [511:0] hd, output reg [M-1:0] hm);

  reg full = 0;
  reg [511:0] kd = 0;
  reg [M-1:0] km = 0;
  initial begin valid = 0; hd = 0; hm = 0; end

  assign ready = !full;

  always @(posedge clk)
    if (take || !valid) begin
      if (full) begin
        hd <= kd; hm <= km; full <= 0;
      end else begin
        valid <= put;
        if (put) begin hd <= d; hm <= m; end
      end
    end else if (put) begin
      full <= 1; kd <= d; km <= m;
    end
endmodule

// A FIFO of 16 places, the same as an hdl stream of depth 16.
module fifo16 #(parameter M = 47) (
  input clk,
  input put, output ready, input [511:0] d, input [M-1:0] m,
  output valid, input take, output [511:0] hd, output [M-1:0] hm,
  output reg [4:0] level);

  reg [511:0] dmem [0:15];
  reg [M-1:0] mmem [0:15];
  reg [3:0] wp = 0, rp = 0;
  integer i;
  initial begin
    level = 0;
    for (i = 0; i < 16; i = i + 1) begin dmem[i] = 0; mmem[i] = 0; end
  end

  assign ready = level != 16;
  assign valid = level != 0;
  assign hd = dmem[rp];
  assign hm = mmem[rp];

  always @(posedge clk) begin
    if (put) begin dmem[wp] <= d; mmem[wp] <= m; wp <= wp + 1; end
    if (take) rp <= rp + 1;
    level <= level + {4'd0, put} - {4'd0, take};
  end
endmodule
