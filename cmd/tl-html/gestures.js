// SPDX-License-Identifier: MIT
// The mouse and fingers on a drawing: one drags, two zoom, and a drag is no click.
// on.down(at, e), on.move(by, at, e): by how far and how many times wider, about
// a place; on.up(at, e, moved), on.over(at, e) of a mouse that only points.
function gestures(c, on) {
  const down = new Map(), FAR = 3;
  let first = null, moved = false;
  const place = e => {
    const r = c.getBoundingClientRect();
    return { x: e.clientX - r.left - c.clientLeft, y: e.clientY - r.top - c.clientTop };
  };
  // of all fingers the middle, and of two how far they are apart
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
    // beyond the edge, too; not before, or what is clicked would be the drawing
    c.setPointerCapture(e.pointerId);
    down.set(e.pointerId, to);
    const now = grip();
    on.move({ x: now.x - was.x, y: now.y - was.y, zoom: was.wide && now.wide ? now.wide / was.wide : 1 }, now, e);
  });
  const up = e => {
    if (!down.delete(e.pointerId) || down.size) return;
    // cancelled: the finger scrolls the page
    on.up(place(e), e, moved || e.type === 'pointercancel');
    setTimeout(() => { moved = false; }); // the click of a drag, if there is one, comes before
  };
  c.addEventListener('pointerup', up);
  c.addEventListener('pointercancel', up);
  c.addEventListener('click', e => { if (moved) e.stopPropagation(); }, true);
}
// What is seen, [a, b]: within what there is, and no narrower than least.
const within = ([low, high], least, [a, b]) => {
  const wide = Math.min(high - low, Math.max(least, b - a)), from = Math.max(low, Math.min(a, high - wide));
  return [from, from + wide];
};
// So many times closer about a place, but not closer than least.
const closer = ([a, b], k, at, least) => {
  const by = Math.min(k, Math.max(1, (b - a) / least));
  return [at - (at - a) / by, at + (b - at) / by];
};
// Whether fingers are what points here.
const COARSE = matchMedia('(pointer: coarse)').matches;
