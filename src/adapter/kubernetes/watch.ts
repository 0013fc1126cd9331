/**
 * Keeps a list of objects up to date: lists them, then watches for changes from that version on. A watch that is cut
 * continues where it was. When the API server no longer knows that version (410), everything is listed again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isProblem } from "../../core/errors.ts";
import { listIn, membersOf, numberIn, textIn } from "../../core/is-object.ts";
import { readJson } from "../../core/json-reader.ts";
import { createLineSplitter } from "../../core/line-splitter.ts";
import type { ClusterClient, Query } from "./client.ts";
import { toProblem } from "./failures.ts";

export interface WatchOptions {
  path: string;
  query: Query;
  /** Called with the current state of an object. */
  onObject(object: unknown): void;
  onGone(name: string): void;
  /** Called when the API server could not be reached; the watch then tries again. */
  onFailure?(error: unknown): void;
  /** Pause between attempts after a failure, ms. */
  waitMs?: number;
  /**
   * Longest that one stream lasts, ms. After a lost connection, a stream may never end by itself; then it is opened
   * again.
   */
  streamMs?: number;
}

export type Watch = ReturnType<typeof watchObjects>;

const EVENT_BYTES = 4 * 1024 * 1024;
const WATCH_SECONDS = 300;
/** Longer than the API server itself keeps a stream open. */
const STREAM_MS = (WATCH_SECONDS + 30) * 1_000;
const WAIT_MS = 1_000;
const PAGE = 500;

export function watchObjects(client: ClusterClient, options: WatchOptions) {
  const { path, query, onObject, onGone, waitMs = WAIT_MS, streamMs = STREAM_MS } = options;
  const closing = new AbortController();
  const { signal } = closing;
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  let known = new Set<string>();

  /** Lists all objects. @returns the version from which to watch. */
  async function list(): Promise<string> {
    const found = new Set<string>();
    let [version, next] = ["", ""];
    do {
      const answer = await client.call("GET", path, {
        query: { ...query, limit: PAGE, ...(next === "" ? {} : { continue: next }) },
        signal,
      });
      for (const object of listIn(answer, "items")) {
        found.add(nameIn(object));
        onObject(object);
      }
      const about = membersOf(answer)["metadata"];
      version = textIn(about, "resourceVersion") ?? "";
      next = textIn(about, "continue") ?? "";
    } while (next !== "");
    for (const name of known) if (!found.has(name)) onGone(name);
    known = found;
    return version;
  }
  /**
   * Reads events until the stream ends. @returns the last version. @throws Problem `kubernetes_gone` when the objects
   * must be listed again.
   */
  async function follow(from: string): Promise<string> {
    let version = from;
    const late = AbortSignal.any([signal, AbortSignal.timeout(streamMs)]);
    const lines = createLineSplitter({
      maxBytes: EVENT_BYTES,
      onExcess() {
        throw new Error("an event of the cluster is too long");
      },
      onLine({ text }) {
        if (text === "") return;
        const event = readJson(text);
        const object = membersOf(event)["object"];
        const type = textIn(event, "type");
        if (type === "ERROR")
          throw toProblem(numberIn(object, "code") ?? 500, textIn(object, "message") ?? "", client.access.address);
        version = textIn(membersOf(object)["metadata"], "resourceVersion") ?? version;
        if (type === "BOOKMARK") return;
        const name = nameIn(object);
        if (type !== "DELETED") known.add(name);
        else known.delete(name);
        if (type === "DELETED") onGone(name);
        else onObject(object);
      },
    });
    const body = await client.stream(
      path,
      { ...query, watch: "true", allowWatchBookmarks: "true", resourceVersion: from, timeoutSeconds: WATCH_SECONDS },
      late,
    );
    try {
      for await (const chunk of body) lines.add(chunk);
    } catch (error) {
      // A cut connection only ends the stream; an error that an event reports is thrown.
      if (isProblem(error) || signal.aborted) throw error;
      options.onFailure?.(error);
    }
    return version;
  }
  const rest = () => sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
  async function run(): Promise<void> {
    let version = "";
    let wasGone = false;
    while (!signal.aborted) {
      try {
        if (version === "") version = await list();
        ready.resolve();
        const before = version;
        version = await follow(version);
        wasGone = false;
        // If the server ends each watch at once, there is a pause between watches.
        if (version === before) await rest();
      } catch (error) {
        if (signal.aborted) return;
        version = "";
        const isGone = isProblem(error) && error.code === "kubernetes_gone";
        if (isGone && !wasGone) {
          wasGone = true;
          continue;
        }
        options.onFailure?.(error);
        ready.reject(error);
        await rest();
      }
    }
  }
  void run();
  return {
    /** Resolves when the first list is complete. */
    ready: ready.promise,
    close: (): void => closing.abort(new Error("closed")),
  };
}

const nameIn = (object: unknown): string => textIn(membersOf(object)["metadata"], "name") ?? "";
