/**
 * The words of a session that are not part of a message yet: those said before the page was opened, from the event log,
 * and those that arrive. When a tool call begins or ends, the words before it are in the transcript, which is then
 * fetched again. The words are removed only after that, so that none is lost and none is shown twice.
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
  /** Adds words at the end. */
  append(text: string): void;
  /** Replaces all words. */
  replace(text: string): void;
}

const WORDS = "agent_output";
/** After these events, earlier words are in the transcript or were withdrawn. */
const BOUNDS = ["tool_call_start", "tool_call_end", "output_withdrawn", "session_ended"];
const AFTER_CALL_MS = 250;
/** How many pages of the log are read for a long reply. They cover some minutes of it. */
const PAGES = 20;

/** The words since the last of these events, oldest first, and that event's id; 0 if there is none. */
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
  /** Words up to this event id are in the transcript that is shown. */
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
      // The log's answer may have contained this event already.
      if (id <= (pieces.at(-1)?.id ?? dropped)) return;
      pieces.push({ id, text: String(data["text"] ?? "") });
      append(String(data["text"] ?? ""));
    } else if (BOUNDS.includes(kind)) {
      bound = id;
      // The reply broke off. The agent will say its words again from the start.
      if (kind === "output_withdrawn") dropTo(id);
      else askSoon();
    }
  };
  // Words that are said before the stream is open are in the log by then, so load them when it opens.
  let state = liveState.get();
  const onLiveState = () => {
    const before = state;
    state = liveState.get();
    if (state === "open" && before !== "open") void load();
  };
  const stops = [onLive(take), liveState.subscribe(onLiveState)];
  if (state === "open") void load();
  return () => {
    stopped = true;
    clearTimeout(asking);
    for (const stop of stops) stop();
  };
}
