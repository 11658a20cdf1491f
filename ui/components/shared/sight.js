// Bringing something into view that was just put on the page.

const SETTLE_MS = 900; // so long the page may still move: what stood there before goes

// No further than needed, and not against whoever moves the page meanwhile.
function bringIntoView(root) {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches, until = performance.now() + SETTLE_MS;
  const stopped = new AbortController();
  for (const name of ["wheel", "touchmove", "keydown", "pointerdown"]) document.addEventListener(name, () => stopped.abort(), { signal: stopped.signal, capture: true });
  const look = () => {
    if (stopped.signal.aborted || !root.isConnected) return;
    // The header lies over the page: `scroll-margin` in the style knows how high it is.
    const { height } = root.getBoundingClientRect(), above = parseFloat(getComputedStyle(root).scrollMarginTop) || 0;
    root.scrollIntoView({ block: height > innerHeight - above ? "start" : "nearest", behavior: calm ? "auto" : "smooth" });
    if (performance.now() < until) setTimeout(look, 150);
    else stopped.abort();
  };
  requestAnimationFrame(look);
}
