/**
 * What a session is saying, written into the page once a frame, outside of React. A reader at the end of the page stays
 * there.
 */
import { ArrowDown } from "lucide-react";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { Button } from "../../ui/button.tsx";
import { escapeUnseen } from "../../ui/visible.ts";
import { paneOf } from "./pane.ts";
import { followWords } from "./words.ts";

const NEAR_PX = 160;
const isNearEnd = ({ scrollHeight, clientHeight, scrollTop }: Element) =>
  scrollHeight - clientHeight - scrollTop < NEAR_PX;
const toEnd = (pane: Element) => pane.scrollTo({ top: pane.scrollHeight });

/** @param last text of the last message above, which may already contain these words. */
export function Tail({ session, last }: { session: string; last: string }) {
  const box = useRef<HTMLParagraphElement>(null);
  const above = useRef(last);
  const settle = useRef(() => {});
  const [away, setAway] = useState(false);
  useEffect(() => {
    let words = "";
    let pending = "";
    let isWhole = false;
    let frame = 0;
    // A newly opened page follows the end; a reader who scrolls up is not moved.
    const pane = paneOf(box.current);
    let opened = pane.scrollTop === 0;
    const paint = () => {
      frame = 0;
      const follow = opened || isNearEnd(pane);
      opened = false;
      const isAbove = words === above.current;
      if (isAbove || isWhole) box.current?.replaceChildren(isAbove ? "" : escapeUnseen(words));
      else box.current?.append(escapeUnseen(pending));
      pending = "";
      isWhole = isAbove;
      if (follow) toEnd(pane);
    };
    const schedulePaint = () => {
      frame ||= requestAnimationFrame(paint);
    };
    // Runs before the page is painted, so that text that has become a message is never shown twice.
    settle.current = () => {
      if (words !== above.current && !isWhole) return;
      cancelAnimationFrame(frame);
      paint();
    };
    const stop = followWords(session, {
      append(text) {
        words += text;
        pending += text;
        schedulePaint();
      },
      replace(text) {
        words = text;
        pending = "";
        isWhole = true;
        schedulePaint();
      },
    });
    const updateAway = () => setAway(!isNearEnd(pane));
    // Capture the event, because the scroll event of a pane does not bubble.
    addEventListener("scroll", updateAway, { passive: true, capture: true });
    return () => {
      stop();
      cancelAnimationFrame(frame);
      removeEventListener("scroll", updateAway, { capture: true });
    };
  }, [session]);
  useLayoutEffect(() => {
    above.current = last;
    settle.current();
  }, [last]);
  return (
    <>
      <p ref={box} className="whitespace-pre-wrap" />
      <p className="flex items-center gap-2 text-sm text-dim">
        <span aria-hidden className="size-2 animate-pulse rounded-full bg-run" />
        At work
      </p>
      {away && (
        <Button
          label="Follow"
          className="fixed right-6 bottom-6 shadow-xl"
          icon={ArrowDown}
          onClick={() => toEnd(paneOf(box.current))}
        />
      )}
    </>
  );
}
