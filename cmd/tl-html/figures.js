// SPDX-License-Identifier: MIT
// Categories and the roofline.
// ---- categories ----
function categories() {
  const t = drawn('categories');
  if (!t) return;
  const { x, y } = t.chart, sums = new Map();
  t.rows.forEach(r => sums.set(r[x], (sums.get(r[x]) || 0) + r[y]));
  const list = [...sums].sort((a, b) => b[1] - a[1]), all = list.reduce((s, c) => s + c[1], 0);
  if (!all) return;
  $('categories').hidden = false;
  if ($('tops').children.length === 1) $('tops').append($('categories'));
  list.slice(0, 16).forEach(([name, ns]) => {
    const bar = make('i');
    bar.style.width = 100 * ns / list[0][1] + '%';
    $('cats').append(mid(make('span'), name), bar, make('span', (100 * ns / all).toFixed(1) + ' %', 'n'),
      make('span', brief(ns), 'n'));
  });
}
// ---- roofline ----
function roofline() {
  const t = drawn('roofline');
  if (!t) return;
  const { x, y } = t.chart, roofs = table(t.chart.lines);
  const points = t.rows.filter(r => r[x] > 0 && r[y] > 0);
  if (!points.length) return;
  $('roofline').hidden = false;
  // as many pixels as there are, so that text is not made small
  const lg = Math.log10, W = Math.max(480, Math.min(760, $('roof').clientWidth || 660)), H = 400, L = 62, B = 40, T = 14, R = 26, DECADES = 6;
  const specs = roofs ? roofs.schema.columns.slice(1).map(c => c.id) : [];
  // What took next to no time does not stretch the picture: it lies on its edge.
  const all = points.reduce((s, r) => s + r.kernel_ns_sum, 0);
  const seen = points.filter(r => r.kernel_ns_sum >= all * 1e-4);
  const xs = seen.map(r => r[x]), ys = seen.map(r => r[y]);
  let top = Math.max(...ys), x1 = Math.ceil(lg(Math.max(...xs)) + .01);
  specs.forEach(s => {
    const peak = Math.max(...roofs.rows.map(r => r[s]));
    top = Math.max(top, peak);
    x1 = Math.max(x1, Math.ceil(lg(roofs.rows.find(r => r[s] === peak).flop_per_byte) + .01));
  });
  const y1 = Math.ceil(lg(top) + .01), x0 = Math.max(Math.floor(lg(Math.min(...xs))), x1 - DECADES);
  const y0 = Math.max(Math.floor(lg(Math.min(...ys))), y1 - DECADES);
  const X = v => L + (lg(v) - x0) / (x1 - x0) * (W - L - R);
  const Y = v => H - B - (lg(v) - y0) / (y1 - y0) * (H - B - T);
  const svg = draw($('roof'), 'svg', { viewBox: '0 0 ' + W + ' ' + H, width: W,
    role: 'img', 'aria-label': 'roofline: TFLOP/s of each op by its FLOP per byte' });
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
  const clip = draw(svg, 'clipPath', { id: 'box' });
  draw(clip, 'rect', { x: L, y: T, width: W - L - R, height: H - B - T });
  let last = -Infinity;
  specs.map(s => [s, Math.max(...roofs.rows.map(r => r[s]))]).sort((a, b) => b[1] - a[1])
    .forEach(([s, peak], i) => {
      // on to the edges: memory's slope on the left, flat on the right
      const ends = roofs.rows, a = ends[0], z = ends[ends.length - 1], left = 10 ** x0;
      const line = [[left, a[s] * left / a.flop_per_byte], ...ends.map(r => [r.flop_per_byte, r[s]]),
        [10 ** x1, z[s]]].filter((p, i, all) => !i || p[0] >= all[0][0]);
      draw(svg, 'polyline', { points: line.map(p => X(p[0]) + ',' + Y(p[1])).join(' '),
        fill: 'none', stroke: hue(i + 2), 'stroke-width': 2, 'clip-path': 'url(#box)' });
      last = Math.max(Y(peak) - 4, last + 12);
      draw(svg, 'text', { x: W - R - 4, y: last, 'text-anchor': 'end' }, s + ' ' + peak.toFixed(0) + ' TFLOP/s');
      // along the slope, which is the same for all: TFLOP/s by FLOP per byte is TB/s
      if (i) return;
      const low = Math.max(left, 10 ** y0 * a.flop_per_byte / a[s]), turn = peak * a.flop_per_byte / a[s];
      const middle = 10 ** (.65 * lg(low) + .35 * lg(Math.min(turn, 10 ** x1))), at = [X(middle), Y(middle * a[s] / a.flop_per_byte)];
      const lean = Math.atan2(Y(10) - Y(1), X(10) - X(1)) * 180 / Math.PI;
      draw(svg, 'text', { 'text-anchor': 'middle', class: 'slope',
        transform: 'translate(' + at[0] + ',' + (at[1] - 6) + ') rotate(' + lean + ')' },
      'memory ' + +(a[s] / a.flop_per_byte).toPrecision(3) + ' TB/s');
    });
  const most = Math.max(...points.map(r => r.kernel_ns_sum));
  const colour = r => /^COMPUTE/.test(r.roofline_bound) ? colours[1] :
    r.roofline_bound ? colours[0] : '#777';
  const LABELS = 5, taken = [];
  points.slice().sort((a, b) => b.kernel_ns_sum - a.kernel_ns_sum).forEach((r, i) => {
    const c = draw(svg, 'circle', { cx: Math.max(L, X(r[x])), cy: Math.min(H - B, Y(r[y])),
      r: 2.5 + 13 * Math.sqrt(r.kernel_ns_sum / most), 'fill-opacity': .55,
      fill: colour(r), class: 'op', role: 'button', 'aria-label': r.name + ': its row in the table' });
    const go = () => goTo && goTo(t.schema.table, r);
    c.onclick = go;
    c.onkeydown = e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); go(); } };
    if (i < LABELS) {
      c.setAttribute('tabindex', 0);
      // beside it, below those that are there already
      const cx = Math.max(L, X(r[x])), left = cx > W / 2, size = 2.5 + 13 * Math.sqrt(r.kernel_ns_sum / most) + 4;
      let cy = Math.min(H - B, Y(r[y])) + 4;
      while (taken.some(p => p.left === left && Math.abs(p.cx - cx) < 160 && Math.abs(p.cy - cy) < 12)) cy += 12;
      taken.push({ left, cx, cy });
      const word = r.name.replace(/^aten::/, '') + ' ' + scalars(JSON.stringify(r.input_dims || ''));
      draw(svg, 'text', { x: left ? cx - size : cx + size, y: cy, 'text-anchor': left ? 'end' : 'start', class: 'op' },
        word.length > 34 ? word.slice(0, 33) + '\u2026' : word);
    }
    draw(c, 'title', {}, r.name + ' ' + JSON.stringify(r.input_dims) + '\n' + time(r.kernel_ns_sum) +
      ', ' + r[y].toFixed(2) + ' TFLOP/s' + (r.pct_roofline_mean == null ? '' :
      ', ' + r.pct_roofline_mean.toFixed(1) + ' % of roof'));
  });
  [['compute-bound', colours[1], /^COMPUTE/], ['memory-bound', colours[0], /^MEM/],
    ['no roofline', '#777', /^$/]].filter(k => points.some(r => k[2].test(r.roofline_bound || '')))
    .forEach(([word, fill], i) => {
      draw(svg, 'circle', { cx: L + 12, cy: T + 12 + 15 * i, r: 5, fill, 'fill-opacity': .7 });
      draw(svg, 'text', { x: L + 22, y: T + 16 + 15 * i }, word);
    });
}
