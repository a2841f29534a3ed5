#!/bin/sh
# shot.sh WAVES.vcd VIEW.gtkw PICTURE.png: what GTKWave shows of a run, without a screen.
# Needs gtkwave, xvfb and xauth. GTKWave's messages go to standard error.
set -eu
folder=$(dirname "$1")
vcd=$(basename "$1")
view=$(realpath "$2")
picture=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cat >"$dir/rc" <<'RC'
splash_disable 1
hide_sst 1
left_justify_sigs 1
fontname_signals Monospace 9
fontname_waves Monospace 9
fill_waveform 1
color_back 101418
color_grid 28323a
color_x 5a646c
color_xfill 1c2328
color_high 7fd18b
color_low 4f8f5a
color_trans 7fd18b
color_vbox 5fb3d9
color_vtrans 5fb3d9
color_value ffffff
color_string ffe08a
color_mark e06c75
color_baseline 8090a0
RC
cat >"$dir/shot.tcl" <<TCL
after 300
gtkwave::nop
gtkwave::/File/Grab_To_File {$dir/shot.png}
gtkwave::/File/Quit
TCL
(cd "$folder" && NO_AT_BRIDGE=1 xvfb-run -a -s '-screen 0 1640x1000x24' gtkwave -r "$dir/rc" -S "$dir/shot.tcl" -a "$view" "$vcd") >"$dir/log" 2>&1 || true
grep -avE '^$|GTKWave Analyzer|(start|end) time\.|Executing Tcl|Filename |^Exiting' "$dir/log" >&2 || true
test -s "$dir/shot.png" || { echo "shot.sh: GTKWave made no picture" >&2; exit 1; }
mv "$dir/shot.png" "$picture"
