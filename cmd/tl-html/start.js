// SPDX-License-Identifier: MIT
// All parts, once they are there.
[head, pictures, timeline, stacks, sheets].forEach(part => part());
document.body.dataset.ready = Math.round(performance.now());
