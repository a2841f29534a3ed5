// Ladder: hosts side by side, time down, a line for each packet in the window. Only what
// is in the window is looked at: packets are sorted by time.
const L = { from: 0, perPixel: 1, fold: null, folded: true, selected: -1, hover: -1, lines: [], draws: 0 };
const TOP = 30, AXIS = 78, MAP = 26, LABEL = 17;
let longest = 0; // time between a packet's first bit and its end on the page
for (let i = 0; i < N; i++) longest = Math.max(longest, P.until[i] - P.ps[i]);

function ladderHeight() { return $("ladder").clientHeight - TOP; }
function ladderSpan() { return L.perPixel * ladderHeight(); }

// setWindow moves the window: from and perPixel are of the folded axis.
function setWindow(from, perPixel) {
  const h = ladderHeight();
  L.perPixel = Math.min(Math.max(perPixel, D.clock / 40), L.fold.length * 1.04 / h);
  L.from = Math.min(Math.max(from, -L.perPixel * 8), Math.max(L.fold.length * 1.02 - L.perPixel * h, -L.perPixel * 8));
  drawLadder();
}

// firstWindow shows the whole run if its packets have room, or else its beginning.
function firstWindow() {
  const h = ladderHeight(), room = Math.floor(h / (LABEL + 3));
  const last = N <= room * 1.5 || N === 0 ? L.fold.length : L.fold.axis(P.ps[room]);
  const first = N === 0 ? 0 : L.fold.axis(P.ps[0]);
  const span = N <= room * 1.5 ? last - first : Math.max(last - first, D.flight);
  setWindow(first - span * 0.03, span * 1.06 / h);
}

function ladderTimes() { // the window as times
  const h = ladderHeight();
  return [L.fold.time(Math.max(L.from, 0)), L.fold.time(Math.min(L.from + L.perPixel * h, L.fold.length))];
}

// inWindow lists the packets shown that have a part in the window.
function inWindow() {
  const [from, to] = ladderTimes(), list = [];
  for (let k = firstFrom(shownTimes, from - longest); k < shown.length && shownTimes[k] <= to; k++)
    if (P.until[shown[k]] >= from) list.push(shown[k]);
  return list;
}

function laneX(w) {
  const side = Math.min(270, (w - AXIS - MAP) * 0.29), left = AXIS + side, right = w - MAP - 14 - side;
  const n = D.hosts.length;
  return D.hosts.map((_, h) => n === 1 ? (left + right) / 2 : left + (right - left) * h / (n - 1));
}

const drawLadder = later(paintLadder);
function paintLadder() {
  const { g, w, h } = fit($("ladder")), x = laneX(w);
  const y = ps => TOP + (L.fold.axis(ps) - L.from) / L.perPixel;
  const list = inWindow();
  L.lines = [];
  L.draws++;
  paintAxis(g, w, h, x, y);
  g.save();
  g.beginPath();
  g.rect(0, TOP, w, h - TOP);
  g.clip();
  for (const i of list) {
    const line = { i, x0: x[P.host[i]], y0: y(P.ps[i]), x1: x[P.to[i]], y1: y(P.until[i]) };
    if (bad(i)) line.x1 = line.x0 + (line.x1 - line.x0) * (P.fly[i] >= 0 ? 0.94 : 0.62);
    L.lines.push(line);
  }
  const dense = list.length > 1500;
  for (const l of L.lines) paintPacket(g, l, dense);
  for (const l of L.lines) if (l.i === L.hover || l.i === L.selected) paintPacket(g, l, false, true);
  const labels = paintLabels(g, x, w);
  g.restore();
  paintHeads(g, w, x);
  paintMap(g, w, h);
  const c = $("ladder");
  c.dataset.inview = list.length;
  c.dataset.labels = labels;
  const [from, to] = ladderTimes();
  $("window").textContent = ", " + list.length + " in view, " + axisLabel(from, to) + " to " + axisLabel(to, to);
  drawCharts();
}

function paintAxis(g, w, h, x, y) {
  g.strokeStyle = colours.line;
  g.fillStyle = colours.muted;
  g.lineWidth = 1;
  g.font = colours.small;
  g.textAlign = "right";
  const [from, to] = ladderTimes();
  const gaps = L.fold.gaps.filter(p => p.to >= from && p.from <= to);
  let last = -100;
  const edge = w - MAP - 8;
  for (const t of ticks(from, to, Math.max(2, L.perPixel ? (to - from) / (L.perPixel * 64) : 8))) {
    if (gaps.some(p => t > p.from && t < p.to)) continue;
    const v = Math.round(y(t)) + 0.5;
    if (v < TOP || v - last < 22) continue;
    last = v;
    g.beginPath();
    g.moveTo(AXIS - 6, v);
    g.lineTo(edge, v);
    g.globalAlpha = 0.55;
    g.stroke();
    g.globalAlpha = 1;
    g.fillText(axisLabel(t, to, L.perPixel * 64), AXIS - 10, v);
  }
  for (const p of gaps) { // a band says how long nothing happened
    const a = y(p.from), b = y(p.to);
    if (b - a < 2) continue;
    g.fillStyle = colours.panel;
    g.fillRect(AXIS - 6, a, edge - AXIS + 6, b - a);
    if (b - a < 14) continue;
    g.fillStyle = colours.muted;
    g.textAlign = "center";
    g.fillText("idle for " + span(p.to - p.from), (x[0] + x.at(-1)) / 2, (a + b) / 2);
  }
  g.strokeStyle = colours.muted;
  g.lineWidth = 1.5;
  for (const v of x) {
    g.beginPath();
    g.moveTo(v, TOP);
    g.lineTo(v, h);
    g.stroke();
  }
}

function paintHeads(g, w, x) {
  g.fillStyle = colours.bg;
  g.fillRect(0, 0, w, TOP - 2);
  g.textAlign = "center";
  g.fillStyle = colours.text;
  g.font = "600 " + colours.sans;
  D.hosts.forEach((name, h) => g.fillText(name, x[h], TOP / 2 - 1));
  g.font = colours.small;
  g.fillStyle = colours.muted;
  g.textAlign = "right";
  g.fillText("time", AXIS - 10, TOP / 2 - 1);
}

// paintPacket draws a line with its head, or a cross where the packet was lost.
function paintPacket(g, { i, x0, y0, x1, y1 }, dense, strong) {
  const lost = bad(i), colour = lost ? colours.lost : colours[KINDS[P.kind[i]]];
  g.strokeStyle = g.fillStyle = colour;
  g.lineWidth = strong ? 3 : dense ? 0.6 : 1.4;
  g.setLineDash(P.kind[i] === 1 ? [7, 4] : P.kind[i] === 3 || P.kind[i] === 4 ? [2, 3] : []);
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
  g.setLineDash([]);
  if (lost) {
    const r = strong ? 6 : 4.5;
    g.lineWidth = strong ? 3 : 2;
    g.beginPath();
    g.moveTo(x1 - r, y1 - r); g.lineTo(x1 + r, y1 + r);
    g.moveTo(x1 + r, y1 - r); g.lineTo(x1 - r, y1 + r);
    g.stroke();
    return;
  }
  if (dense) return;
  const a = Math.atan2(y1 - y0, x1 - x0), s = strong ? 10 : 7;
  g.beginPath();
  g.moveTo(x1, y1);
  g.lineTo(x1 - s * Math.cos(a - 0.38), y1 - s * Math.sin(a - 0.38));
  g.lineTo(x1 - s * Math.cos(a + 0.38), y1 - s * Math.sin(a + 0.38));
  if (P.lost[i] === 2) { g.closePath(); g.lineWidth = 1.2; g.stroke(); } else g.fill(); // hollow: a duplicate
}
