/**
 * Delays rendering of parts far from the window, and renders a few per frame. Two hundred files then load as fast as
 * two.
 */
import { type RefObject, useEffect, useState } from "react";

/** A part within this many px of the window is rendered. */
const NEAR = 1_500;
/** How many parts are rendered in one frame, the nearest first. */
const IN_A_FRAME = 3;

/** Parts that came near and are not rendered yet, each with the function that renders it. */
const queue = new Map<Element, () => void>();
let frame = 0;

/** Distance between the part and the window, in px. */
function measureDistance(part: Element): number {
  const { top, bottom } = part.getBoundingClientRect();
  return Math.max(0, top - innerHeight, -bottom);
}

function drawNext(): void {
  frame = 0;
  const nearest = [...queue.keys()].map((part) => ({ part, px: measureDistance(part) })).sort((a, b) => a.px - b.px);
  for (const { part } of nearest.slice(0, IN_A_FRAME)) {
    queue.get(part)?.();
    queue.delete(part);
  }
  askFrame();
}

function askFrame(): void {
  if (queue.size > 0 && frame === 0) frame = requestAnimationFrame(drawNext);
}

/** @returns whether the part has been near the window. */
export function useNear(part: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = part.current;
    if (near || !element) return;
    const watch = new IntersectionObserver(
      ([entry]) => {
        // A part that was scrolled past is not rendered.
        if (entry?.isIntersecting) queue.set(element, () => setNear(true));
        else queue.delete(element);
        askFrame();
      },
      { rootMargin: `${NEAR}px 0px` },
    );
    watch.observe(element);
    return () => {
      watch.disconnect();
      queue.delete(element);
    };
  }, [near, part]);
  return near;
}
