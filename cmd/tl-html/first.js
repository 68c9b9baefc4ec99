// SPDX-License-Identifier: MIT
// The first screen: verdict, bars, warnings, the longest; and what changed.
// ---- the first screen ----
function stripe(parts, width) {
  const bar = make('div', undefined, 'bar');
  parts.forEach((percent, i) => {
    const b = make('div');
    b.style.flex = '0 0 ' + Math.max(0, percent) + '%';
    b.style.background = colours[i];
    bar.append(b);
  });
  if (width !== undefined) bar.style.width = width + '%';
  return bar;
}
function rankBars() {
  const t = table('gpu_timeline_by_rank');
  if (!t) return;
  const most = Math.max(1, ...t.rows.map(r => r.total_ns));
  const first = late(), of = r => first.has(r.rank ?? r.src) ? 0 : 1;
  t.rows.map((r, i) => [of(r), i, r]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map(x => x[2]).forEach(r => {
    const row = make('div', undefined, 'row'), room = make('div', undefined, 'room');
    room.append(stripe([r.pct_computation, r.pct_exposed_comm, r.pct_exposed_memcpy, r.pct_idle],
      100 * r.total_ns / most));
    row.append(make('span', String(r.rank ?? r.src), 'name'), room,
      make('span', time(r.total_ns), 'time'),
      make('span', r.late_cause ? 'late: ' + r.late_cause : '', 'late'));
    row.title = 'computation ' + time(r.computation_ns) + ', exposed communication ' +
      time(r.exposed_comm_ns) + ', exposed copies ' + time(r.exposed_memcpy_ns) + ', idle ' +
      time(r.idle_ns) + (r.wait_ns == null ? '' : ', waiting in collectives ' + time(r.wait_ns));
    $('ranks').append(row);
  });
}
// Without GPU work: the threads of the host, the busiest first.
function threadBars() {
  const t = table('host_timeline'), MOST = 16;
  if (!t || t.rows.length < 2) return;
  const list = t.rows.slice().sort((a, b) => b.busy_ns - a.busy_ns);
  $('ranks').classList.add('threads');
  list.slice(0, MOST).forEach(r => {
    const row = make('div', undefined, 'row'), room = make('div', undefined, 'room');
    const label = (r.rank == null ? '' : 'rank ' + r.rank + ' ') +
      (r.thread_name === 'Unknown' ? 'thread ' + r.tid : r.thread_name);
    const part = ns => r.total_ns ? 100 * ns / r.total_ns : 0;
    room.append(stripe([part(r.op_ns), part(r.busy_ns - r.op_ns), 0, part(r.total_ns - r.busy_ns)]));
    row.append(make('span', label, 'name'), room, make('span', brief(r.busy_ns), 'time'));
    row.title = label + ': ops ' + brief(r.op_ns) + ', other work ' + brief(r.busy_ns - r.op_ns);
    $('ranks').append(row);
  });
  if (list.length > MOST) $('ranks').append(make('div', (list.length - MOST) + ' more threads', 'hint'));
}
// ---- two traces ----
const sides = data('sides');
const signed = ns => (ns < 0 ? '\u2212' : '+') + brief(Math.abs(ns));
const change = (a, b) => !a ? 'new' : !b ? 'gone' : (b / a).toFixed(3);
function changes(rows) {
  if (!rows.length) return;
  const box = make('div'), tab = make('table'), top = make('tr');
  const names = sides.length ? sides : ['before', 'after'];
  ['name', ...names, 'difference', 'ratio'].forEach((h, i) => {
    const th = head_cell(h, i ? 'n' : '');
    th.style.width = ['', '7em', '7em', '7em', '5em'][i];
    top.append(th);
  });
  tab.append(top);
  const at = places(rows.map(r => scalars(r.name)));
  rows.forEach((r, n) => {
    const tr = make('tr'), cells = [r.name, brief(r.before_ns), brief(r.after_ns), signed(r.time_ns),
      change(r.before_ns, r.after_ns)];
    cells.forEach((s, i) => tr.append(make('td', s, i ? 'n' : '')));
    mid(tr.firstChild, scalars(r.name), at[n]).title = r.name.slice(0, 4000);
    tr.children[3].style.background = tint(r.before_ns, r.after_ns);
    tr.children[3].style.color = ink(r.before_ns, r.after_ns);
    tab.append(tr);
  });
  box.style.flexBasis = '100%';
  box.append(make('h2', 'What changed most'), tab);
  $('tops').append(box);
}
// From -1, half as long or gone, to 1, twice as long or new: blue to orange.
const turn = (a, b) => !a && !b ? 0 : !a ? 1 : !b ? -1 : Math.max(-1, Math.min(1, Math.log2(b / a)));
const tint = (a, b) => {
  const t = turn(a, b), w = Math.abs(t) ** .7, end = t < 0 ? [33, 102, 172] : [179, 88, 6];
  return 'rgb(' + end.map(c => Math.round(245 + (c - 245) * w)).join(',') + ')';
};
const ink = (a, b) => Math.abs(turn(a, b)) > .85 ? '#fff' : '#000';
function head() {
  const t = table('summary');
  if (!t) return;
  const part = p => t.rows.filter(r => r.part === p);
  const first = p => (part(p)[0] || {}).name || '';
  part('health').concat(part('diff')).forEach(r => $('verdict').append(make('p', figures(r.name))));
  ['late', 'verdict'].forEach(p => { if (first(p)) $('verdict').append(make('p', figures(first(p)))); });
  part('phase').forEach(r => $('verdict').append(make('p', figures(r.note))));
  if (first('trace') !== document.title) $('bars').append(make('div', first('trace'), 'hint'));
  const parts = part('timeline').filter(r => r.name !== 'total'), key = make('div', '', 'key');
  const colour = r => /comm|other/.test(r.name) ? 1 : /copies/.test(r.name) ? 2 : r.name === 'idle' ? 3 : 0;
  const percents = [0, 0, 0, 0];
  parts.forEach(r => {
    percents[colour(r)] += r.percent;
    if (r.percent < .05 && r.name !== 'idle' && colour(r)) return;
    const swatch = make('i'), item = make('span');
    swatch.style.background = colours[colour(r)];
    item.append(swatch, r.name + ' ' + r.percent.toFixed(1) + ' % (' + brief(r.time_ns) + ')');
    key.append(item);
  });
  $('bars').append(stripe(percents), key);
  rankBars();
  threadBars();
  part('group').forEach(r => $('groups').append(make('li', r.name + ': ' + r.note)));
  part('recoverable').forEach(r => $('gains').append(make('li',
    figures(time(r.time_ns) + ' in ' + r.name + (r.note ? ': ' + r.note : '')))));
  $('gainhead').hidden = !part('recoverable').length;
  part('warning').forEach(r => $('warnings').append(make('li', figures(r.name))));
  const list = (heads, rows, cells, widths) => {
    if (!rows.length) return;
    if (!rows.some(r => cells(r)[heads.length - 1])) heads = heads.slice(0, -1);
    const box = make('div'), tab = make('table'), top = make('tr');
    heads.forEach((h, i) => {
      const th = head_cell(i ? h : 'name', i && i < 4 ? 'n' : '');
      th.style.width = widths[i];
      top.append(th);
    });
    tab.append(top);
    const at = places(rows.map(r => cells(r)[0]));
    rows.forEach((r, n) => {
      const tr = make('tr');
      cells(r).slice(0, heads.length).forEach((s, i) => tr.append(make('td', s, i && i < 4 ? 'n' : '')));
      mid(tr.firstChild, cells(r)[0], at[n]).title = r.name.slice(0, 4000);
      share(tr.children[2], r.percent);
      tab.append(tr);
    });
    box.append(make('h2', heads[0]), tab);
    $('tops').append(box);
  };
  changes(part('change'));
  const ops = part('op'), kernels = part('kernel'), lost = part('roofline');
  const wide = ['', '6.5em', '5em', '4.5em', '11em'];
  const cells = r => [bare(r.name), brief(r.time_ns), r.percent.toFixed(1) + ' %', r.count, r.note || ''];
  list([table('host_timeline') ? 'Top ops on the host' : 'Top ops', 'time', 'share', 'count', 'category'], ops, cells, wide);
  list(['Top kernels', 'time', 'share', 'count', 'category'], kernels, cells, wide);
  list(['Lost to the roofline' + (lost.length ? ' (' + (lost[0].note || '').replace(/^.*, /, '') + ')' : ''),
    'time lost', 'of roof', 'bound'], lost,
    r => [scalars(r.name), brief(r.time_ns), r.percent.toFixed(1) + ' %', (r.note || '').replace(/ bound.*/, '')],
    ['', '7em', '5.5em', '6em']);
}
