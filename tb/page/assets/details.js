// Details: what is selected, or under the pointer, with the cycle and the signal where it
// can be looked up in the waves.
let selection = null; // { packet: index } or { wr: index }

function select(s) {
  selection = s;
  L.selected = s && s.packet !== undefined ? s.packet : -1;
  $("ladder").dataset.selected = L.selected < 0 ? "" : P.id[L.selected];
  Work.selected = s && s.wr !== undefined ? s.wr : L.selected >= 0 ? indexOfWR.get(P.wr[L.selected]) ?? -1 : -1;
  showDetails(s);
  drawLadder();
  drawWork();
}

function selectPacket(i) {
  if (i < 0) return;
  select({ packet: i });
  reveal(i);
  say(packetSentence(i));
}

function packetSentence(i) {
  const wr = P.wr[i] >= 0 ? ", work request " + P.wr[i] : "";
  return "packet " + P.id[i] + ": " + packetName(i) + ", PSN " + hex(P.psn[i]) + ", " + hostName(P.host[i]) + " to " + hostName(P.to[i]) +
    " at " + ns(P.ps[i]) + ", " + S[P.cause[i]] + ", " + S[P.fate[i]] + wr;
}

function facts(rows) {
  const dl = el("dl", {});
  for (const [name, value] of rows) if (value != null && value !== "") dl.append(el("div", {}, el("dt", {}, name), el("dd", {}, value)));
  return dl;
}

function link(text, go) { return el("button", { type: "button", class: "link", onclick: go }, text); }
function linkPacket(id) {
  const i = indexOfPacket.get(id);
  return i === undefined ? "#" + id + " (not kept)" : link("#" + id + " " + packetName(i) + ", PSN " + hex(P.psn[i]), () => selectPacket(i));
}
function linkWR(id) {
  const k = indexOfWR.get(id);
  return k === undefined ? null : link(wrName(W[k]), () => selectWR(k));
}

// where is a place in the waves: a cycle and a signal with its value.
function where(ps, cycle, signal, value) {
  return el("span", { class: "where" }, ns(ps) + ", cycle " + cycle, el("code", {}, signal, el("wbr"), value === "" ? "" : " = " + value));
}

function showDetails(s, passing) {
  const box = $("details");
  box.classList.toggle("empty", !s);
  box.classList.toggle("passing", !!passing);
  box.replaceChildren();
  if (!s) return box.append(el("h2", {}, "Details"), el("p", { class: "muted" }, "Point at a packet or select a work request to see what it is, why it was sent, and the cycle and signal to look up in the waves."));
  if (s.packet !== undefined) packetDetails(box, s.packet); else wrDetails(box, W[s.wr]);
}

function packetDetails(box, i) {
  const kind = KINDS[P.kind[i]], lost = bad(i);
  box.append(el("p", { class: "over" }, "Packet #" + P.id[i]), el("h2", {}, packetName(i)),
    el("p", { class: "tags" }, el("span", { class: "tag", style: "--c: var(--" + kind + ")" }, KIND_ONE[kind]),
      P.lost[i] ? el("span", { class: "tag", style: "--c: var(--" + (lost ? "lost" : "muted") + ")" }, S[P.fate[i]]) : null),
    facts([
      ["PSN", hex(P.psn[i]) + " (" + P.psn[i] + ")"],
      ["From", hostName(P.host[i]) + (P.qpn[i] ? ", QP " + P.qpn[i] : "")],
      ["To", hostName(P.to[i]) + ", QP " + P.dqpn[i]],
      ["Cause", S[P.cause[i]]],
      ["Because of", P.because[i] >= 0 ? linkPacket(P.because[i]) : null],
      ["Fate", S[P.fate[i]]],
      ["Request", linkWR(P.wr[i])],
      ["Size", P.bytes[i] + " bytes, " + P.payload[i] + " of payload"],
      ["Syndrome", S[P.syndrome[i]] && S[P.syndrome[i]] + ", MSN " + P.msn[i]],
      ["ACK asked", P.ackreq[i] ? "yes" : null],
      ["Sent", ns(P.ps[i]) + " to " + ns(P.ps[i] + P.dur[i])],
      ["Arrived", P.fly[i] >= 0 ? ns(P.ps[i] + P.fly[i]) : "no"],
      ["In the waves", where(P.ps[i], P.cycle[i], S[P.signal[i]], S[P.value[i]])],
    ]));
  const why = D.why[P.id[i]];
  if (why) box.append(el("h3", {}, "What led to it"), events(why));
}

function events(list) {
  return el("ol", { class: "events" }, ...list.map(([ps, cycle, signal, value, text]) =>
    el("li", {}, el("span", {}, S[text]), where(ps, cycle, S[signal], S[value]))));
}

function wrDetails(box, w) {
  box.append(el("p", { class: "over" }, "Work request " + w.id), el("h2", {}, w.op + " " + w.bytes + " bytes"),
    el("p", { class: "tags" }, el("span", { class: "tag", style: "--c: var(--" + (w.status === "SUCCESS" ? "ack" : w.status === "" ? "muted" : "lost") + ")" }, w.status || "not ended"),
      w.tries > 1 ? el("span", { class: "tag", style: "--c: var(--retry)" }, w.tries + " tries") : null),
    facts([
      ["Queue", qpName(w.host, w.qpn) + " (" + w.transport + "), " + w.queue.toUpperCase() + " #" + w.index],
      ["Vendor code", w.vendor],
      ["Signalled", w.signalled ? "yes" : "no"],
      [isOpen(w) ? "Open for" : "Took", isOpen(w) ? span(D.end - w.stages[0][1]) + ", up to the end of the run" : w.stages.length > 1 ? span(w.stages.at(-1)[1] - w.stages[0][1]) : null],
    ]), el("h3", {}, "Stages"),
    el("ol", { class: "events" }, ...w.stages.map(([name, ps, cycle, signal, value], k) =>
      el("li", {}, el("span", {}, S[name], k ? el("span", { class: "muted" }, "  +" + span(ps - w.stages[k - 1][1])) : null), where(ps, cycle, S[signal], S[value])))));
  if (w.waits.length) box.append(el("h3", {}, "Waits"), el("ol", { class: "events" }, ...w.waits.map(([from, to, why, cycle, signal, value, ps]) =>
    el("li", {}, el("span", {}, "for " + S[why] + " ", el("span", { class: "muted" }, span(to - from))), where(ps, cycle, S[signal], S[value])))));
  if (w.packets.length) {
    const first = w.packets.slice(0, 40);
    box.append(el("h3", {}, count(w.packets.length, "packet")), el("ul", { class: "events" }, ...first.map(id => el("li", {}, linkPacket(id)))));
    if (w.packets.length > first.length) box.append(el("p", { class: "muted" }, "and " + (w.packets.length - first.length) + " more: search for wr " + w.id));
  }
}
