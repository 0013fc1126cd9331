/** A page that grows at its end: a reader at the end stays there, one who has scrolled up is left alone. */
import { type RefObject, useCallback, useEffect, useRef } from "react";

const NEAR_PX = 200;
const scrollToEnd = () => scrollTo({ top: document.documentElement.scrollHeight });
const nearEnd = () => document.documentElement.scrollHeight - innerHeight - scrollY < NEAR_PX;

/** @param loaded whether what grows is on the page. @returns a ref for what grows, and a way to its end. */
export function useStayAtEnd(loaded: boolean): { log: RefObject<HTMLDivElement | null>; toEnd(): void } {
  const near = useRef(true);
  const log = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const look = () => {
      near.current = nearEnd();
    };
    addEventListener("scroll", look, { passive: true });
    return () => removeEventListener("scroll", look);
  }, []);
  // Also when its Markdown is drawn later.
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
