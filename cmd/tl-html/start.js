// SPDX-License-Identifier: MIT
// All parts. What stands first is painted before the rest is read: each part
// is a task of its own, and what prints waits for all.
const parts = [timeline, stacks, sheets];
const next = () => {
  const part = parts.shift();
  if (part) part();
  if (!parts.length) document.body.dataset.ready = Math.round(performance.now());
};
const soon = () => {
  next();
  if (parts.length) setTimeout(soon);
};
addEventListener('beforeprint', () => {
  if (!parts.length) return;
  while (parts.length) next();
  dispatchEvent(new Event('beforeprint')); // for those that are new
});
head();
pictures();
// a frame, then what comes after it
requestAnimationFrame(() => setTimeout(soon));
