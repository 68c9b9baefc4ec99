// SPDX-License-Identifier: MIT
// Categories and the roofline.
// Rooflines are drawn when all have their places, and so their widths.
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
// The roofs of the rows: what each compute spec allows, the memory's bandwidth;
// of the specs those that took most.
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
  // What took next to no time does not stretch the picture: it lies on its edge.
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
const boundColour = r => /^COMPUTE/.test(r.roofline_bound) ? colours[1] : r.roofline_bound ? colours[0] : '#777';
function rooflineOf({ side, t, points, roof }, { x0, x1, y0, y1, most }, box) {
  const { x, y } = t.chart, lg = Math.log10, room = make('div', undefined, 'roof');
  box.append(room);
  // as many pixels as there are, so that text is not made small
  const W = Math.max(320, Math.min(760, room.clientWidth || 660)), H = 400, LONG = W < 480 ? 22 : 34, L = 62, B = 40, T = 14, R = 26;
  const X = v => L + (lg(v) - x0) / (x1 - x0) * (W - L - R), Y = v => H - B - (lg(v) - y0) / (y1 - y0) * (H - B - T);
  const svg = draw(room, 'svg', { viewBox: '0 0 ' + W + ' ' + H, width: W,
    role: 'group', 'aria-label': 'roofline' + of_side(side) + ': TFLOP/s of each op by its FLOP per byte' });
  const text = k => k < -3 || k > 5 ? '1e' + k : String(+(10 ** k).toPrecision(1));
  for (let k = x0; k <= x1; k++) {
    draw(svg, 'line', { x1: X(10 ** k), x2: X(10 ** k), y1: T, y2: H - B, class: 'grid' });
    draw(svg, 'text', { x: X(10 ** k), y: H - B + 16, 'text-anchor': 'middle' }, text(k));
  }
  for (let k = y0; k <= y1; k++) {
    draw(svg, 'line', { x1: L, x2: W - R, y1: Y(10 ** k), y2: Y(10 ** k), class: 'grid' });
    draw(svg, 'text', { x: L - 6, y: Y(10 ** k) + (k > y0 ? 4 : 0), 'text-anchor': 'end' }, text(k));
  }
  draw(svg, 'text', { x: (L + W - R) / 2, y: H - 6, 'text-anchor': 'middle' }, 'FLOP per byte');
  draw(svg, 'text', { 'text-anchor': 'middle',
    transform: 'translate(12,' + (T + H - B) / 2 + ') rotate(-90)' }, 'TFLOP/s');
  const clip = draw(svg, 'clipPath', { id: 'box' + side }), left = 10 ** x0, right = 10 ** x1;
  draw(clip, 'rect', { x: L, y: T, width: W - L - R, height: H - B - T });
  if (roof.memory > 0) (roof.specs.length ? roof.specs : [{ name: '', rate: roof.memory * right }]).forEach((spec, i) => {
    const turn = Math.min(bend(roof, spec), right), line = [[left, left * roof.memory], [turn, turn * roof.memory], [right, spec.rate]];
    draw(svg, 'polyline', { points: line.map(p => X(p[0]) + ',' + Y(p[1])).join(' '),
      fill: 'none', stroke: hue(i + 2), 'stroke-width': 2, 'clip-path': 'url(#box' + side + ')' });
  });
  const radius = r => 2.5 + 13 * Math.sqrt(r.kernel_ns_sum / most), LABELS = 5, labels = roofLabels(roof, { X, Y, W, R });
  points.slice().sort((a, b) => b.kernel_ns_sum - a.kernel_ns_sum).forEach((r, i) => {
    const cx = Math.max(L, X(r[x])), cy = Math.min(H - B, Y(r[y])), c = draw(svg, 'circle', { cx, cy, r: radius(r),
      'fill-opacity': .55, fill: boundColour(r), class: 'op', role: 'button', tabindex: i < LABELS ? 0 : -1,
      'aria-label': r.name + ': its row in the table' });
    const go = () => goTo && goTo(t, r);
    c.onclick = go;
    c.onkeydown = e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); go(); } };
    draw(c, 'title', {}, r.name + ' ' + JSON.stringify(r.input_dims) + '\n' + time(r.kernel_ns_sum) +
      ', ' + r[y].toFixed(2) + ' TFLOP/s' + (r.pct_roofline_mean == null ? '' :
      ', ' + r.pct_roofline_mean.toFixed(1) + ' % of roof'));
    if (i >= LABELS) return;
    const back = cx > W / 2, size = radius(r) + 4;
    const word = r.name.replace(/^aten::/, '') + ' ' + scalars(JSON.stringify(r.input_dims || ''));
    labels.push({ x: back ? cx - size : cx + size, y: cy + 4, back, class: 'op',
      word: word.length > LONG ? word.slice(0, LONG - 1) + '\u2026' : word });
  });
  // what is written stands over what is drawn
  apart(labels, T, H - B).forEach(l => draw(svg, 'text', { x: l.x, y: l.y, 'text-anchor': l.back ? 'end' : 'start', class: l.class }, l.word));
  slopeLabel(svg, roof, { X, Y, x0, x1, y0 });
  [['compute-bound', colours[1], /^COMPUTE/], ['memory-bound', colours[0], /^MEM/],
    ['no roofline', '#777', /^$/]].filter(k => points.some(r => k[2].test(r.roofline_bound || '')))
    .forEach(([word, fill], i) => {
      draw(svg, 'circle', { cx: L + 12, cy: T + 12 + 15 * i, r: 5, fill, 'fill-opacity': .7 });
      draw(svg, 'text', { x: L + 22, y: T + 16 + 15 * i }, word);
    });
  if (!(roof.memory > 0)) room.append(make('div', 'No roof: there are no figures of this GPU. Name it with --arch.', 'hint'));
}
// Each roof's rate on its flat part.
function roofLabels(roof, { X, Y, W, R }) {
  return !(roof.memory > 0) ? [] : roof.specs.map(s => ({ x: W - R - 4, y: Y(s.rate) - 4, back: true, class: 'slope',
    word: s.name + ' ' + +s.rate.toPrecision(4) + ' TFLOP/s' }));
}
// No word stands on another: each is moved up or down to the nearest free place.
const LINE = 12, LETTER = 6.3;
function apart(labels, top, bottom) {
  const put = [], ends = l => { const w = l.word.length * LETTER; return l.back ? [l.x - w, l.x] : [l.x, l.x + w]; };
  labels.forEach(l => {
    const [a, b] = ends(l), free = y => y > top + 8 && y < bottom && put.every(p => Math.abs(p.y - y) >= LINE || p.b < a || p.a > b);
    const y = [0, 1, -1, 2, -2, 3, -3, 4, -4, 5, 6].map(k => l.y + k * LINE).find(free);
    if (y !== undefined) l.y = y;
    put.push({ y: l.y, a, b });
  });
  return labels;
}
// The bandwidth along the slope, which is the same for all: TFLOP/s by FLOP per
// byte is TB/s.
function slopeLabel(svg, roof, { X, Y, x0, x1, y0 }) {
  const lg = Math.log10, low = Math.max(10 ** x0, 10 ** y0 / roof.memory);
  const turn = Math.min(10 ** x1, ...roof.specs.map(s => bend(roof, s)));
  if (!(roof.memory > 0) || !(turn > low)) return;
  const middle = 10 ** (.65 * lg(low) + .35 * lg(turn)), at = [X(middle), Y(middle * roof.memory)];
  const lean = Math.atan2(Y(10) - Y(1), X(10) - X(1)) * 180 / Math.PI;
  draw(svg, 'text', { 'text-anchor': 'middle', class: 'slope',
    transform: 'translate(' + at[0] + ',' + (at[1] - 6) + ') rotate(' + lean + ')' },
  'memory ' + +roof.memory.toPrecision(3) + ' TB/s');
}
