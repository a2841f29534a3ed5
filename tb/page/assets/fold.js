// Fold: the ladder's axis. Stretches in which nothing is on its way are drawn short, so
// that a retry timer of 50 us does not push its packets out of sight.

// foldOf maps time to the axis: knots at the ends of each idle stretch, linear between.
function foldOf(folded) {
  const t = [0], u = [0], gaps = [];
  const idle = 2 * D.flight, short = D.flight / 2; // what is folded, and to what
  const knot = (from, to) => {
    u.push(u.at(-1) + from - t.at(-1), 0);
    t.push(from, to);
    u[u.length - 1] = u.at(-2) + short;
    gaps.push({ from, to });
  };
  let busy = 0;
  if (folded) {
    for (let i = 0; i < N; i++) {
      if (P.ps[i] - busy > idle) knot(busy, P.ps[i]);
      busy = Math.max(busy, P.until[i]);
    }
    if (D.axis - busy > idle) knot(busy, D.axis);
  }
  const end = Math.max(D.axis, busy, 1);
  if (end > t.at(-1)) {
    u.push(u.at(-1) + end - t.at(-1));
    t.push(end);
  }
  const at = (xs, ys, x) => {
    const k = Math.min(Math.max(firstFrom(xs, x), 1), xs.length - 1);
    return ys[k - 1] + (x - xs[k - 1]) * (ys[k] - ys[k - 1]) / (xs[k] - xs[k - 1] || 1);
  };
  return { gaps, length: u.at(-1), axis: ps => at(t, u, ps), time: v => at(u, t, v) };
}

// ticks are round values between from and to, about so many.
function ticks(from, to, about) {
  const raw = (to - from) / Math.max(about, 1);
  if (!(raw > 0)) return [from];
  const mag = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(m => m * mag).find(s => s >= raw);
  const list = [];
  for (let k = Math.ceil(from / step); k * step <= to; k++) list.push(k * step);
  return list;
}

// axisLabel is a time beside a tick, all of one axis in one unit, with the digits that
// tell ticks apart that are step ps from each other.
function axisLabel(ps, range, step = range / 1000) {
  const [unit, name] = range >= 1e9 ? [1e9, " ms"] : range >= 2e6 ? [1e6, " µs"] : [1e3, " ns"];
  const digits = 10 ** Math.max(3, Math.ceil(Math.log10(unit / Math.max(step, 1))));
  return String(Math.round(ps / unit * digits) / digits) + name;
}
function trim(v) { return String(Math.round(v * 1000) / 1000); }
