/** Times that update by themselves, all driven by one clock. */
import { type PointerEvent, useSyncExternalStore } from "react";
import { ago, agoInSentence, dateTime, duration, isLongAgo } from "./format.ts";

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
const never = () => () => {};

/** Milliseconds since the epoch, updated each second; stops while `moving` is false. */
export const useNow = (moving = true): number => useSyncExternalStore(moving ? subscribe : never, () => now);

/** Gives a time its title when the mouse comes. A list has hundreds of times, and the first format of a page takes long. */
function nameWhole({ currentTarget: time }: PointerEvent<HTMLTimeElement>): void {
  time.title = dateTime(time.dateTime);
}

/** `4 min`, in a sentence `4 min ago`, with the whole time as its title. */
export function Ago({ at, sentence = false }: { at: string | null | undefined; sentence?: boolean }) {
  const say = sentence ? agoInSentence : ago;
  // The store's value is the text: of a thousand times in a list only those that change are drawn again.
  const text = useSyncExternalStore(at && !isLongAgo(at) ? subscribe : never, () => (at ? say(at) : null));
  if (!at || text === null) return <span className="text-faint">–</span>;
  return (
    <time dateTime={at} onPointerEnter={nameWhole} className="whitespace-nowrap tabular-nums">
      {text}
    </time>
  );
}

const TIMES_OF_SERVER = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)/;

/** A sentence of the server with its times by the clock of who reads it; the title of each is as the server wrote it. */
export const LocalTimes = ({ text }: { text: string }) => (
  // Within an element, since that is where hidden characters are made visible.
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

/** From `from` to `to`, or until now. */
export function Took({ from, to }: { from: string | null | undefined; to?: string | null | undefined }) {
  const current = useNow(!to);
  if (!from) return <span className="text-faint">–</span>;
  const end = to ? new Date(to).getTime() : current;
  const ms = end - new Date(from).getTime();
  return (
    <time dateTime={`PT${Math.max(0, Math.round(ms / 1_000))}S`} className="whitespace-nowrap tabular-nums">
      {duration(ms)}
    </time>
  );
}
