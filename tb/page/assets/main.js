// Main: builds the page and ties the views together.
function facts4() {
  const sent = k => P.kind.filter(v => v === k).length, lost = P.lost.filter(v => v === 1).length, dropped = P.lost.filter(v => v === 4).length;
  const failed = W.filter(w => w.status !== "SUCCESS" && w.status !== "").length, open = D.unended;
  const fact = (value, name, bad) => el("li", { class: bad ? "bad" : "" }, el("strong", {}, value), " " + name);
  $("facts").append(
    fact(span(D.end), "simulated"), fact(String(Math.round(D.end / D.clock)), "cycles"), fact(String(W.length), "work requests"),
    failed ? fact(String(failed), "failed", true) : "", open ? fact(String(open), D.interrupted ? "under way" : "not ended", !D.interrupted) : "",
    fact(String(N), "packets"), sent(1) ? fact(String(sent(1)), "sent again", true) : "", lost ? fact(String(lost), "lost", true) : "", dropped ? fact(String(dropped), "dropped or refused", true) : "");
  if (D.failure !== "") {
    $("failed").hidden = false;
    if (D.interrupted) $("h-failed").textContent = "The run was interrupted";
    $("failure").textContent = D.failure;
  }
  if (D.leads.length) {
    $("leads").hidden = false;
    $("leads").append(el("ol", { class: "events" }, ...D.leads.map(([ps, cycle, signal, value, text, wr, packet]) => {
      const k = indexOfWR.get(wr), i = indexOfPacket.get(packet);
      const go = k !== undefined ? () => selectWR(k) : i !== undefined ? () => selectPacket(i) : null;
      return el("li", {}, go ? link(S[text], go) : el("span", {}, S[text]), where(ps, cycle, S[signal], S[value]));
    })));
  }
  if (D.forgotten[0] + D.forgotten[1] > 0) {
    $("forgotten").hidden = false;
    $("forgotten").textContent = "The run was longer than what is kept: " + count(D.forgotten[1], "packet") + " and " + count(D.forgotten[0], "work request") + " of its beginning are counted only.";
  }
}

function redraw() { readColours(); drawLadder(); drawWork(); drawCharts(); }

function start() {
  readColours();
  facts4();
  buildFilter();
  buildWork();
  buildCharts();
  buildStages();
  buildSpent();
  buildCounters();
  buildPackets();
  ladderInput();
  L.fold = foldOf(true);
  if (L.fold.gaps.length === 0) $("fold").parentElement.hidden = true;
  onFilter.push(drawLadder, sizeWork, refreshCharts, () => { page = 0; if ($("packet-table").open) showPackets(); });
  applyFilter();
  firstWindow();
  select(null);
  toAddress();
  addEventListener("hashchange", toAddress);
  document.addEventListener("keydown", e => {
    const typing = e.target.matches("input[type=search], select, textarea");
    if (e.ctrlKey || e.metaKey || e.altKey || typing || e.defaultPrevented) return;
    if (e.key === "n" || e.key === "p") { e.preventDefault(); stepWrong(e.key === "n" ? 1 : -1); }
    if (e.key === "/") { e.preventDefault(); $("search").focus(); $("search").select(); }
    if (e.key === "?") { $("help").open = !$("help").open; if ($("help").open) $("help").scrollIntoView({ block: "nearest" }); }
  });
  new ResizeObserver(redraw).observe(document.body);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  addEventListener("beforeprint", () => { printing = true; readColours(); paintLadder(); paintWork(); charts.forEach(paintChart); });
  addEventListener("afterprint", () => { printing = false; redraw(); });
}

// toAddress selects what the address names: #packet=7 or #wr=4.
function toAddress() {
  const m = /^#(packet|wr)=(\d+)$/.exec(location.hash);
  const i = m ? (m[1] === "wr" ? indexOfWR : indexOfPacket).get(Number(m[2])) : undefined;
  $("missing").hidden = !m || i !== undefined;
  if (m && i === undefined) say($("missing").textContent = "There is no " + (m[1] === "wr" ? "work request " : "packet ") + m[2] + " in this page" + (D.forgotten[m[1] === "wr" ? 0 : 1] ? ": the oldest are counted only." : "."));
  if (i !== undefined) (m[1] === "wr" ? selectWR : selectPacket)(i);
}

const began = performance.now();
start();
paintLadder();
paintWork();
charts.forEach(paintChart);
// What the tests and a console may ask.
window.rnic = {
  loadMs: performance.now() - began,
  view: () => { const [from, to] = ladderTimes(); return { from, to, inView: inWindow().length, shown: shown.length, perPixel: L.perPixel, draws: L.draws }; },
  setView: (from, to) => { const a = L.fold.axis(from); setWindow(a, (L.fold.axis(to) - a) / ladderHeight()); paintLadder(); },
  paint: () => paintLadder(),
};
document.documentElement.dataset.ready = "yes";
