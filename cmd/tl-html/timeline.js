// SPDX-License-Identifier: MIT
// Spans of GPU streams and threads over time, on a canvas.
let paper = 0; // pixels across a sheet, while it prints
addEventListener('beforeprint', () => { paper = 1030; });
addEventListener('afterprint', () => { paper = 0; });
function canvas(id, height) {
  const c = $(id), dpr = devicePixelRatio || 1, w = paper || c.clientWidth || 1000;
  c.style.height = height + 'px';
  c.width = w * dpr;
  c.height = height * dpr;
  const g = c.getContext('2d');
  g.setTransform(dpr, 0, 0, dpr, 0, 0);
  g.clearRect(0, 0, w, height);
  g.font = '11px system-ui, sans-serif';
  g.textBaseline = 'middle';
  return [g, w];
}
function label(g, text, x, y, w, ends) {
  if (w < 24) return;
  const most = Math.floor((w - 4) / 6.2), tail = ends ? Math.floor(most / 2) : most > 24 ? Math.floor(most / 3) : 0;
  g.fillText(text.length > most ? text.slice(0, most - 1 - tail) + '\u2026' +
    (tail ? text.slice(-tail) : '') : text, x + 3, y);
}
// Lines at 45 degrees, HATCH pixels apart along x.
function hatch(g, colour, width, x, y, w, h) {
  g.save();
  g.beginPath();
  g.rect(x, y, w, h);
  g.clip();
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.beginPath();
  for (let i = Math.floor((x - h) / HATCH) * HATCH; i < x + w; i += HATCH) { g.moveTo(i, y + h); g.lineTo(i + h, y); }
  g.stroke();
  g.restore();
}
const PAPER = 560; // height of a page under a heading
function timeline() {
  const all = data('lanes'), ROW = 15, AXIS = 20, HEAD = 17, SEEN = 600;
  if (!all.lanes.length) return;
  $('timeline').hidden = false;
  all.lanes.forEach(l => {
    const s = l.s = unpack(l, all.rows);
    l.depth = 1;
    for (let i = 0; i < l.n; i++) l.depth = Math.max(l.depth, s.row[i] + 1);
  });
  const { zero, total, joined, many, n } = origins(all);
  const by = [0, 1].map(launchers), fill = workKey(all, by);
  const marks = gaps(all.sources);
  reasonKey(marks);
  const folded = new Set(n > 4 ? all.lanes.map(l => l.src) : []);
  $('tlhint').textContent = (COARSE ? 'Two fingers: zoom. Drag: move. Tap: details.' :
    'Ctrl-wheel, + or -: zoom (after a click, the wheel alone). Drag or arrows: move. Shift-drag: zoom to selection. ' +
    'Double-click or 0: reset. Click or Enter: details; then , and . go from span to span.') + (!many ? '' : joined ? ' One clock.' :
    sides.length ? ' Each side begins at its own first event.' : ' Each rank begins at its own first event.');
  let LEFT = 150, H = 0, heads = [], bands = {}, from = 0, to = total, W = 1000, waiting = false;
  let word = '', picked = null; // the search, and the clicked span
  const matches = names.map(() => false);
  // Ranks below one another, late ones first, GPU streams first in each.
  // Of two sides the same ranks are beside each other, in the order of the traces
  // where there are no ranks.
  const first = late(), side = l => all.sources[l.src].side || 0;
  const nth = all.sources.map((s, i) => i - all.sources.findIndex(t => (t.side || 0) === (s.side || 0)));
  const rank = l => {
    const r = all.sources[l.src].rank ?? nth[l.src];
    return first.has(r) ? -1 : r;
  };
  const order = all.lanes.map((l, i) => [rank(l), side(l), l.src, l.gpu ? 0 : 1, i, l])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3] || a[4] - b[4]).map(x => x[5]);
  const traces = s => all.sources.filter(t => (t.side || 0) === s).length;
  const title = src => {
    const s = all.sources[src], k = s.side || 0;
    return !sides.length ? s.label : sides[k] + (traces(k) > 1 ? ', ' + s.label : '');
  };
  function arrange() {
    let y = AXIS, src = -1;
    heads = [];
    bands = {};
    order.forEach(l => {
      if (many && l.src !== src) {
        heads.push({ y, src: l.src });
        y += HEAD;
      }
      src = l.src;
      l.shown = l.gpu || !folded.has(l.src);
      l.y = y;
      if (l.shown) y += l.depth * ROW + 6;
      if (l.gpu) bands[l.src] = { top: (bands[l.src] || { top: l.y }).top, end: y - 6 };
    });
    H = y;
    $('tlspace').style.height = H + 'px';
    $('zthreads').textContent = folded.size ? 'show threads' : 'hide threads';
    $('zthreads').hidden = !all.lanes.some(l => !l.gpu);
  }
  // 1, 2 or 5 times a power of ten, for labels about every hundred pixels.
  function tick(least) {
    const p = 10 ** Math.floor(Math.log10(least));
    return p * [1, 2, 5, 10].find(k => k * p >= least);
  }
  let printing = false;
  function paint() {
    waiting = false;
    const V = Math.min(H, printing ? PAPER : SEEN), up = printing ? 0 : $('tlbox').scrollTop;
    const [g, w] = canvas('tl', V);
    W = w;
    LEFT = Math.min(150, Math.max(w / 4, 104));
    const scale = (w - LEFT) / (to - from), step = tick(110 / scale);
    g.save();
    g.beginPath();
    g.rect(0, AXIS, w, V);
    g.clip();
    g.translate(0, -up);
    g.fillStyle = css('grid');
    for (let t = Math.ceil(from / step) * step; t <= to; t += step)
      g.fillRect(LEFT + (t - from) * scale, 0, 1, H);
    marks.forEach(m => {
      const band = bands[m.src], a = m.at - zero[m.src];
      if (!band || a > to || a + m.ns < from) return;
      const x = Math.max(LEFT, LEFT + (a - from) * scale), end = LEFT + (a + m.ns - from) * scale;
      hatch(g, reasons[m.reason] || '#999', GAP_LINE, x, band.top, Math.max(Math.min(end, w) - x, 1), band.end - band.top);
    });
    order.forEach(l => {
      if (!l.shown || l.y > up + V || l.y + l.depth * ROW < up) return;
      const s = l.s, z = zero[l.src], upTo = new Float64Array(l.depth).fill(-1);
      g.save();
      g.beginPath();
      g.rect(LEFT, l.y, w, l.depth * ROW);
      g.clip();
      for (let i = 0; i < l.n; i++) {
        const a = s.start[i] - z;
        if (a > to || a + s.dur[i] < from) continue;
        const x = LEFT + (a - from) * scale, px = Math.max(s.dur[i] * scale, .5);
        const row = s.row[i];
        // hidden by the pixel painted last
        if (x + px < upTo[row] + .3) continue;
        upTo[row] = x + px;
        g.globalAlpha = word && !matches[s.name[i]] ? .18 : 1;
        g.fillStyle = l.gpu ? fill(l, i) : s.name[i] ? hue(s.name[i]) : '#999';
        g.fillRect(x, l.y + row * ROW, px, ROW - 1);
        if (picked && picked.l === l && picked.i === i) {
          g.strokeStyle = css('focus');
          g.lineWidth = 2;
          g.strokeRect(x + 1, l.y + row * ROW + 1, Math.max(px - 2, 1), ROW - 3);
        }
        if (px > 24) {
          const at = Math.max(x, LEFT);
          g.fillStyle = '#000';
          label(g, names[s.name[i]], at, l.y + row * ROW + 7, x + px - at);
        }
      }
      g.restore();
      g.save();
      g.beginPath();
      g.rect(0, l.y, LEFT - 6, ROW);
      g.clip();
      g.fillStyle = css('fg');
      label(g, l.label, many ? 9 : 0, l.y + 7, LEFT - (many ? 12 : 3), true);
      g.restore();
    });
    heads.forEach(h => {
      g.fillStyle = css('band');
      g.fillRect(0, h.y, w, HEAD - 3);
      g.fillStyle = css('fg');
      g.fillText((folded.has(h.src) ? '\u25b8 ' : '\u25be ') + title(h.src), 2, h.y + 7);
    });
    arrows(g, scale);
    g.restore();
    g.fillStyle = css('dim');
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = LEFT + (t - from) * scale;
      g.fillRect(x, 14, 1, 6);
      if (x < w - 60) g.fillText(time(Math.round(t)), x + 3, 8);
    }
  }
  // Arrows from launches to GPU work of the clicked span.
  const ARROWS = 400;
  function arrows(g, scale) {
    if (!picked) return;
    const X = (l, ns) => LEFT + (ns - zero[l.src] - from) * scale;
    g.save();
    g.beginPath();
    g.rect(LEFT, 0, W, H);
    g.clip();
    g.strokeStyle = g.fillStyle = css('fg');
    g.lineWidth = 1.2;
    picked.pairs.slice(0, ARROWS).forEach(p => {
      const host = all.lanes[p.l.s.from[p.i]];
      if (!host.shown || !p.l.shown) return;
      const launch = p.l.s.start[p.i] - p.l.s.delay[p.i], x = X(host, launch), end = X(p.l, p.l.s.start[p.i]);
      if (Math.max(x, end) < LEFT || Math.min(x, end) > W) return;
      const y = host.y + Math.max(0, rowAt(host, launch)) * ROW + 2, to = p.l.y + ROW, middle = (y + to) / 2;
      g.beginPath();
      g.moveTo(x, y);
      g.bezierCurveTo(x, middle, end, middle, end, to + 5);
      g.stroke();
      g.beginPath();
      g.moveTo(end, to);
      g.lineTo(end - 3.5, to + 6);
      g.lineTo(end + 3.5, to + 6);
      g.fill();
    });
    g.restore();
  }
  // The row of a thread's innermost span that begins then; -1: none.
  const rowAt = (l, ns) => {
    let row = -1;
    for (let i = 0; i < l.n; i++) if (l.s.start[i] === ns) row = Math.max(row, l.s.row[i]);
    return row;
  };
  // GPU work launched within a span of a thread.
  const launched = (l, i) => {
    const list = [], a = l.s.start[i], b = a + l.s.dur[i];
    all.lanes.forEach(k => {
      for (let n = 0; k.gpu && n < k.n; n++) {
        const at = k.s.start[n] - k.s.delay[n];
        if (k.s.from[n] >= 0 && all.lanes[k.s.from[n]] === l && at >= a && at <= b) list.push({ l: k, i: n });
      }
    });
    return list;
  };
  const later = () => { if (!waiting) { waiting = true; requestAnimationFrame(paint); } };
  const LEAST = 100;
  const view = (a, b) => { [from, to] = within([0, total], Math.min(LEAST, total), [a, b]); later(); };
  const move = by => view(from + by, to + by);
  const zoom = (k, at) => view(...closer([from, to], k, at, LEAST));
  const whole = () => view(0, total);
  const c = $('tl'), at = x => from + (x - LEFT) / (W - LEFT) * (to - from);
  const depth = y => y + $('tlbox').scrollTop;
  const headAt = y => heads.find(h => y >= AXIS && depth(y) >= h.y && depth(y) < h.y + HEAD);
  c.onwheel = e => {
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY) && !e.ctrlKey) { e.preventDefault(); move(e.deltaX / W * (to - from)); return; }
    // else it would stop the scrolling of the page
    if (e.offsetX < LEFT || !e.ctrlKey && document.activeElement !== c) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? .8 : 1.25, at(e.offsetX));
  };
  c.ondblclick = e => { if (!headAt(e.offsetY)) whole(); };
  $('zall').onclick = whole;
  $('zin').onclick = () => zoom(2, (from + to) / 2);
  $('zout').onclick = () => zoom(.5, (from + to) / 2);
  $('zthreads').onclick = () => {
    if (folded.size) folded.clear();
    else all.lanes.forEach(l => folded.add(l.src));
    arrange();
    later();
  };
  c.onkeydown = e => {
    const middle = (from + to) / 2, keys = {
      '+': () => zoom(2, middle), '=': () => zoom(2, middle), w: () => zoom(2, middle),
      '-': () => zoom(.5, middle), s: () => zoom(.5, middle), '0': whole, Home: whole,
      Enter: () => beside(0), ',': () => beside(-1), '.': () => beside(1), '<': () => across(-1), '>': () => across(1),
      ArrowLeft: () => move((from - to) / 5), a: () => move((from - to) / 5),
      ArrowRight: () => move((to - from) / 5), d: () => move((to - from) / 5),
      ArrowUp: () => { $('tlbox').scrollTop -= 60; }, ArrowDown: () => { $('tlbox').scrollTop += 60; },
    };
    if (e.ctrlKey || e.metaKey || e.altKey || !(e.key in keys)) return;
    e.preventDefault();
    keys[e.key]();
  };
  $('tlbox').onscroll = later;
  // ---- search: what does not match is pale; Enter goes to the next match ----
  const found = () => {
    const list = [];
    order.forEach(l => {
      for (let i = 0; l.shown && i < l.n; i++)
        if (matches[l.s.name[i]]) list.push({ l, i, at: l.s.start[i] - zero[l.src], ns: l.s.dur[i] });
    });
    return list.sort((a, b) => a.at - b.at);
  };
  let hits = [], next = 0;
  $('tlfind').oninput = e => {
    word = e.target.value.toLowerCase();
    names.forEach((n, i) => { matches[i] = !!word && !!i && n.toLowerCase().includes(word); });
    hits = word ? found() : [];
    next = 0;
    const ns = hits.reduce((s, h) => s + (h.l.gpu ? h.ns : 0), 0);
    $('tlfound').textContent = !word ? '' : hits.length + (hits.length === 1 ? ' match' : ' matches') +
      (ns ? ', GPU time ' + brief(ns) : '') + (hits.length ? '. Enter: next.' : '');
    later();
  };
  $('tlfind').onkeydown = e => {
    if (e.key !== 'Enter' || !hits.length) return;
    const h = hits[next++ % hits.length], wide = Math.min(to - from, Math.max(h.ns * 20, total / 200));
    view(h.at + (h.ns - wide) / 2, h.at + (h.ns + wide) / 2);
    pick(h.l, h.i);
    $('tlbox').scrollTop = h.l.y - 100;
  };
  // ---- details of a span ----
  // Shows a span; one outside of the view is centred.
  const look = (l, i) => {
    const at = l.s.start[i] - zero[l.src], wide = to - from;
    if (at < from || at > to) view(at - wide / 2, at + wide / 2);
    if (!l.gpu && folded.delete(l.src)) arrange();
    pick(l, i);
    if (l.y < $('tlbox').scrollTop || l.y > $('tlbox').scrollTop + SEEN - 60) $('tlbox').scrollTop = l.y - 100;
  };
  const pick = (l, i) => {
    const s = l.s, name = names[s.name[i]] || 'several, too short to tell apart here', box = $('tldetail'), list = make('dl');
    const put = (k, ...v) => {
      if (!v[0]) return;
      const dd = make('dd');
      dd.append(...v);
      list.append(make('dt', k), dd);
    };
    const link = (word, f) => {
      const b = make('button', word);
      b.onclick = f;
      return b;
    };
    picked = { l, i, pairs: l.gpu ? s.from[i] >= 0 ? [{ l, i }] : [] : launched(l, i) };
    put('duration', time(s.dur[i]));
    put('start', time(s.start[i] - zero[l.src]));
    put('on', (many ? title(l.src) + ', ' : '') + l.label);
    if (l.gpu) gpuDetails(l, i, put, link);
    else if (picked.pairs.length) {
      const first = picked.pairs.reduce((a, b) => a.l.s.start[a.i] <= b.l.s.start[b.i] ? a : b);
      put('GPU work', picked.pairs.length + (picked.pairs.length === 1 ? ' event, ' : ' events, ') +
        brief(picked.pairs.reduce((n, p) => n + p.l.s.dur[p.i], 0)) + ' ',
      link('first of it', () => look(first.l, first.i)));
    }
    box.replaceChildren(make('b', name), list);
    box.hidden = false;
    later();
  };
  const gpuDetails = (l, i, put, link) => {
    const s = l.s, known = by[side(l)], [op, dims, module, grid, block] = (s.of[i] ? all.origins[s.of[i] - 1] : []).map(n => names[n]);
    put('category', s.name[i] ? l.kinds[i] : '');
    put('grid', grid && grid + (block ? ', block ' + block : ''));
    put('module', module);
    // the page cuts long text
    const row = known.table && dims && known.table.rows.find(r => r.name === op && JSON.stringify(r.input_dims || '').startsWith(dims));
    const goto = r => link('row in ' + known.table.schema.table, () => goTo && goTo(known.table, r));
    if (op) put('launched by', op + ' ' + scalars(dims || '') + ' ', ...(row ? [goto(row)] : []));
    const host = all.lanes[s.from[i]], at = s.start[i] - s.delay[i];
    const call = host ? host.s.start.findIndex((t, k) => t === at && host.s.row[k] === rowAt(host, at)) : -1;
    if (host) put('launch', (names[host.s.name[call]] || 'a call') + ' on ' + host.label + ', ' +
      time(s.delay[i]) + ' before its start ', ...(call < 0 ? [] : [link('show', () => look(host, call))]));
    if (row || !known.table) return;
    (known.of.get(names[s.name[i]]) || { rows: [] }).rows.slice(0, 3).forEach(r =>
      put('kernels of this name', r.row.name + ' ' + scalars(JSON.stringify(r.row.input_dims || '')) + ': ' + r.count + ', ' +
        brief(r.ns) + ' ', goto(r.row)));
  };
  // The span at a place of the canvas, or the gap between GPU events.
  const spanAt = ({ x, y }) => {
    const t = at(x), near = (to - from) / W;
    let hit = null;
    if (x > LEFT && y > AXIS) order.forEach(l => {
      const row = Math.floor((depth(y) - l.y) / ROW);
      if (!l.shown || row < 0 || row >= l.depth) return;
      for (let i = 0; i < l.n; i++) {
        const a = l.s.start[i] - zero[l.src];
        if (l.s.row[i] === row && a <= t + near && a + l.s.dur[i] >= t - near) hit = [l, i];
      }
    });
    return hit;
  };
  const gapAt = ({ x, y }) => x > LEFT && y > AXIS && marks.findLast(m => {
    const band = bands[m.src], a = m.at - (zero[m.src] ?? 0), near = (to - from) / W, t = at(x);
    return band && depth(y) >= band.top && depth(y) < band.end && a - near <= t && t < a + m.ns + near;
  });
  // From the chosen span to its neighbours, on other lanes to the one that begins
  // nearest; without one, to the first in view.
  const nearest = (l, t) => {
    let best = -1;
    const off = i => Math.abs(l.s.start[i] - zero[l.src] - t);
    for (let i = 0; i < l.n; i++) if (best < 0 || off(i) < off(best)) best = i;
    return best;
  };
  const shownLanes = () => order.filter(l => l.shown && l.n);
  const beside = n => {
    const l = picked ? picked.l : shownLanes()[0];
    if (l) look(l, picked ? Math.max(0, Math.min(l.n - 1, picked.i + n)) : nearest(l, from));
  };
  const across = n => {
    const list = shownLanes(), l = picked && list[list.indexOf(picked.l) + n];
    if (l) look(l, nearest(l, picked.l.s.start[picked.i] - zero[picked.l.src]));
    else if (!picked) beside(0);
  };
  const details = p => {
    const hit = spanAt(p), gap = hit ? null : gapAt(p), box = $('tldetail');
    if (hit) pick(...hit);
    if (!gap) return;
    picked = null;
    box.replaceChildren(...gap.text.split('\n').map((line, i) => make(i ? 'div' : 'b', line)));
    box.hidden = false;
    later();
  };
  let start = null;
  gestures(c, {
    down(p, e) { start = { t: at(p.x), x: p.x, pick: e.shiftKey && e.pointerType === 'mouse' }; show(null, ''); },
    move(by, p) {
      if (start.pick) return;
      move(-by.x / (W - LEFT) * (to - from));
      if (by.zoom !== 1) zoom(by.zoom, at(p.x));
      else $('tlbox').scrollTop -= by.y;
    },
    up(p, e, moved) {
      const t = at(p.x), head = !moved && headAt(p.y);
      if (moved && start.pick && t !== start.t) view(Math.min(t, start.t), Math.max(t, start.t));
      if (!head) return;
      if (!folded.delete(head.src)) folded.add(head.src);
      arrange();
      later();
    },
    over(p, e) {
      const hit = spanAt(p), gap = hit ? null : gapAt(p), [l, i] = hit || [];
      show(e, hit ? (names[l.s.name[i]] || 'several') + '\n' + time(l.s.dur[i]) + ' at ' + time(l.s.start[i] - zero[l.src]) :
        gap ? gap.text : '', e.clientX, e.clientY);
    },
  });
  c.onclick = e => details({ x: e.offsetX, y: e.offsetY });
  c.onmouseleave = () => show(null, '');
  addEventListener('resize', later);
  addEventListener('beforeprint', () => { printing = true; $('tlspace').style.height = 'auto'; paint(); });
  addEventListener('afterprint', () => { printing = false; arrange(); paint(); });
  arrange();
  paint();
}
