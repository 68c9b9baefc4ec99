// SPDX-License-Identifier: MIT
// Spans of GPU streams and threads over time, on a canvas.
// ---- the timeline ----
// span: start - last start (zigzag), length, name * rows + row: see lanes.c
function unpack(lane, rows) {
  const raw = atob(lane.spans), n = lane.n;
  const s = { start: new Float64Array(n), dur: new Float64Array(n),
    name: new Uint32Array(n), row: new Uint8Array(n) };
  let p = 0, last = 0;
  const next = () => {
    let v = 0, m = 1, c;
    do { c = raw.charCodeAt(p++); v += (c & 127) * m; m *= 128; } while (c > 127);
    return v;
  };
  for (let i = 0; i < n; i++) {
    const z = next();
    last += z % 2 ? -(z + 1) / 2 : z / 2;
    s.start[i] = last;
    s.dur[i] = next();
    const v = next();
    s.name[i] = Math.floor(v / rows);
    s.row[i] = v % rows;
  }
  return s;
}
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
// Sources whose clocks are one and that ran at one time keep their distances;
// others begin at their own first span.
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
  const joined = list.length > 1 && list.every(k => offset(k) != null) && whole < 2 * longest;
  const zero = {};
  list.forEach((k, i) => { zero[k] = first[k] - (joined ? starts[i] - Math.min(...starts) : 0); });
  return { zero, total: joined ? whole : longest, joined, many: list.length > 1, n: list.length };
}
// Why the GPU was idle: colours of the classes of tl-idle.
const reasons = { host: '#d9822b', sync: '#b5482f', allocation: '#8f6bb3', data: '#2e8b74',
  compile: '#b08900', start_up: '#7a6a58', missing: '#9aa0a6', gpu: '#3b76b5', communication: '#c2569a' };
// The gaps of the tables, each with its source among those of the lanes, whose
// spans begin with the first one of the source.
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
    swatch.style.background = reasons[k];
    item.append(swatch, 'idle: ' + k.replace('_', '-'));
    $('tlkey').append(item);
  });
}
// What a kernel does: the category of the op that launched it most, by the rows
// that name their kernels.
function launchers() {
  const t = drawn('roofline') || table('unified_perf_summary'), of = new Map();
  (t ? t.rows : []).forEach(row => (row.kernel_details_summary || []).forEach(k => {
    const ns = (k.total_duration_us || 0) * 1e3, one = of.get(k.name) || { ns: 0, most: 0, rows: [] };
    one.ns += ns;
    one.rows.push({ row, ns, count: k.count });
    if (ns >= one.most) { one.most = ns; one.category = row.op_category; }
    of.set(k.name, one);
  }));
  of.forEach(one => one.rows.sort((a, b) => b.ns - a.ns));
  return { of, from: t && t.schema.table };
}
const COMM = 'communication', COPY = 'copies', REST = 'other GPU work';
const work = (name, of) => /nccl|rccl|cross_device_reduce/i.test(name) ? COMM :
  /^(mem(cpy|set)|copy(host|device))/i.test(name) ? COPY : (of.get(name) || {}).category || REST;
// Light enough for black text on them; the first two as in the bar.
const tints = { [COMM]: '#e0954a', [COPY]: '#b094cf', [REST]: '#a8adb3' };
const spare = ['#7aaee0', '#6cc3a8', '#e58fae', '#cfc25c', '#86cbd6', '#d3a488', '#9fc36f', '#b9a6ea'];
// GPU time by category over all lanes, the most first; colours go by that order.
function workKey(lanes, of) {
  const sums = new Map(), kinds = names.map(n => work(n, of));
  lanes.filter(l => l.gpu).forEach(l => {
    for (let i = 0; i < l.n; i++) {
      const k = l.s.name[i] ? kinds[l.s.name[i]] : REST;
      sums.set(k, (sums.get(k) || 0) + l.s.dur[i]);
    }
  });
  const list = [...sums].sort((a, b) => b[1] - a[1]), colour = {};
  let n = 0;
  list.forEach(([k]) => { colour[k] = tints[k] || spare[n++] || tints[REST]; });
  const shown = list.filter(([k]) => tints[k] || colour[k] !== tints[REST]);
  shown.forEach(([k, ns]) => {
    const swatch = make('i'), item = make('span');
    swatch.style.background = colour[k];
    item.append(swatch, k + ' ' + brief(ns));
    $('tlkey').append(item);
  });
  if (shown.length < list.length) $('tlkey').append(make('span', 'grey: all other categories'));
  return { kinds, fill: name => colour[name ? kinds[name] : REST] || tints[REST] };
}
const PAPER = 560; // what a page has room for, with a heading
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
  const { of, from: source } = launchers(), { kinds, fill } = workKey(all.lanes, of);
  const marks = gaps(all.sources);
  reasonKey(marks);
  const folded = new Set(n > 4 ? all.lanes.map(l => l.src) : []);
  $('tlhint').textContent = 'Ctrl-wheel, + or -: zoom (after a click, the wheel alone). Drag or arrows: move. ' +
    'Shift-drag: zoom to selection. Double-click or 0: reset. Click: details.' + (!many ? '' : joined ? ' One clock.' :
    ' Each rank begins at its own first event.');
  let LEFT = 150, H = 0, heads = [], bands = {}, from = 0, to = total, W = 1000, waiting = false;
  let word = '', picked = null; // what is searched for, and the span that was clicked
  const matches = names.map(() => false);
  // Ranks under one another, those first that are late, GPU streams first in each.
  const first = late(), rank = l => {
    const r = all.sources[l.src].rank ?? l.src;
    return first.has(r) ? -1 : r;
  };
  const order = all.lanes.map((l, i) => [rank(l), l.src, l.gpu ? 0 : 1, i, l])
    .sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3]).map(x => x[4]);
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
  // 1, 2 or 5 of a power of ten, a label every hundred pixels or so.
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
      g.globalAlpha = .35;
      g.fillStyle = reasons[m.reason] || '#999';
      g.fillRect(x, band.top, Math.max(end - x, .5), band.end - band.top);
      g.globalAlpha = 1;
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
        // What ends in a pixel that is painted is not seen.
        if (x + px < upTo[row] + .3) continue;
        upTo[row] = x + px;
        g.globalAlpha = word && !matches[s.name[i]] ? .18 : 1;
        g.fillStyle = l.gpu ? fill(s.name[i]) : s.name[i] ? hue(s.name[i]) : '#999';
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
      g.fillText((folded.has(h.src) ? '\u25b8 ' : '\u25be ') + all.sources[h.src].label, 2, h.y + 7);
    });
    g.restore();
    g.fillStyle = css('dim');
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = LEFT + (t - from) * scale;
      g.fillRect(x, 14, 1, 6);
      if (x < w - 60) g.fillText(time(Math.round(t)), x + 3, 8);
    }
  }
  const later = () => { if (!waiting) { waiting = true; requestAnimationFrame(paint); } };
  const move = by => {
    by = Math.max(-from, Math.min(total - to, by));
    from += by;
    to += by;
    later();
  };
  const zoom = (k, at) => {
    const a = at - (at - from) * k, b = at + (to - at) * k;
    if (b - a < 100) return;
    from = Math.max(0, a);
    to = Math.min(total, b);
    later();
  };
  const whole = () => { from = 0; to = total; later(); };
  const c = $('tl'), at = e => from + (e.offsetX - LEFT) / (W - LEFT) * (to - from);
  const headAt = e => heads.find(h => e.offsetY >= AXIS && e.offsetY + $('tlbox').scrollTop >= h.y &&
    e.offsetY + $('tlbox').scrollTop < h.y + HEAD);
  c.onwheel = e => {
    if (Math.abs(e.deltaX) > Math.abs(e.deltaY) && !e.ctrlKey) { e.preventDefault(); move(e.deltaX / W * (to - from)); return; }
    // else it would hold up who scrolls the page
    if (e.offsetX < LEFT || !e.ctrlKey && document.activeElement !== c) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.25 : .8, at(e));
  };
  c.ondblclick = e => { if (!headAt(e)) whole(); };
  $('zall').onclick = whole;
  $('zin').onclick = () => zoom(.5, (from + to) / 2);
  $('zout').onclick = () => zoom(2, (from + to) / 2);
  $('zthreads').onclick = () => {
    if (folded.size) folded.clear();
    else all.lanes.forEach(l => folded.add(l.src));
    arrange();
    later();
  };
  c.onkeydown = e => {
    const middle = (from + to) / 2, keys = {
      '+': () => zoom(.5, middle), '=': () => zoom(.5, middle), w: () => zoom(.5, middle),
      '-': () => zoom(2, middle), s: () => zoom(2, middle), '0': whole, Home: whole,
      ArrowLeft: () => move((from - to) / 5), a: () => move((from - to) / 5),
      ArrowRight: () => move((to - from) / 5), d: () => move((to - from) / 5),
      ArrowUp: () => { $('tlbox').scrollTop -= 60; }, ArrowDown: () => { $('tlbox').scrollTop += 60; },
    };
    if (e.ctrlKey || e.metaKey || e.altKey || !(e.key in keys)) return;
    e.preventDefault();
    keys[e.key]();
  };
  $('tlbox').onscroll = later;
  // ---- search: what does not match is pale; Enter goes from one to the next ----
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
    from = Math.max(0, Math.min(h.at + h.ns / 2 - wide / 2, total - wide));
    to = from + wide;
    pick(h.l, h.i);
    $('tlbox').scrollTop = h.l.y - 100;
  };
  // ---- details of a span ----
  const pick = (l, i) => {
    const s = l.s, name = names[s.name[i]] || 'several, too short to tell apart here', box = $('tldetail'), list = make('dl');
    const put = (k, v) => { if (v) list.append(make('dt', k), make('dd', v)); };
    picked = { l, i };
    put('duration', time(s.dur[i]));
    put('start', time(s.start[i] - zero[l.src]));
    put('on', (many ? all.sources[l.src].label + ', ' : '') + l.label);
    if (l.gpu) put('category', s.name[i] ? kinds[s.name[i]] : '');
    box.replaceChildren(make('b', name), list);
    (l.gpu && of.get(names[s.name[i]]) || { rows: [] }).rows.slice(0, 3).forEach(({ row, ns, count }) => {
      const b = make('button', 'row in ' + source), dd = make('dd');
      b.onclick = () => goTo && goTo(source, row);
      dd.append(row.name + ' ' + scalars(JSON.stringify(row.input_dims || '')) + ': ' + count + ' of it, ' + brief(ns) + ' ', b);
      list.append(make('dt', 'launched by'), dd);
    });
    box.hidden = false;
    later();
  };
  // The span at a place of the canvas.
  const spanAt = e => {
    const t = at(e), y = e.offsetY + $('tlbox').scrollTop, near = (to - from) / W;
    let hit = null;
    if (e.offsetX > LEFT && e.offsetY > AXIS) order.forEach(l => {
      const row = Math.floor((y - l.y) / ROW);
      if (!l.shown || row < 0 || row >= l.depth) return;
      for (let i = 0; i < l.n; i++) {
        const a = l.s.start[i] - zero[l.src];
        if (l.s.row[i] === row && a <= t + near && a + l.s.dur[i] >= t - near) hit = [l, i];
      }
    });
    return hit;
  };
  c.onclick = e => {
    const hit = !moved && spanAt(e);
    if (hit) pick(...hit);
  };
  let moved = false; // a drag is no click
  let drag = null;
  c.onmousedown = e => {
    drag = { x: e.offsetX, y: e.clientY, from, to, t: at(e), up: $('tlbox').scrollTop,
      pick: e.shiftKey, head: headAt(e) };
  };
  addEventListener('mouseup', e => {
    moved = !!drag && (drag.pick || Math.abs(e.offsetX - drag.x) + Math.abs(e.clientY - drag.y) > 3);
    if (drag && e.target === c && drag.pick && Math.abs(at(e) - drag.t) > 0) {
      [from, to] = [Math.min(at(e), drag.t), Math.max(at(e), drag.t)];
      zoom(1, from);
      later();
    } else if (drag && drag.head && e.target === c && Math.abs(e.offsetX - drag.x) < 3) {
      if (!folded.delete(drag.head.src)) folded.add(drag.head.src);
      arrange();
      later();
    }
    drag = null;
  });
  c.onmousemove = e => {
    if (drag && !drag.pick) {
      from = drag.from;
      to = drag.to;
      move((drag.x - e.offsetX) / (W - LEFT) * (to - from));
      $('tlbox').scrollTop = drag.up + drag.y - e.clientY;
      show(null, '');
      return;
    }
    const t = at(e), y = e.offsetY + $('tlbox').scrollTop, over = spanAt(e);
    let text = '';
    if (over) {
      const [l, i] = over, s = l.s;
      text = (names[s.name[i]] || 'several') + '\n' + time(s.dur[i]) + ' at ' + time(s.start[i] - zero[l.src]);
    }
    // between GPU events: why there is none
    if (!text && e.offsetX > LEFT && e.offsetY > AXIS) marks.forEach(m => {
      const band = bands[m.src], a = m.at - (zero[m.src] ?? 0), near = (to - from) / W;
      if (band && y >= band.top && y < band.end && a - near <= t && t < a + m.ns + near) text = m.text;
    });
    show(e, text, e.clientX, e.clientY);
  };
  c.onmouseleave = () => show(null, '');
  addEventListener('resize', later);
  addEventListener('beforeprint', () => { printing = true; $('tlspace').style.height = 'auto'; paint(); });
  addEventListener('afterprint', () => { printing = false; arrange(); paint(); });
  arrange();
  paint();
}
