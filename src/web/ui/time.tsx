/** Times that update by themselves, all driven by one clock. */
import { type PointerEvent, useSyncExternalStore } from "react";
import { agoInSentence, dateTime, formatDuration, formatRelative, isLongAgo } from "./format.ts";

let now = Date.now();
const readers = new Set<() => void>();
let clock: ReturnType<typeof setInterval> | undefined;

function subscribe(act: () => void): () => void {
  readers.add(act);
  clock ??= setInterval(() => {
    if (document.hidden) return;
    now = Date.now();
    for (const reader of readers) reader();
  }, 1_000);
  return () => {
    readers.delete(act);
    if (readers.size > 0) return;
    clearInterval(clock);
    clock = undefined;
  };
}
const subscribeNever = () => () => {};

/** The current time in ms since the epoch, updated each second; it stops while `moving` is false. */
export const useNow = (moving = true): number => useSyncExternalStore(moving ? subscribe : subscribeNever, () => now);

/** Sets a time's tooltip when the mouse enters. A list has hundreds of times, and the first use of a format is slow. */
function nameWhole({ currentTarget: time }: PointerEvent<HTMLTimeElement>): void {
  time.title = dateTime(time.dateTime);
}

/** `4 min`, or in a sentence `4 min ago`. The tooltip has the complete time. */
export function Ago({ at, sentence = false }: { at: string | null | undefined; sentence?: boolean }) {
  const say = sentence ? agoInSentence : formatRelative;
  // The store's value is the text, so that of a thousand times only those whose text changes render again.
  const text = useSyncExternalStore(at && !isLongAgo(at) ? subscribe : subscribeNever, () => (at ? say(at) : null));
  if (!at || text === null) return <span className="text-faint">–</span>;
  return (
    <time dateTime={at} onPointerEnter={nameWhole} className="whitespace-nowrap tabular-nums">
      {text}
    </time>
  );
}

const TIMES_OF_SERVER = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/;

/**
 * A sentence of the server, with its times in the reader's time zone. Each time's tooltip shows what the server wrote.
 */
export const LocalTimes = ({ text }: { text: string }) => (
  // Wrapped in an element, because invisible characters are made visible only within elements.
  <>
    {text.split(TIMES_OF_SERVER).map((part, at) =>
      at % 2 === 1 ? (
        <time key={at} dateTime={part} title={part} className="whitespace-nowrap">
          {dateTime(part)}
        </time>
      ) : (
        part
      ),
    )}
  </>
);

/** The duration from `from` to `to`, or until now. */
export function Took({ from, to }: { from: string | null | undefined; to?: string | null | undefined }) {
  const current = useNow(!to);
  if (!from) return <span className="text-faint">–</span>;
  const end = to ? new Date(to).getTime() : current;
  const ms = end - new Date(from).getTime();
  return (
    <time dateTime={`PT${Math.max(0, Math.round(ms / 1_000))}S`} className="whitespace-nowrap tabular-nums">
      {formatDuration(ms)}
    </time>
  );
}
