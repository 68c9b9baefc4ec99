// SPDX-License-Identifier: MIT
// The first screen: verdict, bars, warnings, the longest; and what changed.
// ---- the first screen ----
function stripe(parts, width, tones = colours) {
  const bar = make('div', undefined, 'bar');
  parts.forEach((percent, i) => {
    const b = make('div');
    b.style.flex = '0 0 ' + Math.max(0, percent) + '%';
    b.style.background = tones[i];
    bar.append(b);
  });
  if (width !== undefined) bar.style.width = width + '%';
  return bar;
}
// The window that the bars are of.
const windowWords = side => ((table('summary') || { rows: [] }).rows.filter(r => r.part === 'window')[side || 0] ||
  {}).name || 'first to last event';
// Of the window as on the screen; why a rank is late is in the table of its
// whole time, whose rows are in the same order.
function rankBars() {
  const t = drawn('ranks'), more = table('gpu_timeline_by_rank');
  if (!t) return;
  const most = Math.max(1, ...t.rows.map(r => r.total_ns));
  $('ranks').before(make('div', (sides.length ? sides[0] + ': each ' : 'Each ') +
    t.schema.columns[0].id.replace('src', 'trace') + ', ' + windowWords(), 'hint'));
  const first = late(), of = r => first.has(r.rank ?? r.src) ? 0 : 1;
  t.rows.map((r, i) => ({ ...(more && more.rows[i]), ...r, i }))
    .sort((a, b) => of(a) - of(b) || a.i - b.i).forEach(r => {
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
// ---- what changed ----
function changes(rows) {
  if (!rows.length) return;
  const box = make('div'), tab = make('table'), top = make('tr');
  const most = Math.max(...rows.map(r => Math.abs(r.time_ns)));
  const words = sides.length ? sides : ['before', 'after'];
  ['name', ...words, 'difference', 'ratio'].forEach((h, i) => {
    const th = head_cell(h, i ? (i < 3 ? 'n less' : 'n') : '');
    th.style.width = ['', '7em', '7em', '7em', '5em'][i];
    top.append(th);
  });
  tab.append(top);
  const at = places(rows.map(r => scalars(r.name)));
  rows.forEach((r, n) => {
    const tr = make('tr'), cells = [r.name, brief(r.before_ns), brief(r.after_ns), signed(r.time_ns),
      change(r.before_ns, r.after_ns)];
    cells.forEach((s, i) => tr.append(make('td', s, i ? (i < 3 ? 'n less' : 'n') : '')));
    mid(tr.firstChild, scalars(r.name), at[n]).title = r.name.slice(0, 4000);
    tr.children[3].style.background = tint(r.time_ns, most);
    tr.children[3].style.color = ink(r.time_ns, most);
    tab.append(tr);
  });
  box.className = 'whole';
  box.append(make('h2', 'What changed most'), tab);
  $('tops').append(box);
}
// ---- the bar ----
// Its parts by name, in percent and ns: from the summary, which has both sides of a
// comparison, else from the timeline. Traces run side by side: of several the mean
// is a time that passed.
const PARTS = { computation: ['computation_time'], kernels: ['kernel'], 'exposed communication': ['exposed_comm_time'],
  'exposed copies': ['exposed_memcpy_time'], idle: ['idle_time', 'idle', 'micro_idle_time', 'macro_idle_time'] };
const timelines = side => Math.max(1, (table('gpu_timeline', side) || { rows: [] }).rows.filter(r => r.type === 'total_time').length);
function barParts(side) {
  const known = ((table('summary') || { rows: [] }).rows).filter(r => r.part === 'timeline' && r.name !== 'total');
  if (known.length && (!sides.length || known[0].after_ns != null)) {
    const ns = r => side ? r.after_ns : r.time_ns, whole = known.reduce((s, r) => s + ns(r), 0);
    return known.map(r => ({ name: r.name, time_ns: ns(r), percent: whole ? 100 * ns(r) / whole : 0 }));
  }
  const t = table('gpu_timeline', side);
  if (!t) return [];
  const of = types => t.rows.filter(r => types.includes(r.type)), sum = rows => rows.reduce((s, r) => s + r.time_ns, 0);
  const all = sum(of(['total_time']));
  return !all ? [] : Object.entries(PARTS).map(([name, types]) => [name, of(types)]).filter(([, rows]) => rows.length)
    .map(([name, rows]) => ({ name, time_ns: sum(rows) / timelines(side), percent: 100 * sum(rows) / all }));
}
const barTime = side => barParts(side).reduce((s, r) => s + r.time_ns, 0);
function bar(side, most) {
  const parts = barParts(side), key = make('div', undefined, 'key'), percents = [0, 0, 0, 0];
  if (!parts.length) return;
  const colour = r => /comm|other/.test(r.name) ? 1 : /copies/.test(r.name) ? 2 : r.name === 'idle' ? 3 : 0;
  const total = barTime(side), n = timelines(side);
  key.append(make('b', (sides.length ? sides[side] + ', ' + windowWords(side) + ':' : parts.some(r => /ops|kernels/.test(r.name)) ? 'whole run' :
    (data('clock') === 'TPU' ? 'TPU' : 'GPU') + ', ' + windowWords() + ':') +
    ' ' + brief(Math.round(total)) + (n > 1 ? ', mean of ' + n : '')), ' ');
  parts.forEach(r => {
    percents[colour(r)] += r.percent;
    if (r.percent < .05 && r.name !== 'idle' && colour(r)) return;
    const swatch = make('i'), item = make('span');
    swatch.style.background = colours[colour(r)];
    item.append(swatch, r.name + ' ' + r.percent.toFixed(1) + ' % (' + brief(Math.round(r.time_ns)) + ')');
    key.append(item);
  });
  const drawing = stripe(percents, most ? 100 * total / most : undefined);
  drawing.setAttribute('role', 'img');
  drawing.ariaLabel = (sides.length ? sides[side] + ': ' : '') +
    parts.map(r => r.name + ' ' + r.percent.toFixed(1) + ' %').join(', ');
  $('bars').append(drawing, key);
}
// ---- lists of the longest ----
function toplist(heads, rows, cells, widths, alone) {
  if (!rows.length) return;
  if (!rows.some(r => cells(r)[heads.length - 1])) heads = heads.slice(0, -1);
  const box = make('div'), tab = make('table'), top = make('tr');
  const look = i => (i && i < 4 ? 'n' : '') + (i > 2 ? ' less' : '');
  heads.forEach((h, i) => {
    const th = head_cell(i ? h : 'name', look(i));
    th.style.width = widths[i];
    top.append(th);
  });
  tab.append(top);
  const at = places(rows.map(r => cells(r)[0]));
  rows.forEach((r, n) => {
    const tr = make('tr');
    cells(r).slice(0, heads.length).forEach((s, i) => tr.append(make('td', s, look(i))));
    mid(tr.firstChild, cells(r)[0], at[n]).title = r.name.slice(0, 4000);
    if (r.percent != null) share(tr.children[2], r.percent);
    tab.append(tr);
  });
  if (alone) box.className = 'whole';
  box.append(make('h2', heads[0]), tab);
  $('tops').append(box);
}
// A list of each side, side by side: one that has no counterpart is as wide as both.
function toplists(word, rest, lists, cells, widths) {
  const alone = sides.length && lists.filter(rows => rows.length).length < 2;
  lists.forEach((rows, side) => toplist([word(side, rows), ...rest], rows, cells, widths, alone));
}
const TOP_CAUSES = 5;
const WIDE = ['', '6.5em', '5em', '4.5em', '11em'];
const TOP = 10;
// A table's largest by name; a table whose end is not in the page has no shares.
function topOf(t, ns) {
  const sums = new Map();
  (t ? t.rows : []).forEach(r => {
    const one = sums.get(r.name) || { name: r.name, time_ns: 0, count: 0, note: [].concat(r.categories || r.category || []).join(' ') };
    one.time_ns += r[ns];
    one.count += r.count;
    sums.set(r.name, one);
  });
  const list = [...sums.values()].sort((a, b) => b.time_ns - a.time_ns), all = list.reduce((s, r) => s + r.time_ns, 0);
  return all ? list.slice(0, TOP).map(r => ({ ...r, percent: t.left ? null : 100 * r.time_ns / all })) : [];
}
const topCells = r => [bare(r.name), brief(r.time_ns), r.percent == null ? '' : r.percent.toFixed(1) + ' %', r.count, r.note || ''];
// ---- what could be won ----
// The row of an event, by an id of the table that a gain comes from, else of any;
// ranks have the same ids, so the one that the text names, or the late one.
const EVIDENCE = ['idle', 'unified_perf_summary'];
function rowOf(uid, text, side) {
  const place = t => (EVIDENCE.indexOf(t.schema.table) + EVIDENCE.length + 1) % (EVIDENCE.length + 1);
  const first = late(), named = (text.split('uid ' + uid + ' of rank ')[1] || '').match(/^\d*/)[0];
  for (const t of tables.filter(t => t.listed && (t.side || 0) === side).sort((a, b) => place(a) - place(b))) {
    const ids = t.schema.columns.map(c => c.id).filter(id => /(^|_)uid$/.test(id));
    const rows = t.rows.filter(r => ids.some(id => r[id] != null && String(r[id]) === String(uid)));
    const row = rows.find(r => r.rank != null && String(r.rank) === named) ||
      rows.find(r => first.has(r.rank)) || rows[0];
    if (row) return [t, row];
  }
  return null;
}
// Ids in the text lead to their rows; those that it lacks stand behind it.
function gain(r) {
  const li = make('li'), side = sides.length && r.name.startsWith(sides[1] + ': ') ? 1 : 0;
  const links = new Map((r.uids || []).map(uid => [String(uid), rowOf(uid, r.name, side)]).filter(([, at]) => at));
  const link = uid => {
    const b = make('button', 'uid ' + uid), at = links.get(uid);
    b.title = 'row in ' + at[0].schema.table;
    b.onclick = () => goTo && goTo(...at);
    links.delete(uid);
    return b;
  };
  figures(time(r.time_ns) + ': ' + r.name + (r.note ? '; ' + r.note : '')).split(/uid (\d+)/).forEach((s, i) =>
    li.append(i % 2 ? links.has(s) ? link(s) : 'uid ' + s : s));
  [...links.keys()].forEach(uid => li.append(' ', link(uid)));
  return li;
}
function head() {
  const t = table('summary');
  if (!t) { waits(); return; }
  const part = p => t.rows.filter(r => r.part === p);
  const first = p => (part(p)[0] || {}).name || '';
  part('health').concat(part('diff')).forEach(r => $('verdict').append(make('p', figures(r.name))));
  // in their order: of a comparison those of a side stand together
  t.rows.filter(r => ['late', 'verdict', 'phase', 'ranks', 'mfu'].includes(r.part))
    .forEach(r => $('verdict').append(make('p', figures(r.part === 'phase' ? r.note : r.name))));
  if (first('trace') !== document.title) $('bars').append(make('div', first('trace'), 'hint'));
  const long = sides.length ? Math.max(...[0, 1].map(barTime)) : 0;
  each_side(side => bar(side, long));
  rankBars();
  threadBars();
  part('group').forEach(r => $('groups').append(make('li', r.name + ': ' + r.note)));
  part('recoverable').forEach(r => $('gains').append(gain(r)));
  $('gainhead').hidden = !part('recoverable').length;
  part('warning').forEach(r => $('warnings').append(make('li', figures(r.name))));
  changes(part('change'));
  const ops = table('host_timeline') ? 'Top ops on the host' : 'Top ops', rest = ['time', 'share', 'count', 'category'];
  // of a comparison each row is of the side in whose column its time is
  const of = (p, most) => sides.length ? ['before_ns', 'after_ns'].map(ns => part(p).filter(r => r[ns] != null).slice(0, most)) :
    [part(p).slice(0, most)];
  waits();
  toplists(side => 'Idle by cause' + of_side(side), ['time', 'share', 'count', 'most in'], of('idle', TOP_CAUSES), topCells, WIDE);
  toplists(side => ops + of_side(side), rest, of('op'), topCells, WIDE);
  toplists(side => 'Top kernels' + of_side(side), rest, of('kernel'), topCells, WIDE);
  toplists((side, lost) => 'Lost to the roofline' + of_side(side) +
    (lost.length ? ' (' + (lost[0].note || '').replace(/^.*, /, '') + ')' : ''), ['time lost', 'of roof', 'bound'],
  of('roofline'),
  r => [scalars(r.name), brief(r.time_ns), r.percent.toFixed(1) + ' %', (r.note || '').replace(/ bound.*/, '')],
  ['', '7em', '5.5em', '6em']);
}
