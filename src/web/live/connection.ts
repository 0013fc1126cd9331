/**
 * A connection to the server's event stream, reopened after each break from the last event seen. Missed events come
 * first. If the server no longer has them, it sends a `gap`.
 */
import { createParser } from "eventsource-parser";
import { siteUrl } from "../api/client.ts";

export interface LiveEvent {
  id: number;
  kind: string;
  at: string;
  run_id?: string;
  step_id?: string;
  session_id?: string;
  agent_id?: string;
  project_id?: string;
  data: Record<string, unknown>;
}

interface ConnectionDeps {
  onEvent(event: LiveEvent): void;
  onState(state: "open" | "lost"): void;
  /** Position in the event log to continue from; undefined before the first event. */
  position(): number | undefined;
}

const WAIT_MS = [500, 1_000, 2_000, 5_000, 10_000];
/** The server sends a comment every ten seconds. After three missed ones the connection counts as lost. */
const SILENCE_MS = 35_000;

/** @returns a function that closes the connection. */
export function connect({ onEvent, onState, position }: ConnectionDeps): () => void {
  const ended = new AbortController();
  let failures = 0;
  const streamOnce = async (): Promise<void> => {
    const leave = new AbortController();
    const stop = () => leave.abort();
    ended.signal.addEventListener("abort", stop);
    let silence = setTimeout(stop, SILENCE_MS);
    try {
      const after = position();
      const answer = await fetch(siteUrl(`/v1/events/stream${after === undefined ? "" : `?after=${after}`}`), {
        headers: { Accept: "text/event-stream" },
        signal: leave.signal,
        cache: "no-store",
      });
      if (!answer.ok || !answer.body) throw new Error(`the stream answers ${answer.status}`);
      failures = 0;
      onState("open");
      const parser = createParser({ onEvent: ({ data }) => onEvent(JSON.parse(data)) });
      const decoder = new TextDecoder();
      const reader = answer.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(silence);
        silence = setTimeout(stop, SILENCE_MS);
        parser.feed(decoder.decode(value, { stream: true }));
      }
    } finally {
      clearTimeout(silence);
      ended.signal.removeEventListener("abort", stop);
      leave.abort();
    }
  };
  const run = async () => {
    while (!ended.signal.aborted) {
      try {
        await streamOnce();
      } catch {
        failures++;
      }
      if (ended.signal.aborted) return;
      if (failures > 0) onState("lost");
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS[Math.min(failures, WAIT_MS.length - 1)]));
    }
  };
  void run();
  return () => ended.abort();
}
