// SPDX-License-Identifier: MIT
// Shared by all parts of the page: elements, numbers and names as text.
'use strict';
const $ = id => document.getElementById(id);
const data = id => JSON.parse($(id).textContent);
const make = (tag, text, cls) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls;
  return e;
};
const SVG = 'http://www.w3.org/2000/svg';
const draw = (parent, tag, attrs, text) => {
  const e = document.createElementNS(SVG, tag);
  for (const k in attrs) e.setAttribute(k, attrs[k]);
  if (text !== undefined) e.textContent = text;
  parent.appendChild(e);
  return e;
};
const time = ns => Math.abs(ns) >= 1e9 ? (ns / 1e9).toFixed(3) + ' s' :
  Math.abs(ns) >= 1e6 ? (ns / 1e6).toFixed(3) + ' ms' :
  Math.abs(ns) >= 1e3 ? (ns / 1e3).toFixed(2) + ' us' : ns + ' ns';
// As on the screen.
const brief = ns => Math.abs(ns) >= 1e6 || Math.abs(ns) < 1e3 ? time(ns) : (ns / 1e3).toFixed(1) + ' us';
const bare = s => s.replace(/( \[clone \.kd\]|\.kd)$/, '');
// A figure keeps its percent sign.
const figures = s => s.replace(/ %/g, '\u00a0%');
// A colour of the page's theme; on paper, the light one.
const css = name => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();
addEventListener('beforeprint', () => document.documentElement.classList.add('paper'));
addEventListener('afterprint', () => document.documentElement.classList.remove('paper'));
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dispatchEvent(new Event('resize')));
// Puts a name into e; without room it loses its middle, not its end, or keeps
// what surrounds the place at which it differs from others.
const TAIL = 18;
const mid = (e, s, at) => {
  const word = at || s.length - Math.min(TAIL, Math.floor(s.length / 3));
  const whole = i => /[\udc00-\udfff]/.test(s[i] || '') ? i - 1 : i;
  e.title = s.slice(0, 4000);
  if (s.length < 15) { e.textContent = s; return e; }
  const box = make('div', undefined, 'mid'), from = whole(word), to = whole(from + TAIL);
  box.append(make('span', s.slice(0, from)), make('span', s.slice(from, to)));
  if (to < s.length) box.append(make('span', s.slice(to)));
  e.replaceChildren(box);
  return e;
};
// Shapes without the empty lists at their end, which are scalars.
const scalars = s => s.replace(/(,\[\])+\]$/, ']');
// Of names that begin alike: where each begins to differ from the one most like
// it; and that place, or before its word; 0: from the beginning.
const alike = list => list.map((s, i) => {
  let at = 0;
  list.forEach((t, k) => {
    let n = 0;
    while (n < s.length && s[n] === t[n]) n++;
    if (k !== i && s !== t) at = Math.max(at, n);
  });
  return at;
});
const places = list => alike(list).map((at, i) => {
  const s = list[i], back = /[^_,:.(/[ <]{0,8}$/.exec(s.slice(0, at))[0].length;
  return at < TAIL || s.length - at < TAIL ? 0 : at - (back < 8 ? back : 0);
});
const head_cell = (text, cls) => {
  const th = make('th', text, cls);
  th.scope = 'col';
  return th;
};
const tables = data('tables'), names = data('names'), sides = data('sides');
// By default of the first side.
const table = (name, side) => tables.find(t => t.schema.table === name && (t.side || 0) === (side || 0));
// The properties of each side, and its word in headings.
const each_side = f => [0, ...(sides.length ? [1] : [])].forEach(f);
const of_side = side => sides.length ? ': ' + sides[side] : '';
// Late ranks, which come first wherever ranks are shown.
const late = () => new Set(((table('gpu_timeline_by_rank') || {}).rows || []).filter(r => r.late_cause).map(r => r.rank ?? r.src));
// The last table with this figure.
const drawn = (figure, side) => tables.filter(t => t.chart && t.chart.figure === figure && t.rows.length &&
  (t.side || 0) === (side || 0)).pop();
const show = (e, text, x, y) => {
  const tip = $('tip');
  tip.style.display = text ? 'block' : 'none';
  tip.textContent = text || '';
  tip.style.left = Math.min(x + 12, innerWidth - tip.offsetWidth - 8) + 'px';
  tip.style.top = Math.min(y + 14, innerHeight - tip.offsetHeight - 8) + 'px';
};
// From one side to the other, by the difference among differences: -1 is the
// most that was won, 1 the most that was lost; blue to orange.
const turn = (ns, most) => most > 0 ? Math.max(-1, Math.min(1, ns / most)) : 0;
const tint = (ns, most) => {
  const t = turn(ns, most), w = Math.abs(t) ** .6, end = t < 0 ? [33, 102, 172] : [179, 88, 6];
  return 'rgb(' + end.map(c => Math.round(245 + (c - 245) * w)).join(',') + ')';
};
const ink = (ns, most) => Math.abs(turn(ns, most)) > .6 ? '#fff' : '#000';
const signed = ns => (ns < 0 ? '\u2212' : '+') + brief(Math.abs(ns));
const change = (a, b) => !a ? 'new' : !b ? 'gone' : (b / a).toFixed(3);
const colours = ['#3b76b5', '#d9822b', '#8f6bb3', 'var(--idle)'];
const hue = i => 'hsl(' + (i * 137.5 % 360) + ',45%,' + (62 + i % 3 * 6) + '%)';
const share = (e, percent) => {
  e.classList.add('share');
  e.style.backgroundSize = Math.max(0, Math.min(100, percent)) + '% 70%';
  return e;
};
