// Data: the run as columns, and what all views share.
const D = JSON.parse(document.getElementById("run").textContent);
const S = D.strings;
const P = D.packets;
const N = P.host.length;

// Columns that are written as differences: times grow by little, cycles too.
for (let i = 1; i < N; i++) {
  P.ps[i] += P.ps[i - 1];
  P.cycle[i] += P.cycle[i - 1];
}
// Where a packet ends on the page: its arrival, or where it was lost.
P.until = P.ps.map((t, i) => P.fly[i] >= 0 ? t + P.fly[i] : t + Math.max(P.dur[i], D.flight / 2));

const KINDS = ["request", "retry", "response", "ack", "nak", "datagram", "other"];
const KIND_NAMES = {
  request: "Requests", retry: "Retries", response: "Responses",
  ack: "ACKs", nak: "NAKs", datagram: "Datagrams", other: "Others",
};
const KIND_ONE = {
  request: "request", retry: "retry", response: "response",
  ack: "ACK", nak: "NAK", datagram: "datagram", other: "other",
};

function kindOf(i) {
  const cause = S[P.cause[i]];
  if (cause.startsWith("retry")) return 1;
  if (cause === "acknowledgement") return 3;
  if (cause === "NAK" || cause === "RNR NAK") return 4;
  if (cause === "datagram") return 5;
  if (cause === "unknown") return 6;
  return cause === "new" ? 0 : 2;
}
P.kind = P.host.map((_, i) => kindOf(i));

// fateOf is 0 delivered, 1 lost on the wire, 2 a duplicate, 3 sent and not yet there at the
// end, 4 arrived and dropped or refused by the NIC.
function fateOf(i) {
  const fate = S[P.fate[i]];
  if (fate === "delivered") return 0;
  if (fate === "duplicate") return 2;
  if (fate.startsWith("dropped: ") || fate.startsWith("refused: ")) return 4;
  return fate === "dropped on the wire" || fate === "corrupted" ? 1 : 3;
}
P.lost = P.host.map((_, i) => fateOf(i));
function bad(i) { return P.lost[i] === 1 || P.lost[i] === 4; }
function hex(n) { return "0x" + n.toString(16); }

const indexOfPacket = new Map(P.id.map((id, i) => [id, i]));
const W = D.wrs; // sorted by the time of posting
const indexOfWR = new Map(W.map((w, i) => [w.id, i]));

// isOpen tells whether a work request is of a send queue and has not ended.
function isOpen(w) { return w.status === "" && w.queue === "sq" && w.stages.length > 0; }
function packetName(i) { return S[P.op[i]].replaceAll("_", " "); }
function hostName(h) { return D.hosts[h] ?? "?"; }
function qpName(host, qpn) { return hostName(host) + " QP " + qpn; }
function wrName(w) { return qpName(w.host, w.qpn) + " " + w.queue.toUpperCase() + " #" + w.index + " " + w.op; }

// ns is a time as logs and viewers take it: whole nanoseconds, ps where there are some.
function ns(ps) { return ps % 1000 === 0 ? ps / 1000 + " ns" : ps + " ps"; }

// span is a length of time to read.
function span(ps) {
  if (ps >= 1e9) return (ps / 1e9).toFixed(3) + " ms";
  if (ps >= 1e7) return (ps / 1e6).toFixed(2) + " µs";
  if (ps >= 1e6) return (ps / 1e6).toFixed(3) + " µs";
  return Math.round(ps / 1000) + " ns";
}

function count(n, one, many) { return n + " " + (n === 1 ? one : many ?? one + "s"); }

// el makes an element: attributes, then children or texts.
function el(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes ?? {})) {
    if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v === true) e.setAttribute(k, "");
    else if (v !== false && v != null) e.setAttribute(k, v);
  }
  e.append(...children.filter(c => c != null));
  return e;
}
const $ = id => document.getElementById(id);

// firstFrom is the first index of a sorted list whose value is at least v.
function firstFrom(list, v) {
  let lo = 0, hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (list[mid] < v) lo = mid + 1; else hi = mid;
  }
  return lo;
}

// Colours are those of the style sheet, in either scheme.
let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  colours = {};
  for (const name of ["bg", "panel", "text", "muted", "line", "accent", "select", ...KINDS, "lost"])
    colours[name] = style.getPropertyValue("--" + name).trim();
  for (const [list, letter] of [["series", "s"], ["stages", "g"], ["waits", "w"]])
    colours[list] = [0, 1, 2, 3, 4, 5, 6, 7].map(i => style.getPropertyValue("--" + letter + i).trim());
  colours.sans = "12px " + style.getPropertyValue("--sans").trim();
  colours.small = "11px " + style.getPropertyValue("--sans").trim();
  colours.mono = "12px " + style.getPropertyValue("--mono").trim();
}

// fit sizes a canvas to its box and the pixels of the screen, and clears it.
function fit(canvas) {
  const box = canvas.getBoundingClientRect(), r = Math.max(devicePixelRatio, printing ? 2 : 1);
  const w = Math.round(box.width), h = Math.round(box.height);
  if (canvas.width !== w * r || canvas.height !== h * r) {
    canvas.width = w * r;
    canvas.height = h * r;
  }
  const g = canvas.getContext("2d");
  g.setTransform(r, 0, 0, r, 0, 0);
  g.clearRect(0, 0, w, h);
  g.textBaseline = "middle";
  g.font = colours.sans;
  return { g, w, h };
}
let printing = false;

// clip shortens a text to so many pixels.
function clip(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let n = text.length;
  while (n > 1 && g.measureText(text.slice(0, n) + "…").width > width) n--;
  return text.slice(0, n) + "…";
}

// later runs a drawing once in the next frame, however often it is asked for.
function later(draw) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => { asked = false; draw(); });
  };
}

function say(text) { $("live").textContent = text; }
