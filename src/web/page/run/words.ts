/**
 * The words of a session that are in no message yet: those said before the page was opened, from the log of events, and
 * those that arrive. When a tool call begins or ends, what was said before it is in the transcript, which is fetched again;
 * only then its words are removed, so that none is lost and none is shown twice.
 */
import { client, must } from "../../api/client.ts";
import { refresh } from "../../api/queries.ts";
import type { LiveEvent } from "../../live/connection.ts";
import { liveState, onLive } from "../../live/stream.ts";

interface Piece {
  id: number;
  text: string;
}

interface WordsPort {
  /** More words at the end. */
  append(text: string): void;
  /** All the words, replacing what is shown. */
  replace(text: string): void;
}

const WORDS = "agent_output";
/** Events at which what was said before is in the transcript, or no longer counts. */
const BOUNDS = ["tool_call_start", "tool_call_end", "output_withdrawn", "session_ended"];
const AFTER_CALL_MS = 250;
/** Pages of the log that are read for a long reply: some minutes of it. */
const PAGES = 20;

/** Words since the last bound, oldest first, and the bound's id where there is one. */
async function wordsSoFar(session: string): Promise<{ pieces: Piece[]; bound: number }> {
  const pieces: Piece[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES; page++) {
    const query = { session_id: session, kinds: [WORDS, ...BOUNDS].join(","), limit: 200 };
    const answer = await must(
      client.GET("/v1/events", { params: { query: cursor === undefined ? query : { ...query, cursor } } }),
    );
    for (const { id, kind, data } of answer.items) {
      if (kind !== WORDS) return { pieces: pieces.reverse(), bound: id };
      pieces.push({ id, text: String(data["text"] ?? "") });
    }
    if (answer.next_cursor === null) break;
    cursor = answer.next_cursor;
  }
  return { pieces: pieces.reverse(), bound: 0 };
}

/** Follows what the session says until the returned function is called. */
export function followWords(session: string, { append, replace }: WordsPort): () => void {
  let pieces: Piece[] = [];
  let bound = 0;
  /** Up to this event the words are in the transcript that is shown. */
  let dropped = 0;
  let asking: ReturnType<typeof setTimeout> | undefined;
  let stopped = false;
  const show = () => replace(pieces.map(({ text }) => text).join(""));
  const dropTo = (id: number) => {
    dropped = Math.max(dropped, id);
    pieces = pieces.filter((piece) => piece.id > dropped);
    show();
  };
  const askTranscript = async () => {
    asking = undefined;
    const upTo = bound;
    await refresh("/v1/sessions/{id}/transcript");
    if (!stopped) dropTo(upTo);
  };
  const askSoon = () => {
    asking ??= setTimeout(askTranscript, AFTER_CALL_MS);
  };
  const load = async () => {
    const earlier = await wordsSoFar(session).catch(() => undefined);
    if (!earlier || stopped) return;
    const known = new Set(earlier.pieces.map(({ id }) => id));
    pieces = [...earlier.pieces, ...pieces.filter(({ id }) => !known.has(id))]
      .filter(({ id }) => id > dropped)
      .sort((a, b) => a.id - b.id);
    if (earlier.bound > bound) {
      bound = earlier.bound;
      askSoon();
    }
    show();
  };
  const take = ({ id, kind, session_id, data }: LiveEvent) => {
    if (kind === "gap") return void load();
    if (session_id !== session) return;
    if (kind === WORDS) {
      // The answer from the log may come before the stream's event.
      if (id <= (pieces.at(-1)?.id ?? dropped)) return;
      pieces.push({ id, text: String(data["text"] ?? "") });
      append(String(data["text"] ?? ""));
    } else if (BOUNDS.includes(kind)) {
      bound = id;
      // It broke off: the words come again, from the start.
      if (kind === "output_withdrawn") dropTo(id);
      else askSoon();
    }
  };
  // What is said between this page's questions and the stream's first event is in the log by then.
  let state = liveState.get();
  const look = () => {
    const before = state;
    state = liveState.get();
    if (state === "open" && before !== "open") void load();
  };
  const stops = [onLive(take), liveState.subscribe(look)];
  if (state === "open") void load();
  return () => {
    stopped = true;
    clearTimeout(asking);
    for (const stop of stops) stop();
  };
}
