// SPDX-License-Identifier: MIT
// All parts, once they are there.
[head, categories, roofline, timeline, icicle, sheets].forEach(part => part());
document.body.dataset.ready = Math.round(performance.now());
