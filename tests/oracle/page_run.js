// SPDX-License-Identifier: MIT
// Runs a page's script without a browser, on elements that only remember:
//
//	node page_run.js PAGE.html ID...
//
// prints how many children the elements of these ids got, or the exception;
// with --text before the page their texts, one after the other.
'use strict';
const isText = process.argv[2] === '--text', [path, ...ids] = process.argv.slice(isText ? 3 : 2);
const page = require('fs').readFileSync(path, 'utf8');
const texts = {}, elements = {};
for (const m of page.matchAll(/<script type="application\/json" id="(\w+)">([^]*?)<\/script>/g))
  texts[m[1]] = m[2];
const pen = new Proxy({ measureText: () => ({ width: 5 }) },
  { get: (t, k) => k in t ? t[k] : () => {}, set: () => true });
const element = tag => ({ tag, children: [], style: {}, dataset: {}, value: '0', clientWidth: 800,
  offsetTop: 0, offsetWidth: 10, offsetHeight: 10, classList: { add() {}, remove() {} },
  append(...a) { this.children.push(...a); },
  appendChild(a) { this.children.push(a); return a; },
  replaceChildren(...a) { this.children = a; },
  setAttribute(k, v) { this[k] = v; },
  querySelectorAll: () => [],
  addEventListener() {},
  getContext: () => pen,
  get firstChild() { return this.children[0]; },
  get lastChild() { return this.children[this.children.length - 1]; } });
Object.assign(globalThis, {
  document: { title: '', activeElement: null, body: element('body'), documentElement: element('html'),
    createElement: element, createElementNS: (ns, tag) => element(tag),
    getElementById: id => id in texts ? { textContent: texts[id] } : elements[id] ||= element(id) },
  addEventListener: () => {}, matchMedia: () => ({ addEventListener() {} }),
  getComputedStyle: () => ({ getPropertyValue: () => '#111' }),
  requestAnimationFrame: f => f(), setTimeout: f => f(), dispatchEvent() {}, devicePixelRatio: 1, innerWidth: 1000, innerHeight: 800 });
(0, eval)(/<script>\n([^]*?)<\/script>\n<\/body>/.exec(page)[1]);
const count = e => e.children.reduce((n, c) => n + (c.children ? count(c) : 0), e.children.length);
const said = e => typeof e === 'string' ? e : (e.textContent || '') + e.children.map(said).join('');
console.log(isText ? ids.flatMap(id => document.getElementById(id).children.map(said).filter(s => s)).join('|') :
  ids.map(id => id + ' ' + count(document.getElementById(id))).join(', '));
