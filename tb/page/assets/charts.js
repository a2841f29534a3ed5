// Charts: what was sent and what was under way, over the whole run. The shaded part is
// the ladder's window; a click moves it.
const charts = [];
let cursor = -1; // time under the pointer or chosen by keys

// linesOf is the line of the QP that is chosen, or the sum of all of each host.
function linesOf(column) {
  const qps = D.qps.filter(q => (filter.qp === "" || filter.qp === q.host + ":" + q.qpn) && q[column].length);
  if (filter.qp !== "") return qps.map(q => ({ name: qpName(q.host, q.qpn), colour: q.host, points: q[column] }));
  return D.hosts.map((name, h) => {
    const steps = qps.filter(q => q.host === h).flatMap(q => q[column].map(([ps, n], k) => [ps, n - (k ? q[column][k - 1][1] : 0)]));
    steps.sort((a, b) => a[0] - b[0]);
    let sum = 0;
    return { name: name + ", all QPs together", colour: h, points: steps.map(([ps, d]) => [ps, sum += d]) };
  });
}

function bandwidthLines() {
  return D.hosts.map((name, h) => ({ name, colour: h, points: D.bandwidth.filter(b => b[0] === h).map(b => [b[1], b[2]]) }));
}

// valueAt is a step line's value.
function valueAt(points, ps) {
  let lo = 0, hi = points.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (points[mid][0] <= ps) lo = mid + 1; else hi = mid;
  }
  return lo ? points[lo - 1][1] : 0;
}

const drawCharts = later(() => charts.forEach(paintChart));
function paintChart(c) {
  const { g, w, h } = fit(c.canvas), left = 52, right = w - 8, top = 10, bottom = h - 22;
  const x = t => left + t / D.axis * (right - left);
  const [a, b] = ladderTimes();
  g.fillStyle = colours.select;
  g.fillRect(x(a), top, Math.max(2, x(b) - x(a)), bottom - top);
  const key = [c.canvas.width, c.canvas.height, colours.bg, colours.text].join();
  if (c.key !== key || c.drawn !== c.lines) { // the rest stays as it is while the window moves
    c.key = key;
    c.drawn = c.lines;
    c.layer = Object.assign(document.createElement("canvas"), { width: c.canvas.width, height: c.canvas.height });
    const l = c.layer.getContext("2d");
    l.scale(c.canvas.width / w, c.canvas.height / h);
    l.textBaseline = "middle";
    paintLines(l, c, w, h, left, right, top, bottom, x);
  }
  g.drawImage(c.layer, 0, 0, w, h);
  if (cursor >= 0) {
    g.strokeStyle = colours.text;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(Math.round(x(cursor)) + 0.5, top);
    g.lineTo(Math.round(x(cursor)) + 0.5, bottom);
    g.stroke();
  }
  c.lines.forEach((l, k) => { c.values[k].textContent = cursor >= 0 ? " " + trim(valueAt(l.points, cursor)) : ""; });
}

// paintLines draws the axes and the lines.
function paintLines(g, c, w, h, left, right, top, bottom, x) {
  const y = v => bottom - v / c.max * (bottom - top);
  g.font = colours.small;
  g.lineWidth = 1;
  g.strokeStyle = colours.line;
  for (const v of ticks(0, c.max, 3)) {
    g.beginPath();
    g.moveTo(left, Math.round(y(v)) + 0.5);
    g.lineTo(right, Math.round(y(v)) + 0.5);
    g.stroke();
    g.fillStyle = colours.muted;
    g.textAlign = "right";
    g.fillText(trim(v), left - 8, y(v));
  }
  for (const t of ticks(0, D.axis, (right - left) / 120)) {
    g.textAlign = x(t) > right - 24 ? "right" : t === 0 ? "left" : "center";
    g.fillText(axisLabel(t, D.axis), x(t), h - 9);
  }
  c.lines.forEach((l, k) => paintLine(g, l, k, x, y, left, right, bottom));
}

// paintLine draws steps, one column of pixels at a time: of many points in a column, the
// least and the most.
function paintLine(g, l, k, x, y, left, right, bottom) {
  g.strokeStyle = colours.series[l.colour];
  g.lineWidth = 1.6;
  g.setLineDash([[], [6, 3], [2, 2], [8, 3, 2, 3]][k % 4]);
  g.beginPath();
  let last = bottom, px = left, lo = Infinity, hi = -Infinity;
  g.moveTo(left, bottom);
  const flush = () => {
    if (hi < lo) return;
    if (hi - lo > 0.5) { g.lineTo(px, lo); g.lineTo(px, hi); }
    g.lineTo(px, last);
    lo = Infinity; hi = -Infinity;
  };
  for (const [ps, n] of l.points) {
    if (ps > D.axis) break;
    const q = Math.round(x(ps));
    if (q !== px) { flush(); g.lineTo(q, last); px = q; }
    last = y(n);
    lo = Math.min(lo, last); hi = Math.max(hi, last);
  }
  flush();
  g.lineTo(right, last);
  g.stroke();
  g.setLineDash([]);
}

function refreshCharts() {
  for (const c of charts) {
    c.lines = c.source();
    c.max = Math.max(1, ...c.lines.map(l => l.points.reduce((m, p) => Math.max(m, p[1]), 0))) * 1.08;
    c.values = c.lines.map(() => el("span", { class: "n" }));
    c.legend.replaceChildren(...c.lines.map((l, k) => el("li", {}, el("span", { class: "swatch dash" + k % 4, style: "--c: var(--s" + l.colour + ")", "aria-hidden": "true" }), l.name, c.values[k])));
    c.canvas.setAttribute("aria-label", c.title + ". " + c.lines.map(l => l.name + ": at most " + trim(l.points.reduce((m, p) => Math.max(m, p[1]), 0)) + c.unit).join("; ") + ". Arrow keys move a cursor, Enter shows its time in the ladder.");
    tableOf(c);
  }
  drawCharts();
}

// tableOf is the same in a table of 20 rows, for who does not see the picture.
function tableOf(c) {
  const rows = Array.from({ length: 20 }, (_, k) => Math.floor(D.axis * k / 20));
  c.table.replaceChildren(el("table", {}, el("caption", {}, c.title),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "time"), ...c.lines.map(l => el("th", { scope: "col" }, l.name)))),
    el("tbody", {}, ...rows.map(t => el("tr", {}, el("th", { scope: "row" }, span(t)), ...c.lines.map(l => el("td", {}, trim(valueAt(l.points, t)))))))));
}

function buildChart(id, title, unit, source) {
  const canvas = el("canvas", { class: "chart", tabindex: "0", role: "application", id: "chart-" + id });
  const legend = el("ul", { class: "legend" }), table = el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": title + ", values" });
  const c = { title, unit, source, canvas, legend, table, lines: [], values: [], max: 1 };
  charts.push(c);
  $("charts").append(el("figure", {}, el("figcaption", {}, el("h3", {}, title), legend), canvas, el("details", {}, el("summary", {}, title + ": as a table"), table)));
  const time = e => {
    const b = canvas.getBoundingClientRect();
    return Math.min(Math.max((e.clientX - b.left - 52) / (b.width - 60), 0), 1) * D.axis;
  };
  canvas.addEventListener("pointermove", e => { cursor = time(e); drawCharts(); });
  canvas.addEventListener("pointerleave", () => { cursor = -1; drawCharts(); });
  canvas.addEventListener("click", e => revealTime(time(e)));
  canvas.addEventListener("blur", () => { cursor = -1; drawCharts(); });
  canvas.addEventListener("keydown", e => {
    const step = { ArrowRight: 0.01, ArrowLeft: -0.01, PageDown: 0.1, PageUp: -0.1, Home: -1, End: 1 }[e.key];
    if (e.key === "Enter" && cursor >= 0) return revealTime(cursor);
    if (!step) return;
    e.preventDefault();
    cursor = Math.min(Math.max(Math.max(cursor, 0) + step * D.axis, 0), D.axis);
    drawCharts();
    say(span(cursor) + ": " + c.lines.map(l => l.name + " " + trim(valueAt(l.points, cursor)) + unit).join(", "));
  });
}

function buildCharts() {
  buildChart("bandwidth", "Bandwidth, Gb/s", " Gb/s", bandwidthLines);
  buildChart("outstanding", "Messages outstanding", "", () => linesOf("outstanding"));
  buildChart("depth", "Send queue depth, WQE units", "", () => linesOf("sq"));
}
