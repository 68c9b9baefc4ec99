// SPDX-License-Identifier: MIT
// The tables, to sort and to search.
// ---- tables ----
function sheets() {
  const list = tables.filter(t => t.listed);
  if (!list.length) return;
  $('tabs').hidden = false;
  list.forEach((t, i) => {
    const o = make('option', t.schema.table + ' (' + (t.rows.length + t.left) + ')');
    o.value = i;
    $('which').append(o);
  });
  const SOME = 300, NONE = null;
  let sort = null, down = true, most = SOME;
  const cell = (c, v) => v === null || v === undefined ? '' :
    typeof v === 'object' ? JSON.stringify(v) :
    c.unit === 'ns' ? time(Math.round(v * 100) / 100) :
    c.unit === 'percent' ? v.toFixed(2) :
    typeof v === 'number' && !Number.isInteger(v) ? String(+v.toPrecision(6)) : String(v);
  function paint() {
    const t = list[$('which').value], cols = t.schema.columns;
    const word = $('filter').value.toLowerCase();
    let rows = t.rows;
    if (word) rows = rows.filter(r => JSON.stringify(r).toLowerCase().includes(word));
    if (sort !== null) {
      const key = r => r[sort] == null ? NONE : typeof r[sort] === 'object' ? JSON.stringify(r[sort]) : r[sort];
      rows = rows.slice().sort((a, b) => {
        const x = key(a), y = key(b);
        if (x === NONE || y === NONE) return (x === NONE) - (y === NONE); // at the end
        return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1);
      });
    }
    const tab = make('table'), tr = make('tr'), thead = make('thead'), tbody = make('tbody');
    const isNumber = c => ['int', 'real'].includes(c.type);
    cols.forEach(c => {
      // times carry their unit themselves
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
    $('more').hidden = rows.length <= most;
    $('nrows').textContent = Math.min(most, rows.length) + ' of ' + rows.length + ' rows' +
      (t.left ? '; ' + t.left + ' more are not in this page' : '') +
      (cols.length > 10 ? '; on paper the first 10 of ' + cols.length + ' columns' : '');
  }
  $('which').onchange = () => { sort = null; most = SOME; paint(); };
  $('filter').oninput = paint;
  $('more').onclick = () => { most = Infinity; paint(); };
  paint();
}
