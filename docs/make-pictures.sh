#!/usr/bin/env bash
# Makes the pictures of README.md from fresh runs, without a screen: img/waveform.png is
# what GTKWave shows of one SEND of four packets, img/packets.png what Wireshark shows of
# the built-in transfer; img/lost-ack.png, img/wrong-rkey.png and img/deadlock.png are the
# pages of three failures, img/timeout.png what GTKWave shows around the timer of the first.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
for tool in go gtkwave Xvfb xvfb-run xauth wireshark xdotool convert import awk chromium; do
	command -v "$tool" >/dev/null || missing+=("$tool")
done
if ((${#missing[@]})); then
	echo "make waves: missing: ${missing[*]} (Debian: golang gtkwave xvfb xauth wireshark xdotool imagemagick chromium)" >&2
	exit 1
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p docs/img
go build -o "$dir/rnic" ./cmd/rnic

# The waveform, less GTKWave's tool bar and scroll bars.
"$dir/rnic" run --qps 1 --mtu 4096 --msg-size 16384 --no-push --vcd --out "$dir/send" >"$dir/log"
sh waves/shot.sh "$dir/send/rnic.vcd" "$dir/send/rnic.gtkw" "$dir/waveform.png" 1700 940
convert "$dir/waveform.png" -crop +6+98 +repage -gravity southeast -chop 30x34 +dither -colors 160 -strip docs/img/waveform.png

# The pages of the failures, each at what it is about; only the first run succeeds.
page() { # NAME ADDRESS HEIGHT
	HOME=$dir timeout -s KILL 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --window-size="1280,$3" \
		--screenshot="$dir/$1.png" "file://$dir/$1/report.html$2" >>"$dir/log" 2>&1
	convert "$dir/$1.png" +dither -colors 96 -strip "docs/img/$1.png"
}
"$dir/rnic" run --qps 1 --fault 'drop a ack' --around timeout --before 200 --after 300 --report --out "$dir/lost-ack" >"$dir/log"
page lost-ack '#packet=8' 1000
"$dir/rnic" run docs/examples/wrong_rkey.yaml --report --out "$dir/wrong-rkey" >"$dir/log" 2>&1 || true
page wrong-rkey '#packet=20' 1160
"$dir/rnic" run --op write --plug 'a keys stop=9' --report --out "$dir/deadlock" >"$dir/log" 2>&1 || true
page deadlock '#wr=4' 960

# The waves around the timer, with more of them than GTKWave opens with.
awk '/^\*/ { $1 = "*" substr($1, 2) - 4.2 } { print }' "$dir/lost-ack/around.gtkw" >"$dir/lost-ack/wide.gtkw"
sh waves/shot.sh "$dir/lost-ack/around.fst" "$dir/lost-ack/wide.gtkw" "$dir/timeout.png" 1500 640 2>>"$dir/log"
convert "$dir/timeout.png" -crop +6+98 +repage -gravity southeast -chop 30x34 +dither -colors 160 -strip docs/img/timeout.png

# The packets: columns, colours and panes are set by Wireshark's own files.
"$dir/rnic" run --pcap --out "$dir/run" >"$dir/log"
config=$dir/home/.config/wireshark
mkdir -p "$config"
cat >"$config/preferences" <<'E'
gui.update.enabled: FALSE
gui.qt.font_name: DejaVu Sans Mono,10,-1,5,50,0,0,0,0,0
gui.layout_type: 1
gui.layout_content_1: PLIST
gui.layout_content_2: PDETAILS
gui.layout_content_3: NONE
gui.column.format: "No.", "%m", "Time (s)", "%t", "Source", "%s", "Destination", "%d", "Length", "%L", "PSN", "%Cus:infiniband.bth.psn:0:R", "AckReq", "%Cus:infiniband.bth.a:0:R", "MSN", "%Cus:infiniband.aeth.msn:0:R", "ICRC", "%Cus:infiniband.invariant.crc:0:R", "Info", "%i"
E
cat >"$config/recent" <<'E'
gui.toolbar_main_show: FALSE
gui.filter_toolbar_show: FALSE
gui.statusbar_show: FALSE
column.width: %m, 50, %t, 120, %s, 95, %d, 105, %L, 65, %Cus:infiniband.bth.psn, 85, %Cus:infiniband.bth.a, 75, %Cus:infiniband.aeth.msn, 55, %Cus:infiniband.invariant.crc, 110
E
cat >"$config/recent_common" <<'E'
gui.geometry_main_x: 0
gui.geometry_main_y: 0
gui.geometry_main_width: 1200
gui.geometry_main_height: 860
gui.geometry_main_maximized: FALSE
E
cat >"$config/colorfilters" <<'E'
@Acknowledge@infiniband.bth.opcode == 17@[57568,63479,57568][0,0,0]
@First or only packet@infiniband.bth.opcode == 0 || infiniband.bth.opcode == 4@[53456,58596,65535][0,0,0]
@Packet@infiniband.bth@[62000,63500,65535][0,0,0]
E
# The list gets the rows that it has; the headers of the first acknowledgement unfold.
cat >"$dir/look.sh" <<'E'
wireshark -r "$1/run/host_a.pcapng" --disable-protocol rpcordma -t e -g 17 >"$1/log" 2>&1 &
pid=$!
timeout 60 xdotool search --sync --onlyvisible --name host_a.pcapng >>"$1/log" && sleep 3
xdotool mousemove 600 606 mousedown 1 mousemove 600 500 mousemove 600 428 mouseup 1 sleep 1 \
	mousemove 60 441 click 1 key --delay 100 Down Down Down Down shift+Right sleep 1 mousemove 1199 0 sleep 1
import -window root "$1/packets.png"
kill $pid
E
HOME=$dir/home XDG_RUNTIME_DIR=$dir NO_AT_BRIDGE=1 xvfb-run -a -s '-screen 0 1200x860x24' sh "$dir/look.sh" "$dir"
convert "$dir/packets.png" +dither -colors 160 -strip docs/img/packets.png
ls -l docs/img/*.png
