// Input of the ladder: mouse, wheel and keys.

// nearest is the line within a few pixels of a point.
function nearest(px, py) {
  let best = null, least = 8;
  for (const l of L.lines) {
    const dx = l.x1 - l.x0, dy = l.y1 - l.y0;
    const k = Math.min(1, Math.max(0, ((px - l.x0) * dx + (py - l.y0) * dy) / (dx * dx + dy * dy || 1)));
    const d = Math.hypot(px - l.x0 - k * dx, py - l.y0 - k * dy);
    if (d < least) { least = d; best = l; }
  }
  if (best) return best.i;
  const x = laneX($("ladder").clientWidth); // or the label beside the sender
  for (const l of L.lines) {
    const left = P.host[l.i] < D.hosts.length - 1;
    const beside = left ? px < x[P.host[l.i]] && px > AXIS : px > x[P.host[l.i]] && px < $("ladder").clientWidth - MAP;
    if (beside && Math.abs(py - l.y0) < least) { least = Math.abs(py - l.y0); best = l; }
  }
  return best ? best.i : -1;
}

function zoom(factor, at) {
  const h = ladderHeight(), y = at ?? zoomCentre(), fixed = L.from + y * L.perPixel;
  const per = Math.min(Math.max(L.perPixel * factor, D.clock / 40), L.fold.length * 1.04 / h);
  setWindow(fixed - y * per, per);
}

function zoomCentre() { // what is selected stays where it is
  const l = L.lines.find(l => l.i === L.selected), h = ladderHeight();
  return l && l.y0 > TOP && l.y0 < TOP + h ? l.y0 - TOP : h / 2;
}

function pan(pixels) { setWindow(L.from + pixels * L.perPixel, L.perPixel); }

// reveal brings a packet into the window.
function reveal(i) {
  const u = L.fold.axis(P.ps[i]), h = ladderHeight(), y = (u - L.from) / L.perPixel;
  if (y < 20 || y > h - 40) setWindow(u - h * 0.35 * L.perPixel, L.perPixel); else drawLadder();
}

// revealTime brings a time into the window.
function revealTime(ps) { setWindow(L.fold.axis(ps) - ladderSpan() / 2, L.perPixel); }

function stepPacket(d) {
  if (shown.length === 0) return say("no packet is shown");
  let k = shown.indexOf(L.selected);
  if (k < 0) {
    const [from] = ladderTimes();
    k = Math.min(firstFrom(shownTimes, from), shown.length - 1);
  } else k = Math.min(Math.max(k + d, 0), shown.length - 1);
  selectPacket(shown[k]);
}

const leads = new Set(D.leads.map(l => l[6]));

// stepWrong goes to the next packet that was lost, sent again, refused or not answered.
function stepWrong(d) {
  const wrong = i => bad(i) || P.kind[i] === 1 || P.kind[i] === 4 || leads.has(P.id[i]);
  const at = shown.indexOf(L.selected);
  for (let k = at < 0 && d < 0 ? shown.length - 1 : at + d; k >= 0 && k < shown.length; k += d)
    if (wrong(shown[k])) return selectPacket(shown[k]);
  say("no " + (d > 0 ? "later" : "earlier") + " packet is lost, sent again or refused");
}

const ladderKeys = {
  ArrowDown: () => stepPacket(1), ArrowUp: () => stepPacket(-1),
  PageDown: () => pan(ladderHeight() * 0.85), PageUp: () => pan(-ladderHeight() * 0.85),
  Home: () => selectPacket(shown[0] ?? -1), End: () => selectPacket(shown.at(-1) ?? -1),
  "+": () => zoom(1 / 1.5), "=": () => zoom(1 / 1.5), "-": () => zoom(1.5), "0": () => setWindow(0, Infinity),
  n: () => stepWrong(1), p: () => stepWrong(-1),
  ArrowLeft: () => follow(-1), ArrowRight: () => follow(1),
  Enter: () => $("details").focus(), Escape: () => select(null),
};

// follow goes to the packet that caused the selected one, or to the first that it caused.
function follow(d) {
  if (L.selected < 0) return stepPacket(1);
  const id = P.id[L.selected];
  const to = d < 0 ? indexOfPacket.get(P.because[L.selected]) : P.because.findIndex(b => b === id);
  if (to === undefined || to < 0) return say(d < 0 ? "no packet caused this one" : "this packet caused none");
  selectPacket(to);
}

function ladderInput() {
  const c = $("ladder");
  let drag = null, map = false;
  const at = e => { const b = c.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
  const toMap = y => setWindow((y - TOP) / ladderHeight() * L.fold.length - ladderSpan() / 2, L.perPixel);
  c.addEventListener("keydown", e => {
    const f = ladderKeys[e.key];
    if (!f || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    f();
  });
  c.addEventListener("wheel", e => {
    const [, y] = at(e);
    if (e.ctrlKey || e.shiftKey) {
      zoom(Math.exp((e.deltaY || e.deltaX) / 300), y - TOP);
      return e.preventDefault();
    }
    const before = L.from;
    pan(e.deltaY);
    if (L.from !== before) e.preventDefault(); // at an end, the page scrolls on
  }, { passive: false });
  c.addEventListener("pointerdown", e => {
    const [x, y] = at(e);
    map = x >= c.clientWidth - MAP;
    drag = { y: e.clientY, from: L.from, moved: false };
    c.setPointerCapture(e.pointerId);
    if (map) toMap(y);
  });
  c.addEventListener("pointermove", e => {
    const [x, y] = at(e);
    if (drag && map) return toMap(y);
    if (drag && (drag.moved || Math.abs(e.clientY - drag.y) > 3)) {
      drag.moved = true;
      return setWindow(drag.from - (e.clientY - drag.y) * L.perPixel, L.perPixel);
    }
    hover(x < c.clientWidth - MAP ? nearest(x, y) : -1);
  });
  c.addEventListener("pointerup", e => {
    if (drag && !drag.moved && !map) {
      const i = nearest(...at(e));
      if (i >= 0) selectPacket(i); else select(null);
    }
    drag = null;
  });
  c.addEventListener("pointerleave", () => hover(-1));
  for (const [id, f] of Object.entries({
    "zoom-in": () => zoom(1 / 1.5), "zoom-out": () => zoom(1.5), "zoom-all": () => setWindow(0, Infinity),
    "wrong-next": () => stepWrong(1), "wrong-prev": () => stepWrong(-1),
  })) $(id).addEventListener("click", f);
  $("fold").addEventListener("change", () => {
    const [from] = ladderTimes();
    L.fold = foldOf($("fold").checked);
    setWindow(L.fold.axis(from), L.perPixel);
  });
}

function hover(i) {
  if (i === L.hover) return;
  L.hover = i;
  $("ladder").style.cursor = i >= 0 ? "pointer" : "";
  showDetails(i >= 0 ? { packet: i } : selection, i >= 0);
  drawLadder();
}
