// Filter: which packets and work requests are shown. All views follow it.
const filter = { qp: "", kinds: new Set(KINDS.map((_, i) => i)), fate: "", text: "" };
let shown = []; // indices of the packets shown, by time
let shownTimes = [];
let shownWRs = [];
const onFilter = [];

// A packet belongs to the QP that sent it and to the one that it is for.
function ofQP(i) {
  if (filter.qp === "") return true;
  const [h, q] = filter.qp.split(":").map(Number);
  return P.host[i] === h ? P.qpn[i] === q : P.to[i] === h && P.dqpn[i] === q;
}

// NUMBERS are words that a number follows, which is then meant exactly.
const NUMBERS = {
  psn: i => [P.psn[i]], packet: i => [P.id[i]], cycle: i => [P.cycle[i]], wr: i => [P.wr[i]], qp: i => [P.qpn[i], P.dqpn[i]],
};
const WR_NUMBERS = {
  psn: () => [], packet: w => w.packets, cycle: w => w.stages.map(s => s[2]), wr: w => [w.id], qp: w => [w.qpn],
};
const isNumber = w => /^(\d+|0x[0-9a-f]+)$/.test(w);

// query is a search in parts: texts, numbers, and numbers of a kind.
function query(text) {
  const words = text.toLowerCase().replaceAll("_", " ").split(/\s+/).filter(Boolean), parts = [];
  for (let k = 0; k < words.length; k++) {
    const w = words[k], next = words[k + 1];
    if (NUMBERS[w] && next !== undefined && isNumber(next)) { parts.push({ kind: w, number: Number(next) }); k++; }
    else if (/^#\d+$/.test(w)) parts.push({ kind: "packet", number: Number(w.slice(1)) });
    else if (isNumber(w)) parts.push({ word: w, number: Number(w) });
    else parts.push({ text: w });
  }
  return parts;
}

// holds tells whether a part is of something: its text, and the numbers that it has.
function holds(part, text, numbers, of) {
  if (part.kind) return numbers[part.kind](of).includes(part.number);
  if (part.text !== undefined) return text.includes(part.text);
  return Object.values(numbers).some(f => f(of).includes(part.number)) || text.split(/[^0-9a-z]+/).includes(part.word);
}

function matches(i, parts) {
  if (!filter.kinds.has(P.kind[i])) return false;
  if (filter.fate !== "" && P.lost[i] !== Number(filter.fate)) return false;
  if (!ofQP(i)) return false;
  if (parts.length === 0) return true;
  const text = ("packet " + packetName(i) + " psn qp wr cycle " + S[P.cause[i]] + " " + S[P.fate[i]] + " " + S[P.syndrome[i]] + " " + S[P.signal[i]] + " " + hostName(P.host[i]))
    .toLowerCase().replaceAll("_", " ");
  return parts.every(p => holds(p, text, NUMBERS, i));
}

function matchesWR(w, parts) {
  if (filter.qp !== "" && filter.qp !== w.host + ":" + w.qpn) return false;
  const text = ("wr " + wrName(w) + " " + w.status + " " + w.vendor).toLowerCase().replaceAll("_", " ");
  return parts.every(p => holds(p, text, WR_NUMBERS, w));
}

function applyFilter() {
  const words = query(filter.text);
  shown = [];
  for (let i = 0; i < N; i++) if (matches(i, words)) shown.push(i);
  shownTimes = shown.map(i => P.ps[i]);
  shownWRs = [];
  for (let k = 0; k < W.length; k++) if (matchesWR(W[k], words)) shownWRs.push(k);
  // A text that no request has is one for packets.
  if (shownWRs.length === 0 && words.length > 0)
    for (let k = 0; k < W.length; k++) if (matchesWR(W[k], [])) shownWRs.push(k);
  $("matched").textContent = shown.length === N ? count(N, "packet") : shown.length + " of " + count(N, "packet");
  for (const f of onFilter) f();
}

function buildFilter() {
  const qp = $("qp");
  for (const q of D.qps) qp.append(el("option", { value: q.host + ":" + q.qpn }, qpName(q.host, q.qpn) + " (" + q.transport + ")"));
  qp.addEventListener("change", () => { filter.qp = qp.value; changed(); });
  $("fate").addEventListener("change", () => { filter.fate = $("fate").value; changed(); });
  const counts = KINDS.map(() => 0);
  for (const k of P.kind) counts[k]++;
  KINDS.forEach((kind, k) => {
    if (counts[k] === 0) return;
    const box = el("input", { type: "checkbox", checked: true, id: "kind-" + kind });
    box.addEventListener("change", () => {
      if (box.checked) filter.kinds.add(k); else filter.kinds.delete(k);
      changed();
    });
    $("kinds").append(el("label", { class: "chip", for: box.id, style: "--c: var(--" + kind + ")" },
      box, el("span", { class: "swatch " + kind, "aria-hidden": "true" }), KIND_NAMES[kind] + " ", el("span", { class: "n" }, String(counts[k]))));
  });
  $("search").addEventListener("input", () => { filter.text = $("search").value; changed(); });
  $("search").addEventListener("keydown", e => {
    if (e.key === "Escape" && $("search").value) { $("search").value = ""; filter.text = ""; changed(); }
    if (e.key === "Enter" || e.key === "ArrowDown") { $("ladder").focus(); e.preventDefault(); }
  });
  $("reset").addEventListener("click", () => {
    filter.qp = filter.fate = filter.text = qp.value = $("fate").value = $("search").value = "";
    filter.kinds = new Set(KINDS.map((_, i) => i));
    for (const b of $("kinds").querySelectorAll("input")) b.checked = true;
    changed();
  });
}

function changed() {
  applyFilter();
  say(shown.length + " of " + count(N, "packet") + " and " + count(shownWRs.length, "work request") + " shown");
}
