// Labels of the ladder, and the map of the run at its right edge.

// paintLabels names packets beside their sender, as many as have room: what is selected,
// lost or sent again comes first.
function paintLabels(g, x, w) {
  const taken = D.hosts.map(() => new Map());
  const free = (h, y) => [-1, 0, 1].every(d => {
    const v = taken[h].get(Math.floor(y / LABEL) + d);
    return v === undefined || Math.abs(v - y) >= LABEL;
  });
  let n = 0;
  const rank = l => l.i === L.selected || l.i === L.hover ? 0 : bad(l.i) ? 1 : P.kind[l.i] === 1 || P.kind[l.i] === 4 ? 2 : 3;
  const order = L.lines.length > 6000 ? L.lines.filter(l => rank(l) < 3) : L.lines;
  for (let r = 0; r <= 3; r++) for (const l of order) {
    const h = P.host[l.i], bottom = TOP + ladderHeight();
    if (rank(l) !== r || l.y0 < TOP + 2 || l.y0 > bottom - 4 || !free(h, l.y0)) continue;
    taken[h].set(Math.floor(l.y0 / LABEL), l.y0);
    n++;
    const left = h < D.hosts.length - 1;
    const at = left ? x[h] - 10 : x[h] + 10, room = left ? x[h] - AXIS - 12 : w - MAP - 14 - at;
    const strong = r === 0, tail = labelTail(l.i);
    g.textAlign = left ? "right" : "left";
    g.font = (strong ? "600 " : "") + colours.sans;
    g.fillStyle = bad(l.i) ? colours.lost : colours[KINDS[P.kind[l.i]]];
    let text = labelName(l.i) + "  " + hex(P.psn[l.i]) + (tail && "  " + tail);
    if (g.measureText(text).width > room) text = text.replace(/^[A-Z]+ (?=[A-Z]{2})/, ""); // without the transport
    text = clip(g, text, room);
    if (strong) {
      const tw = g.measureText(text).width;
      g.save();
      g.fillStyle = colours.select;
      g.fillRect(left ? at - tw - 5 : at - 5, l.y0 - 9, tw + 10, 18);
      g.restore();
    }
    g.fillText(text, at, l.y0);
  }
  return n;
}

// labelName is the opcode, and of an acknowledgement what it says.
function labelName(i) {
  const name = packetName(i);
  if (!/^[A-Z]+ ACK(NOWLEDGE)?$/.test(name)) return name;
  return P.kind[i] === 4 ? "NAK" : "ACK";
}

function labelTail(i) {
  const fate = S[P.fate[i]] === "dropped on the wire" ? "lost" : bad(i) || P.lost[i] === 2 ? S[P.fate[i]] : "";
  const syndrome = S[P.syndrome[i]];
  return [P.kind[i] === 1 ? "again" : "", P.kind[i] === 4 ? syndrome.replace(/^(RNR )?NAK[ _:]*/, "$1").replaceAll("_", " ").toLowerCase() : "", fate].filter(Boolean).join(", ");
}

// paintMap is the whole run at the right edge: how many packets, where losses and
// retries are, and where the window is. Only a new filter, fold or size counts anew.
let map = null;
function countMap(rows) {
  map = { shown, fold: L.fold, rows, n: new Float32Array(rows + 1), bad: new Uint8Array(rows + 1), most: 1 };
  for (const i of shown) {
    const r = Math.min(rows, Math.floor(L.fold.axis(P.ps[i]) / L.fold.length * rows));
    map.most = Math.max(map.most, ++map.n[r]);
    if (bad(i)) map.bad[r] = 2; else if (P.kind[i] === 1 && !map.bad[r]) map.bad[r] = 1;
  }
}

function paintMap(g, w, h) {
  const x = w - MAP, rows = h - TOP;
  if (!map || map.shown !== shown || map.fold !== L.fold || map.rows !== rows) countMap(rows);
  const { n, bad, most } = map;
  g.fillStyle = colours.panel;
  g.fillRect(x, TOP, MAP, rows);
  for (let r = 0; r <= rows; r++) {
    if (!n[r]) continue;
    g.fillStyle = bad[r] === 2 ? colours.lost : bad[r] === 1 ? colours.retry : colours.muted;
    const wide = bad[r] ? MAP - 4 : Math.max(2, (MAP - 4) * Math.sqrt(n[r] / most));
    g.fillRect(x + 2, TOP + r - (bad[r] ? 0.5 : 0), wide, bad[r] ? 2 : 1);
  }
  const a = TOP + L.from / L.fold.length * rows, b = a + Math.max(4, ladderSpan() / L.fold.length * rows);
  g.strokeStyle = colours.accent;
  g.lineWidth = 2;
  g.strokeRect(x + 1, Math.max(TOP + 1, a), MAP - 2, Math.min(b, h - 1) - Math.max(TOP + 1, a));
}
