/**
 * The output of a program, written into the page as it arrives. React is bypassed, because a program may print a
 * thousand lines a second.
 */
import { createParser } from "eventsource-parser";
import { useEffect, useRef, useState } from "react";
import { retryRead } from "../api/again.ts";
import { siteUrl } from "../api/client.ts";
import { Button } from "./button.tsx";
import { ProblemNote } from "./problem-note.tsx";
import { escapeUnseen } from "./visible.ts";

const KEPT_CHARACTERS = 400_000;
const NEAR_PX = 40;

interface Line {
  at?: string;
  text?: string;
  line?: string;
}

/** Appends text to `box` once a frame. It stays at the end as long as the reader is there. */
function createWriter(box: () => HTMLElement | null) {
  let frame = 0;
  let pending = "";
  const paint = () => {
    frame = 0;
    const pre = box();
    if (!pre) return;
    const below = pre.scrollHeight - pre.scrollTop - pre.clientHeight < NEAR_PX;
    pre.append(escapeUnseen(pending));
    pending = "";
    if ((pre.textContent?.length ?? 0) > KEPT_CHARACTERS)
      pre.textContent = pre.textContent!.slice(-KEPT_CHARACTERS / 2);
    if (below) pre.scrollTop = pre.scrollHeight;
  };
  return {
    write(text: string) {
      pending += text;
      frame ||= requestAnimationFrame(paint);
    },
    stop: () => cancelAnimationFrame(frame),
  };
}

interface Props {
  /** Path in the API of a stream of `log` frames, the last of which is `end`. */
  path: string;
  label: string;
  className?: string;
}

export function FollowLog({ path, label, className = "max-h-72" }: Props) {
  const box = useRef<HTMLPreElement>(null);
  const [error, setError] = useState<unknown>();
  const [over, setOver] = useState(false);
  const [round, setRound] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new round follows it again.
  useEffect(() => {
    const leave = new AbortController();
    const writer = createWriter(() => box.current);
    if (box.current) box.current.textContent = "";
    setOver(false);
    setError(undefined);
    const parser = createParser({
      onEvent({ event, data }) {
        if (event === "end") return;
        const { at, text, line }: Line = JSON.parse(data);
        writer.write(`${at ? `${at.slice(11, 19)} ` : ""}${text ?? line ?? ""}\n`);
      },
    });
    const read = async () => {
      const ask = () => fetch(siteUrl(path), { signal: leave.signal, credentials: "same-origin" });
      const answer = await retryRead(ask, leave.signal);
      if (!answer.ok || !answer.body) throw await answer.json();
      const decoder = new TextDecoder();
      const reader = answer.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return setOver(true);
        parser.feed(decoder.decode(value, { stream: true }));
      }
    };
    read().catch((thrown) => {
      if (leave.signal.aborted) return;
      setError(thrown);
      setOver(true);
    });
    return () => {
      leave.abort();
      writer.stop();
    };
  }, [path, round]);
  return (
    <>
      <ProblemNote error={error} />
      <pre
        ref={box}
        role="log"
        aria-live="off"
        aria-label={label}
        tabIndex={0}
        className={`min-h-16 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs break-words whitespace-pre-wrap ${className}`}
      />
      <p className="mt-1 flex items-center gap-2 text-xs text-faint">
        {over ? (
          <>
            Nothing more is coming.
            <Button label="Follow again" kind="quiet" onClick={() => setRound(round + 1)} />
          </>
        ) : (
          "It continues by itself."
        )}
      </p>
    </>
  );
}
