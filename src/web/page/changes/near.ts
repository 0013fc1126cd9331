/** Draws what is far from the window later: two hundred files are as quick as two. */
import { type RefObject, useEffect, useState } from "react";

/** Pixels from the window within which a part is drawn. */
const NEAR = 1_500;

/** @returns whether the part was near the window once. */
export function useNear(part: RefObject<HTMLElement | null>): boolean {
  const [near, setNear] = useState(false);
  useEffect(() => {
    if (near || !part.current) return;
    const watch = new IntersectionObserver(([entry]) => entry?.isIntersecting && setNear(true), {
      rootMargin: `${NEAR}px 0px`,
    });
    watch.observe(part.current);
    return () => watch.disconnect();
  }, [near, part]);
  return near;
}
