/**
 * The browser's event stream. One of the open pages holds the connection and passes events on to the others. When that
 * page is closed or has been hidden for a minute, another takes over from its last event. Sharing is needed because a
 * browser allows few connections to a server, and each page needs one for its requests. The stream carries all events:
 * with a `focus`, it would have to be reopened whenever a page shows another run.
 * Pages elect the holder with a Web Lock, which browsers offer on https and on this machine. Elsewhere each visible
 * page has its own connection.
 */
import { client } from "../api/client.ts";
import { connect, type LiveEvent } from "./connection.ts";

type LiveState = "connecting" | "open" | "lost";

const HIDDEN_MS = 60_000;
const readers = new Set<(event: LiveEvent) => void>();
const watchers = new Set<() => void>();
let state: LiveState = "connecting";
let last: number | undefined;
let channel: BroadcastChannel | undefined;
let started: (() => void) | undefined;
let leading = false;

const setState = (next: LiveState) => {
  if (next === state) return;
  state = next;
  for (const watcher of watchers) watcher();
};

function take(event: LiveEvent): void {
  if (event.kind !== "gap") {
    if (last !== undefined && event.id <= last) return;
    last = event.id;
  }
  for (const reader of readers) reader(event);
}

/**
 * Stores the position in the event log before the page loads its data. The stream continues from there, so no event
 * before the connection opens is missed. If the position is unknown, the stream starts with the next event. Never
 * rejects.
 */
export async function notePosition(): Promise<void> {
  if (last !== undefined) return;
  const { data } = await client
    .GET("/v1/events", { params: { query: { limit: 1 } } })
    .catch(() => ({ data: undefined }));
  if (!data || last !== undefined) return;
  last = data.items[0]?.id ?? (data.next_cursor === null ? 0 : undefined);
}

const MISSED: LiveEvent = { id: 0, kind: "gap", at: "", data: {} };

function share(event: LiveEvent): void {
  take(event);
  channel?.postMessage({ event });
}

/** Holds the connection until `end` settles. */
async function lead(end: Promise<void>): Promise<void> {
  leading = true;
  const leave = connect({
    position: () => last,
    onEvent: share,
    onState(next) {
      // Without a position the stream cannot continue where it broke off, so report that events were missed.
      if (next === "open" && state === "lost" && last === undefined) share(MISSED);
      setState(next);
      channel?.postMessage({ state: next });
    },
  });
  await end;
  leading = false;
  leave();
}

/** Starts listening after log-in. @returns a function that stops it. */
export function startLive(): () => void {
  if (started) return started;
  channel = new BroadcastChannel("skep-events");
  channel.onmessage = ({ data }: MessageEvent<{ event?: LiveEvent; state?: LiveState; hello?: true }>) => {
    if (data.hello && leading) channel?.postMessage({ state });
    if (data.event) take(data.event);
    if (data.state) setState(data.state);
    if (data.event) setState("open");
  };
  let resign: (() => void) | undefined;
  let hiding: ReturnType<typeof setTimeout> | undefined;
  const requestLead = () => {
    if (resign) return;
    const waiting = new AbortController();
    const end = new Promise<void>((done) => {
      resign = () => {
        waiting.abort();
        done();
      };
    });
    if (navigator.locks)
      navigator.locks.request("skep-events", { signal: waiting.signal }, () => lead(end)).catch(() => {});
    else void lead(end);
  };
  const retire = () => {
    resign?.();
    resign = undefined;
  };
  const onVisibilityChange = () => {
    clearTimeout(hiding);
    if (document.hidden) hiding = setTimeout(retire, HIDDEN_MS);
    else requestLead();
  };
  document.addEventListener("visibilitychange", onVisibilityChange);
  requestLead();
  channel.postMessage({ hello: true });
  started = () => {
    document.removeEventListener("visibilitychange", onVisibilityChange);
    clearTimeout(hiding);
    retire();
    channel?.close();
    started = undefined;
  };
  return started;
}

/** Calls `act` with every event until the returned function is called. */
export function onLive(act: (event: LiveEvent) => void): () => void {
  readers.add(act);
  return () => readers.delete(act);
}

export const liveState = {
  get: (): LiveState => state,
  subscribe(act: () => void): () => void {
    watchers.add(act);
    return () => watchers.delete(act);
  },
};
