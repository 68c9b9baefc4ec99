// SPDX-License-Identifier: MIT
// Mouse and fingers on a drawing: one finger drags, two zoom, a drag is no click.
// on.down(at, e); on.move(by, at, e): distance and scale, about a place;
// on.up(at, e, moved); on.over(at, e): a mouse without button.
function gestures(c, on) {
  const down = new Map(), FAR = 3;
  let first = null, moved = false;
  const place = e => {
    const r = c.getBoundingClientRect();
    return { x: e.clientX - r.left - c.clientLeft, y: e.clientY - r.top - c.clientTop };
  };
  // the middle of all fingers, and the distance of two
  const grip = () => {
    const [a, b = a] = down.values();
    return { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, wide: Math.hypot(a.x - b.x, a.y - b.y) };
  };
  c.addEventListener('pointerdown', e => {
    if (e.button || down.size > 1) return;
    if (!down.size) { first = place(e); moved = false; }
    down.set(e.pointerId, place(e));
    if (down.size > 1) moved = true;
    else on.down(first, e);
  });
  c.addEventListener('pointermove', e => {
    if (!down.has(e.pointerId)) {
      if (e.pointerType === 'mouse') on.over(place(e), e);
      return;
    }
    const was = grip(), to = place(e);
    if (!moved && Math.hypot(to.x - first.x, to.y - first.y) <= FAR) return;
    moved = true;
    // follow beyond the edge; earlier, a click would hit the drawing
    c.setPointerCapture(e.pointerId);
    down.set(e.pointerId, to);
    const now = grip();
    on.move({ x: now.x - was.x, y: now.y - was.y, zoom: was.wide && now.wide ? now.wide / was.wide : 1 }, now, e);
  });
  const up = e => {
    if (!down.delete(e.pointerId) || down.size) return;
    // cancelled: the finger scrolls the page
    on.up(place(e), e, moved || e.type === 'pointercancel');
    setTimeout(() => { moved = false; }); // after the click that ends a drag
  };
  c.addEventListener('pointerup', up);
  c.addEventListener('pointercancel', up);
  c.addEventListener('click', e => { if (moved) e.stopPropagation(); }, true);
}
// The view [a, b], moved into the range and at least this wide.
const within = ([low, high], least, [a, b]) => {
  const wide = Math.min(high - low, Math.max(least, b - a)), from = Math.max(low, Math.min(a, high - wide));
  return [from, from + wide];
};
// Zooms by k about a place, to at least this width.
const closer = ([a, b], k, at, least) => {
  const by = Math.min(k, Math.max(1, (b - a) / least));
  return [at - (at - a) / by, at + (b - at) / by];
};
// Whether the pointer is a finger.
const COARSE = matchMedia('(pointer: coarse)').matches;
