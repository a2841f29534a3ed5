// Work: a row for each work request, its stages as bars, under them what it waited for.
// Only the rows in sight are drawn, and the time axis is theirs.
const Work = { selected: -1, hover: -1, rows: [], from: 0, to: 1, align: false, zoom: 1, shift: 0 };
const ROW = 24, HEAD = 26;
const STAGES = D.stages; // names, in order
const WAITS = [...new Set(W.flatMap(w => w.waits.map(x => S[x[2]])))].sort();

function stageColour(name) { return colours.stages[Math.max(0, STAGES.indexOf(name) - 1) % 8]; }
function waitColour(name) { return colours.waits[WAITS.indexOf(name) % 8]; }

const drawWork = later(paintWork);
function paintWork() {
  const { g, w, h } = fit($("work-canvas")), box = $("work");
  const label = Math.min(250, w * 0.32), right = w - 12;
  const first = Math.max(0, Math.floor(box.scrollTop / ROW)), n = Math.ceil((h - HEAD) / ROW) + 1;
  Work.rows = shownWRs.slice(first, first + n);
  $("work-canvas").dataset.rows = Work.rows.length;
  workTimes();
  const from = Work.from, to = Work.to;
  const x = t => label + (t - from) / (to - from) * (right - label);
  g.font = colours.small;
  g.textAlign = "center";
  for (const t of ticks(from, to, (right - label) / 110)) {
    g.strokeStyle = colours.line;
    g.lineWidth = 1;
    g.beginPath();
    g.moveTo(Math.round(x(t)) + 0.5, HEAD - 4);
    g.lineTo(Math.round(x(t)) + 0.5, h);
    g.stroke();
    g.fillStyle = colours.muted;
    g.fillText((Work.align ? "+" : "") + axisLabel(t, to, (to - from) / 10), Math.min(Math.max(x(t), label + 22), right - 22), HEAD / 2);
  }
  g.save();
  g.beginPath();
  g.rect(0, HEAD, w, h - HEAD);
  g.clip();
  Work.rows.forEach((k, r) => paintRow(g, W[k], k, HEAD + (first + r) * ROW - box.scrollTop, label, right, x));
  g.restore();
}

// workTimes is the span of the rows in sight, or a part of it.
function workTimes() {
  let from = Infinity, to = 0;
  for (const k of Work.rows) {
    const w = W[k];
    if (!w.stages.length) continue;
    const zero = Work.align ? w.stages[0][1] : 0;
    from = Math.min(from, w.stages[0][1] - zero);
    if (isOpen(w)) to = Math.max(to, D.axis - zero);
    for (const [a, b] of [[w.stages.at(-1)[1]], ...w.waits.map(x => [x[1]])]) to = Math.max(to, a - zero, (b ?? zero) - zero);
  }
  if (!(from < to)) { from = 0; to = Math.max(D.axis, 1); }
  const wide = (to - from) / Work.zoom;
  Work.shift = Math.min(Math.max(Work.shift, 0), 1 - 1 / Work.zoom);
  Work.from = from + Work.shift * (to - from);
  Work.to = Work.from + wide;
}

function paintRow(g, w, k, y, label, right, x) {
  if (k === Work.selected || k === Work.hover) {
    g.fillStyle = k === Work.selected ? colours.select : colours.panel;
    g.fillRect(0, y, right + 12, ROW);
  }
  g.textAlign = "left";
  g.font = colours.sans;
  g.fillStyle = w.status === "SUCCESS" || w.status === "" ? colours.text : colours.lost;
  const size = w.bytes + " B";
  g.fillText(clip(g, wrName(w), label - 70), 8, y + ROW / 2);
  g.fillStyle = colours.muted;
  g.textAlign = "right";
  g.fillText(size, label - 10, y + ROW / 2);
  const zero = Work.align && w.stages.length ? w.stages[0][1] : 0;
  g.save();
  g.beginPath();
  g.rect(label, y, right - label, ROW);
  g.clip();
  for (let s = 1; s < w.stages.length; s++) {
    g.fillStyle = stageColour(S[w.stages[s][0]]);
    const a = x(w.stages[s - 1][1] - zero), b = x(w.stages[s][1] - zero);
    g.fillRect(a, y + 5, Math.max(1, b - a - 0.5), 9);
  }
  if (isOpen(w)) { // not ended: open to the end of the axis
    const a = x(w.stages.at(-1)[1] - zero), b = Math.min(x(D.axis - zero), right);
    g.strokeStyle = g.fillStyle = colours.lost;
    g.setLineDash([4, 3]);
    g.lineWidth = 1.5;
    g.beginPath();
    g.moveTo(a, y + 9.5);
    g.lineTo(Math.max(b, a + 10), y + 9.5);
    g.stroke();
    g.setLineDash([]);
    g.textAlign = "left";
    g.font = colours.small;
    const text = D.interrupted ? "under way" : "not ended", tw = g.measureText(text).width + 8, tx = Math.min(a + 14, right - tw);
    g.fillStyle = k === Work.selected ? colours.select : colours.bg;
    g.fillRect(tx, y + 3, tw, 13);
    g.fillStyle = colours.lost;
    g.fillText(text, tx + 4, y + 10);
  }
  for (const wait of w.waits) {
    g.fillStyle = waitColour(S[wait[2]]);
    const a = x(wait[0] - zero), b = x(wait[1] - zero);
    g.fillRect(a, y + 16, Math.max(1, b - a), 4);
  }
  g.fillStyle = g.strokeStyle = colours.retry;
  for (const id of w.packets) { // what went wrong on the way
    const i = indexOfPacket.get(id);
    if (i === undefined || (!bad(i) && P.kind[i] !== 1)) continue;
    const a = x(P.ps[i] - zero);
    g.fillStyle = bad(i) ? colours.lost : colours.retry;
    g.beginPath();
    g.moveTo(a - 4, y + 1); g.lineTo(a + 4, y + 1); g.lineTo(a, y + 8);
    g.fill();
  }
  g.restore();
}

function selectWR(k) {
  select({ wr: k });
  const box = $("work"), at = shownWRs.indexOf(k), room = box.clientHeight - HEAD;
  if (at >= 0 && (at * ROW < box.scrollTop || (at + 1) * ROW > box.scrollTop + room)) box.scrollTop = at * ROW - room / 2;
  const w = W[k], i = indexOfPacket.get(w.packets[0]);
  if (i !== undefined) reveal(i);
  say("work request " + w.id + ": " + wrName(w) + ", " + w.bytes + " bytes, " + (w.status || "not ended") +
    (w.stages.length ? ", posted at " + ns(w.stages[0][1]) + (isOpen(w) ? ", open for " + span(D.end - w.stages[0][1]) : ", took " + span(w.stages.at(-1)[1] - w.stages[0][1])) : "") +
    (w.tries > 1 ? ", " + w.tries + " tries" : ""));
}

function stepWR(d) {
  if (shownWRs.length === 0) return;
  const at = shownWRs.indexOf(Work.selected);
  selectWR(shownWRs[at < 0 ? 0 : Math.min(Math.max(at + d, 0), shownWRs.length - 1)]);
}

function zoomWork(f) {
  const mid = Work.shift + 0.5 / Work.zoom;
  Work.zoom = Math.min(Math.max(Work.zoom * f, 1), 1000);
  Work.shift = mid - 0.5 / Work.zoom;
  drawWork();
}
function panWork(d) { Work.shift += d / Work.zoom; drawWork(); }

const workKeys = {
  ArrowDown: () => stepWR(1), ArrowUp: () => stepWR(-1), PageDown: () => stepWR(12), PageUp: () => stepWR(-12),
  Home: () => stepWR(-1e9), End: () => stepWR(1e9), "+": () => zoomWork(1.5), "=": () => zoomWork(1.5), "-": () => zoomWork(1 / 1.5),
  ArrowLeft: () => panWork(-0.2), ArrowRight: () => panWork(0.2), "0": () => zoomWork(0), Enter: () => $("details").focus(), Escape: () => select(null),
};

function sizeWork() {
  const all = shownWRs.length * ROW + HEAD + 4;
  $("work-rows").style.height = all + "px";
  $("work").style.height = Math.min(all, HEAD + 16 * ROW + 4) + "px";
  $("work-canvas").style.height = $("work").clientHeight + "px";
  drawWork();
}

function buildWork() {
  const box = $("work"), c = $("work-canvas");
  const row = e => {
    const y = e.clientY - c.getBoundingClientRect().top;
    return y < HEAD ? -1 : shownWRs[Math.floor((y - HEAD + box.scrollTop) / ROW)] ?? -1;
  };
  box.addEventListener("scroll", drawWork);
  box.addEventListener("keydown", e => {
    const f = workKeys[e.key];
    if (!f || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    f();
  });
  box.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.shiftKey) return;
    e.preventDefault();
    zoomWork(Math.exp(-(e.deltaY || e.deltaX) / 300));
  }, { passive: false });
  c.addEventListener("pointermove", e => { const k = row(e); if (k !== Work.hover) { Work.hover = k; drawWork(); } });
  c.addEventListener("pointerleave", () => { Work.hover = -1; drawWork(); });
  c.addEventListener("click", e => { const k = row(e); if (k >= 0) selectWR(k); });
  $("align").addEventListener("change", () => { Work.align = $("align").checked; zoomWork(0); });
  const key = (colour, name) => el("li", {}, el("span", { class: "swatch", style: "--c: var(--" + colour + ")", "aria-hidden": "true" }), name);
  $("stage-legend").append(...STAGES.slice(1).map((s, k) => key("g" + k % 8, "to " + s)));
  $("wait-legend").append(...WAITS.map((s, k) => key("w" + k % 8, s)));
  $("wait-key").hidden = WAITS.length === 0;
}
