// SPDX-License-Identifier: MIT
// The tables, with sort and search.
// Goes to a row of a table, from other parts of the page; null: no table.
let goTo = null;
// ---- tables ----
function sheets() {
  const list = tables.filter(t => t.listed && (!t.side || table(t.schema.table)));
  if (!list.length) return;
  $('tabs').hidden = false;
  list.forEach((t, i) => {
    const o = make('option', t.schema.table + (/^(diff|lca)_|_vs$|^summary$/.test(t.schema.table) ? '' : of_side(t.side || 0)) +
      ' (' + (t.rows.length + t.left) + ')');
    o.value = i;
    $('which').append(o);
  });
  const SOME = 300, NONE = null, MANY = 14, TELLS = 1000;
  let sort = null, down = true, most = SOME, wide = false, hit = null;
  const picks = new Map(); // chosen columns by table
  // What names the rows, then the main columns, then the rest in order.
  const arranged = t => {
    const cols = t.schema.columns, place = i => i && t.places ? Math.min(t.places[i], TELLS) : -1;
    const order = cols.map((c, i) => i).sort((a, b) => place(a) - place(b) || a - b);
    const some = order.filter(i => place(i) < TELLS), pick = picks.get(t);
    if (pick) return order.filter(i => pick.has(cols[i].id)).map(i => cols[i]);
    return (wide || cols.length <= MANY ? order : some.length < 5 ? order.slice(0, MANY) : some).map(i => cols[i]);
  };
  const cell = (c, v) => v === null || v === undefined ? '' :
    typeof v === 'object' ? JSON.stringify(v) :
    c.unit === 'ns' ? time(Math.round(v * 100) / 100) :
    c.unit === 'percent' ? v.toFixed(2) :
    typeof v === 'number' && !Number.isInteger(v) ? String(+v.toPrecision(6)) : String(v);
  let shown = null;
  function choice(t, cols) {
    $('columns').hidden = false;
    $('chooser').replaceChildren(...t.schema.columns.map(c => {
      const label = make('label'), box = make('input');
      box.type = 'checkbox';
      box.checked = cols.includes(c);
      box.onchange = () => {
        const pick = picks.get(t) || new Set(cols.map(c => c.id));
        if (box.checked) pick.add(c.id);
        else if (pick.size > 1) pick.delete(c.id);
        picks.set(t, pick);
        paint();
        [...$('chooser').querySelectorAll('input')][t.schema.columns.indexOf(c)].focus();
      };
      label.append(box, ' ' + c.id);
      label.title = c.label;
      return label;
    }));
  }
  function paint() {
    const t = list[$('which').value], all = t.schema.columns, cols = arranged(t);
    const word = $('filter').value.toLowerCase();
    let rows = t.rows;
    if (word) rows = rows.filter(r => JSON.stringify(r).toLowerCase().includes(word));
    if (sort !== null) {
      const key = r => r[sort] == null ? NONE : typeof r[sort] === 'object' ? JSON.stringify(r[sort]) : r[sort];
      rows = rows.slice().sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === NONE || y === NONE) return (x === NONE) - (y === NONE); // last
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
      });
    }
    shown = { name: t.schema.table, cols, rows };
    if (hit && rows.indexOf(hit) >= most) most = Infinity;
    const tab = make('table'), tr = make('tr'), thead = make('thead'), tbody = make('tbody');
    const isNumber = c => ['int', 'real'].includes(c.type);
    cols.forEach(c => {
      // times have units in their cells
      const th = head_cell(c.id.replace(/_ns(?=_|$)/, '') +
        (sort === c.id ? (down ? ' \u25be' : ' \u25b4') : ''), isNumber(c) ? 'n' : '');
      th.title = c.label;
      th.tabIndex = 0;
      th.onclick = () => { down = sort === c.id ? !down : true; sort = c.id; paint(); };
      if (sort === c.id) th.ariaSort = down ? 'descending' : 'ascending';
      th.onkeydown = e => {
        if (e.key !== 'Enter' && e.key !== ' ') return;
        e.preventDefault();
        th.onclick();
        $('table').querySelectorAll('th')[cols.indexOf(c)].focus();
      };
      tr.append(th);
    });
    thead.append(tr);
    rows.slice(0, most).forEach(r => {
      const tr = make('tr');
      if (r === hit) tr.className = 'hit';
      cols.forEach(c => {
        const s = cell(c, r[c.id]);
        const td = make('td', s, isNumber(c) ? 'n' : '');
        if (s.length > 30) mid(td, s.length > 400 ? s.slice(0, 200) + '\u2026' + s.slice(-150) : s).title = s.slice(0, 4000);
        if (c.unit === 'percent' && s) share(td, r[c.id]);
        tr.append(td);
      });
      tbody.append(tr);
    });
    tab.append(thead, tbody);
    tab.ariaLabel = t.schema.table;
    $('table').replaceChildren(tab);
    choice(t, cols);
    $('more').hidden = rows.length <= most;
    $('wide').hidden = all.length <= MANY;
    $('wide').textContent = wide ? 'main columns' : 'all columns';
    $('nrows').textContent = Math.min(most, rows.length) + ' of ' + rows.length + ' rows' +
      (t.left ? '; ' + t.left + ' more are not in this page' : '') +
      (cols.length < all.length ? '; ' + cols.length + ' of ' + all.length + ' columns' : '') +
      (cols.length > 10 ? '; on paper the first 10 of ' + cols.length + ' columns' : '');
  }
  $('which').onchange = () => { sort = hit = null; most = SOME; paint(); };
  $('filter').oninput = paint;
  $('more').onclick = () => { most = Infinity; paint(); };
  $('wide').onclick = () => { wide = !wide; picks.delete(list[$('which').value]); paint(); };
  // The shown columns with all filtered rows, as TSV of the programs.
  const escape = v => v == null ? '' : (typeof v === 'object' ? JSON.stringify(v) : String(v))
    .replace(/[\\\t\n]/g, c => ({ '\\': '\\\\', '\t': '\\t', '\n': '\\n' })[c]);
  $('save').onclick = () => {
    const lines = [shown.cols.map(c => c.id), ...shown.rows.map(r => shown.cols.map(c => escape(r[c.id])))];
    const a = make('a');
    a.href = URL.createObjectURL(new Blob([lines.map(l => l.join('\t') + '\n').join('')]));
    a.download = shown.name + '.tsv';
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 1000);
  };
  goTo = (t, row) => {
    const i = list.indexOf(t);
    if (i < 0) return;
    $('which').value = i;
    $('filter').value = '';
    sort = null;
    most = SOME;
    hit = row;
    paint();
    const tr = $('table').querySelector('.hit');
    if (tr) tr.scrollIntoView({ block: 'center' });
  };
  const first = list.findIndex(t => t.chart && t.chart.figure === 'roofline');
  if (first > 0) $('which').value = first;
  paint();
}
