#!/bin/sh
# shot.sh WAVES.vcd VIEW.gtkw PICTURE.png [WIDTH HEIGHT]: what GTKWave shows of a run,
# without a screen. Another size shows the same stretch of time. Needs gtkwave, xvfb and
# xauth. GTKWave's messages go to standard error.
set -eu
folder=$(dirname "$1")
vcd=$(basename "$1")
picture=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
view=$dir/view.gtkw
awk -v w="${4:-0}" -v h="${5:-0}" '
	$1 == "[size]" && w > 0 { old = $2; $2 = w; $3 = h }
	{ line[NR] = $0 }
	$1 == "[signals_width]" { names = $2 + 110 }
	/^\*/ { at = NR }
	END {
		if (w > 0) { # 2^-zoom ticks go on 200 pixels
			$0 = line[at]
			$1 = sprintf("*%.6f", substr($1, 2) + log((w - names) / (old - names)) / log(2))
			line[at] = $0
		}
		for (i = 1; i <= NR; i++) print line[i]
	}' "$2" >"$view"
cat >"$dir/rc" <<'RC'
splash_disable 1
hide_sst 1
left_justify_sigs 1
fontname_signals Monospace 9
fontname_waves Monospace 8
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
(cd "$folder" && NO_AT_BRIDGE=1 xvfb-run -a -s '-screen 0 2600x1700x24' gtkwave -r "$dir/rc" -S "$dir/shot.tcl" -a "$view" "$vcd") >"$dir/log" 2>&1 || true
grep -avE '^$|GTKWave Analyzer|(start|end) time\.|Executing Tcl|Filename |^Exiting' "$dir/log" >&2 || true
test -s "$dir/shot.png" || { echo "shot.sh: GTKWave made no picture" >&2; exit 1; }
mv "$dir/shot.png" "$picture"
