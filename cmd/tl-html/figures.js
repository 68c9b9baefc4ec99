// SPDX-License-Identifier: MIT
// Categories and the roofline.
// Rooflines are drawn once all are placed and have widths.
function pictures() {
  const later = rooflines();
  each_side(categoryBars);
  if ($('tops').children.length === 1 && $('figures').children.length === 1) $('tops').append(...$('figures').children);
  later();
}
// ---- categories ----
function categoryBars(side) {
  const t = drawn('categories', side), box = make('div'), grid = make('div', undefined, 'cat');
  if (!t) return;
  const { x, y } = t.chart, sums = new Map();
  t.rows.forEach(r => sums.set(r[x], (sums.get(r[x]) || 0) + r[y]));
  const list = [...sums].sort((a, b) => b[1] - a[1]), all = list.reduce((s, c) => s + c[1], 0);
  if (!all) return;
  list.slice(0, 16).forEach(([name, ns]) => {
    const bar = make('i');
    bar.style.width = 100 * ns / list[0][1] + '%';
    grid.append(mid(make('span'), name), bar, make('span', (100 * ns / all).toFixed(1) + ' %', 'n'),
      make('span', brief(ns), 'n'));
  });
  box.append(make('h2', 'Categories' + of_side(side)), grid);
  $('figures').append(box);
}
// ---- roofline ----
// Roofs of the rows: memory, and the compute specs with most time.
const ROOFS = 3;
function roofsOf(rows) {
  const specs = new Map();
  let memory = 0;
  rows.forEach(r => {
    if (r.roof_tb_s > 0) memory = r.roof_tb_s;
    if (!(r.roof_tflop_s > 0)) return;
    const one = specs.get(r.compute_spec) || { name: r.compute_spec, rate: r.roof_tflop_s, ns: 0 };
    one.ns += r.kernel_ns_sum;
    specs.set(r.compute_spec, one);
  });
  const list = [...specs.values()].sort((a, b) => b.ns - a.ns).slice(0, ROOFS).sort((a, b) => b.rate - a.rate);
  // those of one rate are one line
  const lines = list.filter((s, i) => !i || s.rate !== list[i - 1].rate);
  lines.forEach(l => { l.name = list.filter(s => s.rate === l.rate).map(s => s.name.replace('_', ' ')).join(', '); });
  return { memory, specs: lines };
}
const bend = (roof, spec) => spec.rate / roof.memory;
function rooflines() {
  // both sides at one scale
  const list = [];
  each_side(side => {
    const t = drawn('roofline', side);
    if (!t) return;
    const points = t.rows.filter(r => r[t.chart.x] > 0 && r[t.chart.y] > 0);
    if (points.length) list.push({ side, t, points, roof: roofsOf(points) });
  });
  const DECADES = 6, lg = Math.log10, all = list.flatMap(o => o.points.map(r => ({ o, r })));
  if (!list.length) return () => {};
  // Ops with hardly any time lie on the edge instead of stretching the picture.
  const ns = all.reduce((s, { r }) => s + r.kernel_ns_sum, 0), seen = all.filter(({ r }) => r.kernel_ns_sum >= ns * 1e-4);
  const xs = seen.map(({ o, r }) => r[o.t.chart.x]), ys = seen.map(({ o, r }) => r[o.t.chart.y]);
  const known = list.filter(o => o.roof.memory > 0);
  const tops = known.flatMap(o => o.roof.specs.map(s => s.rate)), bends = known.flatMap(o => o.roof.specs.map(s => bend(o.roof, s)));
  const x1 = Math.ceil(lg(Math.max(...xs, ...bends)) + .01), y1 = Math.ceil(lg(Math.max(...ys, ...tops)) + .01);
  const scale = { x1, y1, x0: Math.max(Math.floor(lg(Math.min(...xs))), x1 - DECADES),
    y0: Math.max(Math.floor(lg(Math.min(...ys))), y1 - DECADES), most: Math.max(...all.map(({ r }) => r.kernel_ns_sum)) };
  const boxes = list.map(o => {
    const box = make('div');
    box.append(make('h2', 'Roofline' + of_side(o.side)));
    $('figures').append(box);
    return box;
  });
  return () => list.forEach((o, i) => rooflineOf(o, scale, boxes[i]));
}
const boundColour = r => /^COMPUTE/.test(r.roofline_bound) ? colours[1] : /^MEM/.test(r.roofline_bound) ? colours[0] : '#777';
// Of roof as in the list of what is lost: by time, no mean of the calls.
const roofShare = r => (100 * (1 - r.lost_ns / r.kernel_ns_sum)).toFixed(1) + ' %';
const aboutOp = (r, y) => r.name + ' ' + scalars(JSON.stringify(r.input_dims || '')) + '\n' + time(r.kernel_ns_sum) +
  ', ' + r[y].toFixed(2) + ' TFLOP/s' + (r.lost_ns == null ? '' : ', ' + roofShare(r) + ' of roof');
// Of a scale of powers of ten those in view, with 2 and 5 times them where there is room.
const ticks = (low, high) => {
  const list = [];
  for (let k = Math.floor(low); k <= high; k++) (high - low > 2 ? [1] : [1, 2, 5]).forEach(m => list.push(m * 10 ** k));
  return list.filter(v => Math.log10(v) > low - 1e-9 && Math.log10(v) < high + 1e-9);
};
const tickText = v => v < .0009 || v > 2e5 ? v.toExponential(0).replace('+', '') : String(+v.toPrecision(1));
// A button with a sign and a label of what it does.
const sign = (text, what, f) => {
  const b = make('button', text);
  b.title = b.ariaLabel = what;
  b.onclick = f;
  return b;
};
function rooflineOf(o, whole, box) {
  const room = make('div', undefined, 'roof'), controls = make('div', undefined, 'controls'), list = make('div', undefined, 'roofops'), LEAST = .5;
  const what = 'roofline' + of_side(o.side), points = o.points.slice().sort((a, b) => b.kernel_ns_sum - a.kernel_ns_sum);
  let x = [], y = [], frame = null, chosen = 0, waiting = false;
  const drawing = focus => {
    waiting = false;
    frame = rooflineFrame(room, { x0: x[0], x1: x[1], y0: y[0], y1: y[1] });
    const { dots, named } = rooflineDrawn(frame, o, whole, points);
    opList(list, named, o.t);
    dots.forEach((dot, i) => { dot.onfocus = () => { chosen = i; }; });
    // the Tab key always reaches one in view
    const dot = dots.get(chosen) || [...dots.values()][0];
    if (dot) dot.setAttribute('tabindex', 0);
    if (dot && focus) dot.focus();
  };
  const later = () => { if (!waiting) { waiting = true; requestAnimationFrame(() => drawing(false)); } };
  const view = (a, b) => {
    x = within([whole.x0, whole.x1], LEAST, a);
    y = within([whole.y0, whole.y1], LEAST, b);
  };
  const all = () => view([whole.x0, whole.x1], [whole.y0, whole.y1]);
  const zoom = (k, at) => view(closer(x, k, at[0], LEAST), closer(y, k, at[1], LEAST));
  const place = r => [Math.max(whole.x0, Math.log10(r[o.t.chart.x])), Math.max(whole.y0, Math.log10(r[o.t.chart.y]))];
  const middle = () => [(x[0] + x[1]) / 2, (y[0] + y[1]) / 2];
  // pixels to values
  const shown = p => [x[0] + (p.x - frame.L) / frame.w * (x[1] - x[0]), y[1] - (p.y - frame.T) / frame.h * (y[1] - y[0])];
  gestures(room, {
    down() {}, up() {}, over() {},
    move(by, p) {
      const right = by.x / frame.w * (x[1] - x[0]), up = by.y / frame.h * (y[1] - y[0]);
      view([x[0] - right, x[1] - right], [y[0] + up, y[1] + up]);
      if (by.zoom !== 1) zoom(by.zoom, shown(p));
      later();
    },
  });
  room.onwheel = e => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    const r = room.getBoundingClientRect();
    zoom(e.deltaY > 0 ? .8 : 1.25, shown({ x: e.clientX - r.left, y: e.clientY - r.top }));
    later();
  };
  room.ondblclick = e => { if (!e.target.classList.contains('op')) { all(); later(); } };
  // Arrows go from op to op by time; + zooms to the one in focus.
  room.onkeydown = e => {
    const r = points[chosen], at = place(r), keys = {
      ArrowRight: () => { chosen = Math.min(points.length - 1, chosen + 1); }, ArrowLeft: () => { chosen = Math.max(0, chosen - 1); },
      '+': () => zoom(2, at), '=': () => zoom(2, at), '-': () => zoom(.5, at), 0: all,
      Enter: () => goTo && goTo(o.t, r), ' ': () => goTo && goTo(o.t, r),
    };
    if (e.ctrlKey || e.metaKey || e.altKey || !(e.key in keys)) return;
    e.preventDefault();
    keys[e.key]();
    if (e.key === 'Enter' || e.key === ' ') return; // the focus is elsewhere
    const [a, b] = place(points[chosen]);
    if (a < x[0] || a > x[1] || b < y[0] || b > y[1]) view([a - (x[1] - x[0]) / 2, a + (x[1] - x[0]) / 2], [b - (y[1] - y[0]) / 2, b + (y[1] - y[0]) / 2]);
    drawing(true);
  };
  controls.append(sign('+', 'zoom in: ' + what, () => { zoom(2, middle()); later(); }),
    sign('\u2212', 'zoom out: ' + what, () => { zoom(.5, middle()); later(); }), sign('all', 'all of the ' + what, () => { all(); later(); }),
    make('span', COARSE ? 'Two fingers: zoom. Tap: row in the table.' : 'Ctrl-wheel: zoom. Drag: move. Click: row in the table.', 'hint'));
  box.append(controls, room, list);
  all();
  drawing(false);
  addEventListener('resize', later);
  if (!(o.roof.memory > 0)) box.append(make('div', 'No roof: there are no figures of this GPU. Name it with --arch.', 'hint'));
}
const opWord = r => r.name.replace(/^aten::/, '') + ' ' + scalars(JSON.stringify(r.input_dims || ''));
// The rows of the first ops; several ranks have a row each.
function firstOps(rows, most) {
  const list = new Map();
  for (const r of rows) {
    if (list.size === most) break;
    const word = opWord(r);
    if (!list.has(word)) list.set(word, r);
  }
  return [...list.values()];
}
// Whose bubbles have the numbers, with room for names and shapes.
const SHAPES = 200, LOOKS = ['', '', 'shapes', 'n', 'n less'];
function opList(list, rows, t) {
  const tab = make('table'), top = make('tr');
  ['', 'op', 'shapes', 'time', 'of roof'].forEach((h, i) => {
    const th = head_cell(h, LOOKS[i]);
    th.style.width = ['1em', '35%', '', '6em', '4.5em'][i];
    top.append(th);
  });
  tab.append(top);
  rows.forEach((r, n) => {
    const tr = make('tr'), name = r.name.replace(/^aten::/, ''), dims = r.input_dims ? scalars(JSON.stringify(r.input_dims)) : '';
    [n + 1, '', dims.length > SHAPES ? dims.slice(0, SHAPES) + '\u2026' : dims, brief(r.kernel_ns_sum), r.lost_ns == null ? '' : roofShare(r)]
      .forEach((s, i) => tr.append(make('td', s, LOOKS[i])));
    mid(tr.children[1], name);
    tr.children[2].title = dims.slice(0, 4000);
    tr.onclick = () => goTo && goTo(t, r);
    tab.append(tr);
  });
  list.replaceChildren(...(rows.length ? [tab] : []));
}
// The axes in view.
function rooflineFrame(room, { x0, x1, y0, y1 }) {
  // all pixels, so that text is not scaled down
  const W = Math.max(320, Math.min(760, room.clientWidth || 660)), H = 400, L = 62, B = 40, T = 14, R = 26, w = W - L - R, h = H - B - T;
  const lg = Math.log10, X = v => L + (lg(v) - x0) / (x1 - x0) * w, Y = v => H - B - (lg(v) - y0) / (y1 - y0) * h;
  room.replaceChildren();
  const svg = draw(room, 'svg', { viewBox: '0 0 ' + W + ' ' + H, width: W });
  ticks(x0, x1).forEach(v => {
    draw(svg, 'line', { x1: X(v), x2: X(v), y1: T, y2: H - B, class: 'grid' });
    draw(svg, 'text', { x: X(v), y: H - B + 16, 'text-anchor': 'middle' }, tickText(v));
  });
  ticks(y0, y1).forEach(v => {
    draw(svg, 'line', { x1: L, x2: W - R, y1: Y(v), y2: Y(v), class: 'grid' });
    draw(svg, 'text', { x: L - 6, y: Y(v) + (Y(v) < H - B - 4 ? 4 : 0), 'text-anchor': 'end' }, tickText(v));
  });
  draw(svg, 'text', { x: (L + W - R) / 2, y: H - 6, 'text-anchor': 'middle' }, 'FLOP per byte');
  draw(svg, 'text', { 'text-anchor': 'middle',
    transform: 'translate(12,' + (T + H - B) / 2 + ') rotate(-90)' }, 'TFLOP/s');
  return { svg, W, H, L, B, T, R, w, h, X, Y, x0, x1, y0, y1 };
}
// Draws roofs and ops; returns the dots in view by index, and the numbered ops.
function rooflineDrawn(frame, { side, t, roof }, whole, points) {
  const { svg, W, H, L, B, T, R, X, Y } = frame, { x, y } = t.chart;
  svg.setAttribute('role', 'group');
  svg.setAttribute('aria-label', 'roofline' + of_side(side) + ': TFLOP/s of each op by its FLOP per byte; left and right arrow: from op to op');
  const clip = draw(svg, 'clipPath', { id: 'box' + side }), left = 10 ** whole.x0, right = 10 ** whole.x1, low = 10 ** whole.y0;
  draw(clip, 'rect', { x: L, y: T, width: W - L - R, height: H - B - T });
  if (roof.memory > 0) (roof.specs.length ? roof.specs : [{ name: '', rate: roof.memory * right }]).forEach((spec, i) => {
    const turn = Math.min(bend(roof, spec), right), line = [[left, left * roof.memory], [turn, turn * roof.memory], [right, spec.rate]];
    draw(svg, 'polyline', { points: line.map(p => X(p[0]) + ',' + Y(p[1])).join(' '),
      fill: 'none', stroke: hue(i + 2), 'stroke-width': 2, 'clip-path': 'url(#box' + side + ')' });
  });
  const { most } = whole, radius = r => 2.5 + 13 * Math.sqrt(r.kernel_ns_sum / most), LABELS = 5;
  const labels = roofLabels(roof, frame), dots = new Map();
  const spot = r => [X(Math.max(left, r[x])), Y(Math.max(low, r[y]))];
  const seen = points.filter(r => { const [a, b] = spot(r); return a >= L - 1 && a <= W - R + 1 && b >= T - 1 && b <= H - B + 1; });
  const named = firstOps(seen, LABELS);
  seen.forEach(r => {
    const [cx, cy] = spot(r), i = points.indexOf(r), c = draw(svg, 'circle', { cx, cy, r: radius(r), 'fill-opacity': .55, fill: boundColour(r), class: 'op', role: 'button',
      tabindex: -1, 'aria-label': aboutOp(r, y).replace('\n', ', ') });
    dots.set(i, c);
    c.onclick = () => goTo && goTo(t, r);
    draw(c, 'title', {}, aboutOp(r, y));
    const k = named.indexOf(r);
    if (k < 0) return;
    labels.push({ x: cx - LETTER / 2, y: cy + 4, cx, cy, class: 'op', word: String(k + 1) });
  });
  // text above drawings
  apart(labels, T, H - B);
  labels.filter(l => l.cy !== undefined && Math.abs(l.y - 4 - l.cy) > 1).forEach(l => draw(svg, 'line', { x1: l.cx, y1: l.cy, x2: l.cx, y2: l.y - 4, class: 'leader' }));
  labels.forEach(l => draw(svg, 'text', { x: l.x, y: l.y, 'text-anchor': l.back ? 'end' : 'start', class: l.class }, l.word));
  slopeLabel(svg, roof, frame);
  [['compute-bound', colours[1], /^COMPUTE/], ['memory-bound', colours[0], /^MEM/],
    ['no roofline', '#777', /^(LINK.*)?$/]].filter(k => points.some(r => k[2].test(r.roofline_bound || '')))
    .forEach(([word, fill], i) => {
      draw(svg, 'circle', { cx: L + 12, cy: T + 12 + 15 * i, r: 5, fill, 'fill-opacity': .7 });
      draw(svg, 'text', { x: L + 22, y: T + 16 + 15 * i }, word);
    });
  return { dots, named };
}
// Rates on the flat parts of roofs.
function roofLabels(roof, { Y, W, H, R, B, T }) {
  return !(roof.memory > 0) ? [] : roof.specs.filter(s => Y(s.rate) > T && Y(s.rate) < H - B).map(s => ({ x: W - R - 4, y: Y(s.rate) - 4, back: true, class: 'slope',
    word: s.name + ' ' + +s.rate.toPrecision(4) + ' TFLOP/s' }));
}
// Moves labels up or down to the nearest free place.
const LINE = 12, LETTER = 6.3;
const STEPS = Array.from({ length: 25 }, (_, i) => Math.ceil(i / 2) * (i % 2 ? 1 : -1)); // 0, 1, -1, 2, ...
function apart(labels, top, bottom) {
  const put = [], ends = l => { const w = l.word.length * LETTER; return l.back ? [l.x - w, l.x] : [l.x, l.x + w]; };
  labels.forEach(l => {
    const [a, b] = ends(l), free = y => y > top + 8 && y < bottom && put.every(p => Math.abs(p.y - y) >= LINE || p.b < a || p.a > b);
    const y = STEPS.map(k => l.y + k * LINE).find(free);
    if (y !== undefined) l.y = y;
    put.push({ y: l.y, a, b });
  });
  return labels;
}
// The bandwidth along the slope: TFLOP/s over FLOP per byte is TB/s.
function slopeLabel(svg, roof, { X, Y, x0, x1, y0, y1 }) {
  const lg = Math.log10, low = Math.max(10 ** x0, 10 ** y0 / roof.memory);
  const turn = Math.min(10 ** x1, 10 ** y1 / roof.memory, ...roof.specs.map(s => bend(roof, s)));
  if (!(roof.memory > 0) || !(turn > low)) return;
  const middle = 10 ** (.65 * lg(low) + .35 * lg(turn)), at = [X(middle), Y(middle * roof.memory)];
  const lean = Math.atan2(Y(10) - Y(1), X(10) - X(1)) * 180 / Math.PI;
  draw(svg, 'text', { 'text-anchor': 'middle', class: 'slope',
    transform: 'translate(' + at[0] + ',' + (at[1] - 6) + ') rotate(' + lean + ')' },
  'memory ' + +roof.memory.toPrecision(3) + ' TB/s');
}
