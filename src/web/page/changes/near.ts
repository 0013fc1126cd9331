/** Draws what is far from the window later, and a few parts in each frame: two hundred files are as quick as two. */
import { type RefObject, useEffect, useState } from "react";

/** Pixels from the window within which a part is drawn. */
const NEAR = 1_500;
/** Parts that are drawn in one frame; those in sight come first, and all of them at once where so few are. */
const IN_A_FRAME = 3;

/** Parts that came near and are not drawn yet, with what draws each. */
const queue = new Map<Element, () => void>();
let frame = 0;

/** Pixels between the part and the window. */
function distance(part: Element): number {
  const { top, bottom } = part.getBoundingClientRect();
  return Math.max(0, top - innerHeight, -bottom);
}

function drawNext(): void {
  frame = 0;
  const nearest = [...queue.keys()].map((part) => ({ part, px: distance(part) })).sort((a, b) => a.px - b.px);
  for (const { part } of nearest.slice(0, IN_A_FRAME)) {
    queue.get(part)?.();
    queue.delete(part);
  }
  askFrame();
}

function askFrame(): void {
  if (queue.size > 0 && frame === 0) frame = requestAnimationFrame(drawNext);
}

/** @returns whether the part was near the window once. */
export function useNear(part: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    const element = part.current;
    if (near || !element) return;
    const watch = new IntersectionObserver(
      ([entry]) => {
        // What was scrolled past is not drawn.
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
