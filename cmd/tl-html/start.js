// SPDX-License-Identifier: MIT
// Starts all parts. The first screen is painted before the rest is read: each part
// is a task of its own, and printing waits for all.
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
  dispatchEvent(new Event('beforeprint')); // for parts made meanwhile
});
head();
pictures();
// after the next frame
requestAnimationFrame(() => setTimeout(soon));
