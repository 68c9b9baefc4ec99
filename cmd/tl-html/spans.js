// SPDX-License-Identifier: MIT
// Spans of GPU streams and threads: reading, launches, colours.
// ---- reading them ----
// span: start - last start (zigzag), length, name * rows + row; of a GPU's also 1 +
// origin, or 0, then 1 + lane of its launch, or 0, and lead time: see lanes-put.c
function unpack(lane, rows) {
  const raw = atob(lane.spans), n = lane.n, gpu = lane.gpu ? n : 0;
  const s = { start: new Float64Array(n), dur: new Float64Array(n), name: new Uint32Array(n), row: new Uint8Array(n),
    of: new Uint32Array(gpu), from: new Int32Array(gpu).fill(-1), delay: new Float64Array(gpu) };
  let p = 0, last = 0;
  const next = () => {
    let v = 0, m = 1, c;
    do { c = raw.charCodeAt(p++); v += (c & 127) * m; m *= 128; } while (c > 127);
    return v;
  };
  const signed = () => { const z = next(); return z % 2 ? -(z + 1) / 2 : z / 2; };
  for (let i = 0; i < n; i++) {
    last += signed();
    s.start[i] = last;
    s.dur[i] = next();
    const v = next();
    s.name[i] = Math.floor(v / rows);
    s.row[i] = v % rows;
    if (!lane.gpu) continue;
    s.of[i] = next();
    if (!s.of[i]) continue;
    s.from[i] = next() - 1;
    s.delay[i] = signed();
  }
  return s;
}
// Sources with one clock that ran at the same time keep their distances; others
// begin at their first span.
function origins(all) {
  const first = {}, end = {};
  all.lanes.forEach(l => {
    for (let i = 0; i < l.n; i++) {
      first[l.src] = Math.min(first[l.src] ?? Infinity, l.s.start[i]);
      end[l.src] = Math.max(end[l.src] ?? -Infinity, l.s.start[i] + l.s.dur[i]);
    }
  });
  const list = Object.keys(first), offset = k => all.sources[k].offset_ns;
  const starts = list.map(k => offset(k) ?? 0), ends = list.map((k, i) => starts[i] + end[k] - first[k]);
  const longest = Math.max(1, ...list.map(k => end[k] - first[k]));
  const whole = Math.max(...ends) - Math.min(...starts);
  const joined = !sides.length && list.length > 1 && list.every(k => offset(k) != null) && whole < 2 * longest;
  const zero = {};
  list.forEach((k, i) => { zero[k] = first[k] - (joined ? starts[i] - Math.min(...starts) : 0); });
  return { zero, total: joined ? whole : longest, joined, many: list.length > 1, n: list.length };
}
// Why the GPU was idle: colours of the classes of tl-idle. Gaps are hatched, work is
// solid, so that the two cannot be mixed up.
const reasons = { host: '#d9822b', sync: '#b5482f', allocation: '#8f6bb3', data: '#2e8b74',
  compile: '#8f8a00', start_up: '#7a5a48', missing: '#9aa0a6', gpu: '#3b76b5', communication: '#c2569a' }, GAP_LINE = 2, HATCH = 7;
const hatched = colour => 'repeating-linear-gradient(-45deg,' + colour + ' 0 ' + GAP_LINE + 'px,transparent 0 ' +
  (HATCH * Math.SQRT1_2).toFixed(2) + 'px)';
// Gaps of the tables by source of the lanes, relative to its first span.
function gaps(sources) {
  const t = table('idle_gaps');
  return (t ? t.rows : []).map(r => {
    const src = r.src ?? Math.max(0, sources.findIndex(s => r.rank != null && s.rank === r.rank));
    return { src, at: r.ts_ns - (sources[src].first_ns ?? 0), ns: r.gap_ns, reason: r.class,
      text: 'idle ' + time(r.gap_ns) + '\n' + r.cause + ' ' + time(r.cause_ns) +
        (r.call ? '\n' + r.call : '') + (r.call_uid == null ? '' : ' (uid ' + r.call_uid + ')') };
  });
}
function reasonKey(marks) {
  Object.keys(reasons).filter(k => marks.some(m => m.reason === k)).forEach(k => {
    const swatch = make('i'), item = make('span');
    swatch.className = 'gap';
    swatch.style.background = hatched(reasons[k]);
    item.append(swatch, 'idle: ' + k.replace('_', '-'));
    $('tlkey').append(item);
  });
}
// Of a side: the ops that launched kernels of a name, from rows that list these,
// and each op's category.
function launchers(side) {
  const t = drawn('roofline', side) || table('unified_perf_summary', side), of = new Map(), category = new Map();
  (t ? t.rows : []).forEach(row => {
    category.set(row.name, row.op_category);
    (row.kernel_details_summary || []).forEach(k => {
      const ns = (k.total_duration_us || 0) * 1e3, one = of.get(k.name) || { ns: 0, most: 0, rows: [] };
      one.ns += ns;
      one.rows.push({ row, ns, count: k.count });
      if (ns >= one.most) { one.most = ns; one.category = row.op_category; }
      of.set(k.name, one);
    });
  });
  // the op that launched counts, not the one above, as in Categories
  ((table('ops_summary', side) || {}).rows || []).forEach(row => {
    if ((row.categories || []).length === 1) category.set(row.name, row.categories[0]);
  });
  of.forEach(one => one.rows.sort((a, b) => b.ns - a.ns));
  return { of, category, table: t };
}
const COMM = 'communication', COPY = 'copies', REST = 'other GPU work';
// A span's category: that of its op if known, else of the op that launched most
// kernels of its name.
const work = (name, op, { of, category }) => /nccl|rccl|cross_device_reduce/i.test(name) ? COMM :
  /^(mem(cpy|set)|copy(host|device))/i.test(name) ? COPY : category.get(op) || (of.get(name) || {}).category || REST;
// Light enough for black text; the first two as in the bar.
const tints = { [COMM]: '#e0954a', [COPY]: '#b094cf', [REST]: '#a8adb3' };
const spare = ['#7aaee0', '#6cc3a8', '#e58fae', '#cfc25c', '#86cbd6', '#d3a488', '#9fc36f', '#d988ea'];
// GPU time by category over all lanes, the longest first, which gives the colours.
// An op's copies follow its category's time, as in Categories.
function workKey(all, by) {
  const sums = new Map(), moved = new Map(), seen = new Map();
  const add = (to, k, ns) => to.set(k, (to.get(k) || 0) + ns);
  const kind = (l, i) => {
    const s = l.s, side = all.sources[l.src].side || 0, key = (side * 2 ** 20 + s.of[i]) * 2 ** 20 + s.name[i];
    if (!s.name[i]) return [REST];
    const op = s.of[i] ? names[all.origins[s.of[i] - 1][0]] : '';
    if (!seen.has(key)) seen.set(key, [work(names[s.name[i]], op, by[side]), by[side].category.get(op)]);
    return seen.get(key);
  };
  all.lanes.filter(l => l.gpu).forEach(l => {
    l.kinds = Array.from({ length: l.n }, (_, i) => {
      const [k, of] = kind(l, i);
      add(sums, k, l.s.dur[i]);
      if (of && of !== k) {
        add(sums, of, 0);
        add(moved, of + ' ' + k, l.s.dur[i]);
      }
      return k;
    });
  });
  const list = [...sums].sort((a, b) => b[1] - a[1]), colour = {};
  let n = 0;
  list.forEach(([k]) => { colour[k] = tints[k] || spare[n++] || tints[REST]; });
  const shown = list.filter(([k]) => tints[k] || colour[k] !== tints[REST]);
  shown.forEach(([k, ns]) => {
    const swatch = make('i'), item = make('span');
    swatch.style.background = colour[k];
    item.append(swatch, k + ' ' + brief(ns) + [COPY, COMM].filter(m => moved.has(k + ' ' + m))
      .map(m => ' + ' + brief(moved.get(k + ' ' + m)) + ' ' + m).join(''));
    $('tlkey').append(item);
  });
  if (shown.length < list.length) $('tlkey').append(make('span', 'grey: all other categories'));
  return (l, i) => colour[l.kinds[i]] || tints[REST];
}
