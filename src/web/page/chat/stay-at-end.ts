/** Keeps a reader who is at the end of a growing page there. A reader who has scrolled up is not moved. */
import { type RefObject, useCallback, useEffect, useRef } from "react";

const NEAR_PX = 200;
const scrollToEnd = () => scrollTo({ top: document.documentElement.scrollHeight });
const nearEnd = () => document.documentElement.scrollHeight - innerHeight - scrollY < NEAR_PX;

/**
 * @param loaded whether the growing element is on the page. @returns a ref for it, and a function that scrolls to its
 * end.
 */
export function useStayAtEnd(loaded: boolean): { log: RefObject<HTMLDivElement | null>; toEnd(): void } {
  const near = useRef(true);
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const updateNear = () => {
      near.current = nearEnd();
    };
    addEventListener("scroll", updateNear, { passive: true });
    return () => removeEventListener("scroll", updateNear);
  }, []);
  // A resize observer also notices text that is rendered as Markdown later.
  useEffect(() => {
    if (!loaded || !log.current) return;
    const grown = new ResizeObserver(() => near.current && scrollToEnd());
    grown.observe(log.current);
    return () => grown.disconnect();
  }, [loaded]);
  const toEnd = useCallback(() => {
    near.current = true;
    scrollToEnd();
  }, []);
  return { log, toEnd };
}
