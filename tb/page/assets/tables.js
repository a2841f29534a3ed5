// Tables: latencies, where time went, counters, and the packets as a table.

// buildStages shows how long each step of the work requests took: numbers and a
// histogram whose bins double.
function buildStages() {
  const steps = new Map();
  for (const w of W) for (let s = 1; s < w.stages.length; s++) {
    const name = S[w.stages[s - 1][0]] + " → " + S[w.stages[s][0]], key = w.queue + name;
    if (!steps.has(key)) steps.set(key, { name, queue: w.queue, order: STAGES.indexOf(S[w.stages[s][0]]) + (w.queue === "rq" ? 100 : 0), list: [] });
    steps.get(key).list.push(w.stages[s][1] - w.stages[s - 1][1]);
  }
  const rows = [...steps.values()].sort((a, b) => a.order - b.order || b.list.length - a.list.length);
  let lo = Infinity, hi = 0;
  for (const r of rows) {
    r.list.sort((a, b) => a - b);
    lo = Math.min(lo, Math.max(r.list[0], D.clock)); hi = Math.max(hi, r.list.at(-1), D.clock);
  }
  const first = Math.floor(Math.log2(lo / 1000)), bins = Math.max(1, Math.floor(Math.log2(hi / 1000)) - first + 1);
  for (const r of rows) {
    const q = p => span(r.list[Math.min(r.list.length - 1, Math.floor(p * r.list.length))]);
    $("stages").append(el("tr", {}, el("th", { scope: "row" }, el("span", { class: "muted" }, r.queue.toUpperCase() + " "), r.name),
      ...[String(r.list.length), span(r.list[0]), q(0.5), q(0.99), span(r.list.at(-1))].map(v => el("td", {}, v)),
      el("td", { class: "hist" }, histogram(r.list, first, bins))));
  }
  $("bins").textContent = rows.length ? "Bins double from " + span(2 ** first * 1000) + " to " + span(2 ** (first + bins) * 1000) + "; all rows have the same." : "No work request passed two stages.";
}

function histogram(list, first, bins) {
  const n = new Array(bins).fill(0), high = 26, wide = 220 / bins;
  for (const v of list) n[Math.min(bins - 1, Math.max(0, Math.floor(Math.log2(Math.max(v, 1) / 1000)) - first))]++;
  const most = Math.max(...n), ns = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(ns, "svg");
  svg.setAttribute("viewBox", "0 0 220 " + (high + 1));
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", n.map((v, k) => v && v + " from " + span(2 ** (first + k) * 1000)).filter(Boolean).join(", "));
  const add = (y, h, x, w, cls, title) => {
    const rect = document.createElementNS(ns, "rect");
    for (const [k, v] of Object.entries({ x, y, width: w, height: h, class: cls })) rect.setAttribute(k, v);
    if (title) rect.append(Object.assign(document.createElementNS(ns, "title"), { textContent: title }));
    svg.append(rect);
  };
  add(high, 1, 0, 220, "base");
  n.forEach((v, k) => { if (v) { const h = Math.max(2, v / most * high); add(high - h, h, k * wide + 0.5, wide - 1, "bar", v + " from " + span(2 ** (first + k) * 1000)); } });
  return svg;
}

function buildSpent() {
  const parts = [...new Set(D.spent.flatMap(h => h.map(s => s[0])))];
  for (const [h, list] of D.spent.entries()) {
    const bar = el("div", { class: "bar", "aria-hidden": "true" });
    for (const [name, , share] of list) if (share > 0) bar.append(el("span", { style: "flex-grow:" + share + ";--c:var(--s" + parts.indexOf(name) % 8 + ")", title: name + " " + (share * 100).toFixed(1) + " %" }));
    $("spent-bars").append(el("div", { class: "spent" }, el("span", {}, hostName(h)), bar));
  }
  $("spent-head").append(el("th", { scope: "col" }, "Where"), ...D.hosts.map(h => el("th", { scope: "col", colspan: 2 }, h)));
  for (const [k, name] of parts.entries()) $("spent").append(el("tr", {}, el("th", { scope: "row" }, el("span", { class: "swatch", style: "--c:var(--s" + k % 8 + ")", "aria-hidden": "true" }), name),
    ...D.spent.flatMap(list => { const s = list.find(s => s[0] === name) ?? [name, 0, 0]; return [el("td", {}, span(s[1])), el("td", {}, (s[2] * 100).toFixed(1) + " %")]; })));
}

function buildCounters() {
  $("counter-head").append(el("th", { scope: "col" }, "Counter"), ...D.hosts.map(h => el("th", { scope: "col" }, h)));
  for (const [name, ...values] of D.counters) $("counters").append(el("tr", {}, el("th", { scope: "row" }, el("code", {}, name)), ...values.map(v => el("td", {}, String(v)))));
}

const PAGE = 50;
let page = 0;
function showPackets() {
  const pages = Math.max(1, Math.ceil(shown.length / PAGE));
  page = Math.min(Math.max(page, 0), pages - 1);
  $("packets").replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map(i => el("tr", {},
    el("td", {}, link("#" + P.id[i], () => selectPacket(i))), el("td", {}, ns(P.ps[i])), el("td", {}, String(P.cycle[i])), el("td", { class: "text" }, hostName(P.host[i])),
    el("td", {}, String(P.qpn[i] || "")), el("td", {}, String(P.dqpn[i])), el("td", { class: "text" }, packetName(i)), el("td", {}, hex(P.psn[i])), el("td", {}, String(P.bytes[i])),
    el("td", { class: "text" }, S[P.cause[i]]), el("td", { class: "text" + (bad(i) ? " lost" : "") }, S[P.fate[i]]))));
  $("page").textContent = "Page " + (page + 1) + " of " + pages;
  $("page-prev").disabled = page === 0;
  $("page-next").disabled = page === pages - 1;
}

function buildPackets() {
  const turn = d => { page += d; showPackets(); say($("page").textContent); };
  $("page-prev").addEventListener("click", () => turn(-1));
  $("page-next").addEventListener("click", () => turn(1));
  $("packet-table").addEventListener("toggle", () => { if ($("packet-table").open) showPackets(); });
}
