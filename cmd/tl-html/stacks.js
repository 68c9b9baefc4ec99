// SPDX-License-Identifier: MIT
// Time by stack, one trace or two, on a canvas.
// ---- stacks ----
function legend(whole, most) {
  const item = (css, text) => {
    const swatch = make('i'), span = make('span');
    swatch.style.background = css;
    span.append(swatch, text);
    $('legend').append(span);
  };
  const stripes = css => 'repeating-linear-gradient(135deg,' + css + ' 0 3px,#fff 3px 4px)';
  $('legend').hidden = false;
  $('legend').replaceChildren(make('span', 'Width: both times together. Colour: ' + sides[1] + ' less ' + sides[0]));
  (most > 0 ? [-1, -.25, 0, .25, 1] : [0]).forEach(k => item(tint(k * most, most), k ? signed(Math.round(k * most)) : 'the same'));
  if (whole.a) item(stripes(tint(-most, most)), 'only ' + sides[0]);
  if (whole.b) item(stripes(tint(most, most)), 'only ' + sides[1]);
}
// The topmost names that one side lacks, by time.
function onlies(nodes, only) {
  $('only').replaceChildren();
  [0, 1].forEach(side => {
    const sums = new Map();
    nodes.forEach(k => {
      if (only(k) !== side || only(k.up) === side) return;
      const s = names[k.name] || 'not named here';
      sums.set(s, (sums.get(s) || 0) + k.ns);
    });
    if (!sums.size) return;
    const box = make('div'), tab = make('table');
    [...sums].sort((x, y) => y[1] - x[1]).slice(0, 10).forEach(([s, ns]) => {
      const tr = make('tr');
      tr.append(mid(make('td'), s), make('td', brief(ns), 'n'));
      tr.lastChild.style.width = '7em';
      tab.append(tr);
    });
    box.append(make('h2', 'Only in ' + sides[side] + (sums.size > 10 ? ': 10 of ' + sums.size : '')), tab);
    $('only').append(box);
  });
}
// From the page's data, in pre-order: depth, name, time, the other side's time.
function stackNodes(flat, two) {
  const STEP = two ? 4 : 3, nodes = [], open = [];
  for (let i = 0; i < flat.length; i += STEP) {
    const d = flat[i], a = flat[i + 2], b = two ? flat[i + 3] : 0;
    const node = { d, name: flat[i + 1], a, b, ns: a + b, x: 0, used: 0, n: 0, deep: d };
    open.length = d;
    node.up = d ? open[d - 1] : null;
    if (node.up) { node.x = node.up.x + node.up.used; node.up.used += node.ns; node.up.n++; }
    open[d] = node;
    nodes.push(node);
  }
  return nodes;
}
function stacks() {
  const two = sides.length === 2, ROW = 17, clocks = [[data('clock'), 'icicle'], ['host', 'icicle_host']]
    .map(([clock, id]) => ({ clock, nodes: stackNodes(data(id), two) })).filter(c => c.nodes.length > 1);
  if (!clocks.length) return;
  $('stacks').hidden = false;
  let nodes = [], clock = '', most = 0;
  // Joins frames that only call the next one if folds is set: d is the drawn depth,
  // chain the frames of a box.
  let folds = true;
  const fold = () => nodes.forEach(k => {
    const up = k.up;
    k.chain = [k];
    k.gone = false;
    k.d = up ? up.d + 1 : 0;
    if (!folds || !up || !up.d || up.n !== 1 || up.a !== k.a || up.b !== k.b) return;
    k.chain = [...up.chain, k];
    k.d = up.d;
    up.gone = true;
    if (k.deep > 5000) k.chain = k.chain.slice(-50);
  });
  let root = null, here = null, word = '', boxes = [], printing = false, from = 0, to = 1, waiting = false;
  const only = k => !two || k.a && k.b || !k.d ? -1 : k.a ? 0 : 1;
  const one = k => (k.name ? names[k.name] : k.d ? 'not named here' : 'all ' + clock + ' work') +
    (only(k) < 0 ? '' : ' [only ' + sides[only(k)] + ']');
  const text = k => k.chain.length < 2 ? one(k) : one(k.chain[0]) + ' \u203a ' +
    (k.chain.length > 2 ? '\u2026 \u203a ' : '') + one(k);
  const fill = k => two ? tint(k.b - k.a, most) : k.d ? hue(k.name) : '#ddd';
  const below = k => { for (; k; k = k.up) if (k === root) return true; return false; };
  const about = k => k.chain.slice(-12).map(one).join('\n') + '\n' + (two ? sides[0] + ' ' + time(k.a) + ', ' + sides[1] + ' ' + time(k.b) +
    ': ' + signed(k.b - k.a) + ' (' + change(k.a, k.b) + ')' :
    time(k.ns) + ', ' + (100 * k.ns / nodes[0].ns).toFixed(2) + ' %');
  // Zooms to a box, or to a part of it.
  const go = k => { root = k; here = null; [from, to] = [k.x, k.x + k.ns]; paint(); };
  const view = (a, b) => {
    [from, to] = within([root.x, root.x + root.ns], Math.min(1, root.ns), [a, b]);
    if (!waiting) { waiting = true; requestAnimationFrame(paint); }
  };
  const zoom = (k, at) => view(...closer([from, to], k, at, 1));
  function paint() {
    waiting = false;
    const seen = nodes.filter(k => !k.gone && below(k));
    let deep = seen.reduce((m, k) => k.ns * 700 > root.ns ? Math.max(m, k.d) : m, 0) - root.d + 1;
    if (printing) deep = Math.min(deep, Math.floor(PAPER / ROW));
    const [g, w] = canvas('ic', deep * ROW + 2);
    const scale = w / (to - from);
    boxes = [];
    let hit = 0, until = -1;
    seen.forEach(k => {
      const x = (k.x - from) * scale, px = k.ns * scale, y = (k.d - root.d) * ROW;
      const found = word && k.chain.some(f => one(f).toLowerCase().includes(word));
      // once a stack: in pre-order, nodes below follow
      if (found && k.x >= until) { hit += k.ns; until = k.x + k.ns; }
      if (px < .4 || x + px < 0 || x > w) return;
      g.fillStyle = found ? two ? '#1a7a3c' : '#e0457b' : fill(k);
      g.fillRect(x, y, Math.max(px - .5, .4), ROW - 1);
      // to be seen without colours
      if (only(k) >= 0 && px > 3) hatch(g, 'rgba(255,255,255,.35)', 1, x, y, px - .5, ROW - 1);
      g.fillStyle = found ? '#fff' : two ? ink(k.b - k.a, most) : '#000';
      label(g, text(k), Math.max(x, 0), y + 8, px + Math.min(x, 0));
      if (k === here) { g.strokeStyle = css('focus'); g.lineWidth = 3; g.strokeRect(x + 1, y + 1, Math.max(px - 2, 1), ROW - 3); }
      boxes.push([x, y, px, k]);
    });
    $('found').textContent = here ? about(here).replace('\n', ': ') : word ? (100 * hit / root.ns).toFixed(1) + ' % matches' :
      root === nodes[0] ? (COARSE ? 'Tap a box to look closer; two fingers: zoom.' : 'Click a box to look closer, or move by arrows and Enter.') : two ? signed(root.b - root.a) : time(root.ns);
    crumbs();
  }
  // The path to the view; each step leads back.
  function crumbs() {
    const list = [];
    for (let k = root; k && k.d; k = k.up) if (!k.gone) list.unshift(k);
    $('crumbs').hidden = !list.length;
    $('crumbs').replaceChildren(...(list.length ? [nodes[0], ...list] : []).map(k => {
      const b = make('button', text(k)), li = make('li');
      b.onclick = () => go(k);
      if (k === root) b.setAttribute('aria-current', 'true');
      b.title = text(k).slice(0, 4000);
      li.append(b);
      return li;
    }));
  }
  function choose(i) {
    ({ clock, nodes } = clocks[i]);
    most = two ? Math.max(0, ...nodes.filter(k => k.d).map(k => Math.abs(k.b - k.a))) : 0;
    fold();
    $('stackhead').textContent = clock === 'host' ? 'Host time by stack' : clock + ' time by stack';
    const other = clocks[1 - i];
    $('clockswitch').hidden = !other;
    if (other) $('clockswitch').textContent = other.clock + ' time';
    if (two) { legend(nodes[0], most); onlies(nodes, only); }
    $('ic').ariaLabel = $('stackhead').textContent;
    go(nodes[0]);
  }
  let chosen = 0;
  $('clockswitch').onclick = () => choose(chosen = 1 - chosen);
  const c = $('ic');
  const at = p => (boxes.find(([x, y, w]) => p.x >= x && p.x < x + w && p.y >= y && p.y < y + ROW) || [])[3];
  const span = x => from + x / c.clientWidth * (to - from);
  c.onclick = e => { const k = at({ x: e.offsetX, y: e.offsetY }); if (k) go(k === root && k.up ? above(k) : k); };
  c.onwheel = e => {
    if (!e.ctrlKey) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? .8 : 1.25, span(e.offsetX));
  };
  gestures(c, {
    down() { show(null, ''); },
    move(by, p) {
      const ns = by.x / c.clientWidth * (to - from);
      view(from - ns, to - ns);
      if (by.zoom !== 1) zoom(by.zoom, span(p.x));
    },
    up() {},
    over(p, e) { const k = at(p); show(e, k ? about(k) : '', e.clientX, e.clientY); },
  });
  // The box above.
  const above = k => { k = k.chain[0].up; return k || nodes[0]; };
  // Keys go from box to box.
  c.onkeydown = e => {
    const list = boxes.map(b => b[3]), at = here || root, over = at.chain[0].up, beside = list.filter(k => k.chain[0].up === over);
    const by = n => beside[beside.indexOf(at) + n] || at, keys = {
      ArrowDown: () => { here = here ? list.find(k => k.chain[0].up === at) || at : at; },
      ArrowUp: () => { if (at === root && root.up) go(above(root)); here = over || at; },
      ArrowLeft: () => { here = by(-1); }, ArrowRight: () => { here = by(1); },
      Enter: () => { go(at); here = at; }, Escape: () => go(nodes[0]), 0: () => go(nodes[0]),
      '+': () => zoom(2, middle), '=': () => zoom(2, middle), '-': () => zoom(.5, middle),
    }, middle = here ? here.x + here.ns / 2 : (from + to) / 2;
    if (e.ctrlKey || e.metaKey || e.altKey || !(e.key in keys)) return;
    e.preventDefault();
    keys[e.key]();
    // keep the chosen box in view
    if (here && (here.x + here.ns < from || here.x > to)) view(here.x + (here.ns - to + from) / 2, here.x + (here.ns + to - from) / 2);
    paint();
  };
  c.onblur = () => { if (here) { here = null; paint(); } };
  c.onmouseleave = () => show(null, '');
  $('find').oninput = e => { word = e.target.value.toLowerCase(); here = null; paint(); };
  $('fold').onclick = () => {
    folds = !folds;
    fold();
    $('fold').textContent = folds ? 'each frame' : 'fold chains';
    go(nodes[0]);
  };
  $('up').onclick = () => go(nodes[0]);
  addEventListener('resize', () => requestAnimationFrame(paint));
  addEventListener('beforeprint', () => { printing = true; paint(); });
  addEventListener('afterprint', () => { printing = false; paint(); });
  choose(0);
}
