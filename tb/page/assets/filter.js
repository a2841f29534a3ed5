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

function matches(i, words) {
  if (!filter.kinds.has(P.kind[i])) return false;
  if (filter.fate !== "" && P.lost[i] !== Number(filter.fate)) return false;
  if (!ofQP(i)) return false;
  if (words.length === 0) return true;
  const text = ("#" + P.id[i] + " " + packetName(i) + " psn " + P.psn[i] + " qp " + P.qpn[i] + " " + P.dqpn[i] + " wr " + P.wr[i] + " " +
    S[P.cause[i]] + " " + S[P.fate[i]] + " " + S[P.syndrome[i]] + " " + S[P.signal[i]] + " " + hostName(P.host[i])).toLowerCase();
  return words.every(w => text.includes(w));
}

function matchesWR(w, words) {
  if (filter.qp !== "" && filter.qp !== w.host + ":" + w.qpn) return false;
  const text = ("wr " + w.id + " " + wrName(w) + " " + w.status + " " + w.vendor).toLowerCase();
  return words.every(x => text.includes(x));
}

function applyFilter() {
  const words = filter.text.toLowerCase().replaceAll("_", " ").split(/\s+/).filter(Boolean);
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
