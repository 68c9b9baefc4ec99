// SPDX-License-Identifier: MIT
// Steps, the critical path and launches, each where its table is in the file.
// Rows of a side's table by rank, or by trace; '' where there is one.
function byRank(t) {
  const of = new Map();
  (t ? t.rows : []).forEach(r => {
    const k = r.rank ?? r.src ?? '';
    of.set(k, [...(of.get(k) || []), r]);
  });
  return of;
}
const RANKS = 8;
// A box in which each rank has a line, made by f; at most RANKS of them.
function rankBox(word, side, name, of, f) {
  if (!of.size) return null;
  const box = make('div', undefined, sides.length && !(table(name, 0) && table(name, 1)) ? 'whole' : '');
  box.append(make('h2', word + of_side(side)));
  [...of].slice(0, RANKS).forEach(([k, rows]) => {
    const line = make('div', undefined, of.size > 1 ? 'line low' : 'line');
    if (of.size > 1) line.append(make('span', String(k), 'name'));
    line.append(f(rows, k));
    box.append(line);
  });
  if (of.size > RANKS) box.append(make('div', (of.size - RANKS) + ' more in the tables', 'hint'));
  $('tops').append(box);
  return box;
}
// ---- steps ----
const BARS = 200;
// By the clock of the summary; of very many the longest.
function stepTimes(rows, sum) {
  const clock = sum && sum.step_time === 'gpu_wall' ? 'gpu_wall_ns' : 'wall_ns';
  const all = rows.filter(r => r.what === 'step' && r[clock] != null).map(row => ({ row, ns: row[clock] }));
  const least = all.length > BARS ? all.map(s => s.ns).sort((a, b) => b - a)[BARS - 1] : 0;
  return all.filter(s => s.ns >= least).slice(0, BARS)
    .map(s => ({ ...s, slowest: !!sum && s.row.step === sum.slowest && s.row.pid === sum.pid }));
}
function stepBars(side) {
  const t = table('steps', side), sums = byRank(table('steps_summary', side)), of = new Map();
  const sumOf = (k, rows) => (sums.get(k) || []).find(s => s.pid === rows[0].pid) || (sums.get(k) || [])[0];
  byRank(t).forEach((rows, k) => {
    const list = stepTimes(rows, sumOf(k, rows));
    if (list.length > 1) of.set(k, list);
  });
  const most = Math.max(1, ...[...of.values()].flat().map(s => s.ns)), said = [];
  const box = rankBox('Steps', side, 'steps', of, (list, k) => {
    const bars = make('div', undefined, 'steps'), sum = sumOf(k, list.map(s => s.row)), main = Math.max(0, list.findIndex(s => s.slowest));
    list.forEach((s, i) => {
      const b = make('button', undefined, s.slowest ? 'slowest' : '');
      b.style.height = 100 * s.ns / most + '%';
      b.title = b.ariaLabel = 'step ' + s.row.step + ': ' + time(s.ns) + (s.slowest ? ', slowest' : '') + (s.row.flags ? ', ' + s.row.flags : '');
      b.tabIndex = i === main ? 0 : -1;
      b.onclick = () => goTo && goTo(t, s.row);
      b.onkeydown = e => {
        const to = bars.children[i + ({ ArrowRight: 1, ArrowLeft: -1 }[e.key] || 0)];
        if (to && to !== b) to.focus();
      };
      bars.append(b);
    });
    if (sum && sum.slowest != null) said.push((k === '' ? '' : k + ': ') + 'step ' + sum.slowest + ', ' + brief(sum.time_ns_max) +
      ' (median ' + brief(Math.round(sum.time_ns_median)) + (sum.slowest_by ? '; ' + sum.slowest_by.replace(/_/g, ' ') + ' ' +
      brief(sum.slowest_by_ns) + (sum.median_of === 'fast' ? ', median fast step ' : ', median step ') + brief(sum.median_step_ns) : '') + ')');
    return bars;
  });
  if (!box) return;
  if (said.length) box.append(make('div', 'Slowest: ' + said.slice(0, RANKS).join('. '), 'hint'));
  box.append(make('div', 'Click: row in the table.', 'hint'));
}
// ---- critical path ----
const BOUNDS = 7;
// Time by bound, the longest first; those without a colour of their own are one.
function bounds(rows) {
  const sums = new Map();
  rows.forEach(r => sums.set(r.bound, (sums.get(r.bound) || 0) + r.time_ns));
  return sums;
}
function pathStripes(side) {
  const t = table('critical_path', side), of = byRank(t), all = [...bounds(t ? t.rows : [])].sort((a, b) => b[1] - a[1]).map(b => b[0]);
  const named = all.slice(0, BOUNDS), free = spare.slice();
  const tones = [...named.map(b => b === 'communication' ? tints[COMM] : b === 'copy' ? tints[COPY] : free.shift()), 'var(--idle)'];
  const parts = rows => {
    const sums = bounds(rows), whole = [...sums.values()].reduce((s, n) => s + n, 0) || 1, ns = named.map(b => sums.get(b) || 0);
    return [...ns, whole - ns.reduce((s, n) => s + n, 0)].map(n => ({ ns: n, percent: 100 * n / whole }));
  };
  const box = rankBox('Critical path', side, 'critical_path', of, rows => stripe(parts(rows).map(p => p.percent), undefined, tones));
  if (!box) return;
  const key = make('div', undefined, 'key'), one = of.size === 1 && parts(t.rows);
  [...named, ...(all.length > BOUNDS ? ['other'] : [])].forEach((b, i) => {
    const swatch = make('i'), item = make('span');
    swatch.style.background = tones[i];
    item.append(swatch, b.replace(/_/g, ' ') + (one ? ' ' + one[i].percent.toFixed(1) + ' % (' + brief(one[i].ns) + ')' : ''));
    key.append(item);
  });
  const rows = make('button', 'rows in critical_path');
  rows.onclick = () => goTo && goTo(t, t.rows[0]);
  box.append(key, rows);
}
// ---- launches ----
const launches = side => {
  const t = table('launches_by_api', side);
  return t ? topOf({ left: t.left, rows: t.rows.map(r => ({ ...r, name: r.api })) }, 'api_ns_sum').slice(0, TOP_CAUSES) : [];
};
function waits() {
  each_side(stepBars);
  each_side(pathStripes);
  toplists(side => 'Launches by API' + of_side(side), ['time', 'share', 'count', ''],
    sides.length ? [launches(0), launches(1)] : [launches(0)], topCells, WIDE);
}
