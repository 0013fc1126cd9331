/**
 * The event stream (Server-Sent Events). Every reader follows the durable log from its own position; the bus only
 * says that there is more. So a resume has no gap and no duplicate, and a slow reader costs nobody else anything.
 *
 * Frames are our own: a data line is one line of JSON, whose encoder escapes every line end, and the other fields are
 * a number and a word of a closed table. No text can forge a frame.
 */
import { overLimit } from "../core/errors.ts";
import type { EventDefinition, SkepEvent } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { Bus } from "../store/bus.ts";
import { type EventFilter, type EventLog, matches } from "../store/event-log.ts";
import { answerWithEvents } from "./log-frames.ts";

export interface StreamRequest {
  filter: EventFilter;
  /** Position to continue from; undefined means from now on. */
  after: number | undefined;
  /** Whether this reader may see the event; asked for each. */
  mayRead(event: SkepEvent): boolean;
  /** The event after which the stream ends; absent: it continues. */
  isLast?(event: SkepEvent): boolean;
  /** False ends the stream: a token was revoked, an execution ended. */
  stillValid(): boolean;
  /** Whose it is; absent without accounts. */
  userId: string | undefined;
}

export type EventStreams = ReturnType<typeof createEventStreams>;

const encoder = new TextEncoder();
const RECENT = 4_096;
const PAGE = 500;
/** Between two wake-ups of readers, in ms: what comes in between is sent together, what comes after a pause at once. */
const WAKE_MS = 10;
const BUFFER_BYTES = 256 * 1024;
const RUNS_KNOWN = 1_000;

/** One event as a frame. */
export function encodeFrame(event: SkepEvent): string {
  const { id, kind, at, run_id, step_id, session_id, agent_id, swarm_id, project_id, data } = event;
  const json = JSON.stringify({ id, kind, at, run_id, step_id, session_id, agent_id, swarm_id, project_id, data });
  return `id: ${id}\nevent: ${kind}\ndata: ${json}\n\n`;
}

/** @param position where the stream continues, for a client that reconnects */
const encodeGap = (position: number, from: number, to: number): string =>
  `id: ${position}\nevent: gap\ndata: ${JSON.stringify({ kind: "gap", from, to, detail: "Events in between are not sent; read the current state." })}\n\n`;

interface Reader {
  userId: string | undefined;
  wake(): void;
  beat(): void;
  end(): void;
}

interface EventStreamsDeps {
  log: EventLog;
  bus: Bus;
  /** After these a run has ended, and the stream that follows it with it. */
  runEnds: readonly EventDefinition[];
  /** After this one an ended run continues. */
  runRestarted: EventDefinition;
}

/** The last events in memory, and their frames: readers mostly ask for these. */
function createRecentEvents(log: EventLog) {
  const frames = new Map<number, string>();
  let recent: SkepEvent[] = [];
  return {
    add(event: SkepEvent): void {
      recent.push(event);
      if (recent.length <= RECENT * 2) return;
      for (const old of recent.slice(0, RECENT)) frames.delete(old.id);
      recent = recent.slice(RECENT);
    },
    /** Up to PAGE events after the position: from memory when it reaches back far enough, else from the log. */
    next(after: number, filter: EventFilter): { events: SkepEvent[]; reached: number } {
      const first = recent[0];
      if (first && first.id <= after + 1) {
        const page = recent.slice(after + 1 - first.id, after + 1 - first.id + PAGE);
        return { events: page.filter((event) => matches(event, filter)), reached: page.at(-1)?.id ?? after };
      }
      const last = log.lastId();
      const events = log.read(after, PAGE, filter);
      return { events, reached: events.length === PAGE ? events.at(-1)!.id : Math.max(last, after) };
    },
    frameOf(event: SkepEvent): string {
      let frame = frames.get(event.id);
      if (frame === undefined) {
        frame = encodeFrame(event);
        if (recent[0] && event.id >= recent[0].id) frames.set(event.id, frame);
      }
      return frame;
    },
  };
}

/** Where the runs that are followed have ended. */
function createRunEnds(log: EventLog, { runEnds, runRestarted }: Pick<EventStreamsDeps, "runEnds" | "runRestarted">) {
  const restart = runRestarted.kind;
  const runTurns = [...runEnds.map(({ kind }) => kind), restart];
  /** Of runs that are followed: the position of their end, or null while they continue. */
  const ends = new Map<string, number | null>();
  const endAt = ({ id, kind }: SkepEvent): number | null => (kind === restart ? null : id);
  function endOf(runId: string): number | null {
    const known = ends.get(runId);
    if (known !== undefined) return known;
    const last = log.read(0, PAGE, { run_id: runId, kinds: runTurns }).at(-1);
    const end = last ? endAt(last) : null;
    if (ends.size >= RUNS_KNOWN) ends.clear();
    ends.set(runId, end);
    return end;
  }
  return {
    endOf,
    note(event: SkepEvent): void {
      const { run_id, kind } = event;
      if (run_id && ends.has(run_id) && runTurns.includes(kind)) ends.set(run_id, endAt(event));
    },
  };
}

/** Events that this position asks for and that do not exist: no longer, or not in this log, e.g. of a restored copy. */
function gapAt(log: EventLog, after: number | undefined, filter: EventFilter) {
  if (after === undefined) return undefined;
  const [first, last] = [log.firstId(), log.lastId()];
  if (after > last) return { position: last, from: last + 1, to: after };
  if (filter.run_id === undefined && after < first - 1) return { position: first - 1, from: after + 1, to: first - 1 };
  return undefined;
}

export function createEventStreams({ log, bus, ...turns }: EventStreamsDeps) {
  const readers = new Set<Reader>();
  const recent = createRecentEvents(log);
  const { next, frameOf } = recent;
  const { endOf, note } = createRunEnds(log, turns);
  let waking: ReturnType<typeof setTimeout> | undefined;
  let wokenAt = Number.NEGATIVE_INFINITY;

  const unsubscribe = bus.subscribeAll((event) => {
    note(event);
    recent.add(event);
    if (waking) return;
    const rest = wokenAt + WAKE_MS - performance.now();
    waking = setTimeout(
      () => {
        waking = undefined;
        wokenAt = performance.now();
        for (const reader of readers) reader.wake();
      },
      Math.max(0, rest),
    );
  });
  const heart = setInterval(() => {
    for (const reader of readers) reader.beat();
  }, LIMITS.streamHeartbeatMs);
  heart.unref();

  /** Whether the run that is followed has ended, and nothing of it is left to read from there. */
  function isDrained(position: number, filter: EventFilter, mayRead: (event: SkepEvent) => boolean): boolean {
    if (filter.run_id === undefined || endOf(filter.run_id) === null) return false;
    for (let at = position; ; ) {
      const { events, reached } = next(at, filter);
      if (events.some(mayRead)) return false;
      if (reached === at) return true;
      at = reached;
    }
  }

  function assertRoom(userId: string | undefined): void {
    if (userId === undefined) return;
    const current = [...readers].filter((reader) => reader.userId === userId).length;
    const remedy = "Close tabs or programs that follow events.";
    if (current >= LIMITS.streamsPerUser)
      throw overLimit("too_many_streams", "open event streams", current, LIMITS.streamsPerUser, remedy);
  }

  /** @throws Problem 429 `too_many_streams`. @returns the response, at once; frames follow. 204 when the run that is followed has nothing after that position. */
  function open({ filter, after, mayRead, stillValid, isLast, userId }: StreamRequest): Response {
    assertRoom(userId);
    let controller: ReadableStreamDefaultController<Uint8Array>;
    const gap = gapAt(log, after, filter);
    let position = gap?.position ?? after ?? log.lastId();
    // Read before the answer begins: a failure is answered with a status.
    let ready: ReturnType<typeof next> | undefined = next(position, filter);
    // The client has read all of a run that has ended: 204 ends its reconnecting.
    if (after !== undefined && !gap && isDrained(position, filter, mayRead)) return new Response(null, { status: 204 });
    let ended = false;
    const send = (text: string) => controller.enqueue(encoder.encode(text));
    const end = () => {
      if (ended) return;
      ended = true;
      readers.delete(reader);
      try {
        controller.close();
      } catch {
        // The reader is gone already.
      }
    };
    /** What still belongs to a run is written with its end or shortly after; a restart makes it continue. */
    const isOver = (): boolean => {
      if (filter.run_id === undefined) return false;
      const end = endOf(filter.run_id);
      return end !== null && position >= end;
    };
    /** Sends what is new while the reader takes it. Ends after the run's end when it follows one run. */
    const pump = () => {
      while (!ended) {
        if (!stillValid()) return end();
        if ((controller.desiredSize ?? 0) <= 0) return;
        const { events, reached } = ready ?? next(position, filter);
        ready = undefined;
        if (reached === position) return isOver() ? end() : undefined;
        position = reached;
        const last = isLast ? events.findIndex(isLast) : -1;
        const shown = (last < 0 ? events : events.slice(0, last + 1)).filter(mayRead);
        if (shown.length > 0) send(shown.map(frameOf).join(""));
        if (last >= 0) return end();
      }
    };
    const reader: Reader = {
      userId,
      wake() {
        const behind = log.lastId() - position;
        if ((controller.desiredSize ?? 0) <= 0 && behind > LIMITS.streamQueueEvents) {
          bus.countDropped(behind);
          send(encodeGap(log.lastId(), position + 1, log.lastId()));
          return end();
        }
        pump();
      },
      beat() {
        if (!stillValid()) return end();
        if ((controller.desiredSize ?? 0) > 0) send(": beat\n\n");
      },
      end,
    };
    const body = new ReadableStream<Uint8Array>(
      {
        start(given) {
          controller = given;
          readers.add(reader);
          send("retry: 2000\n\n");
          if (gap) send(encodeGap(gap.position, gap.from, gap.to));
        },
        pull: pump,
        cancel() {
          ended = true;
          readers.delete(reader);
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BUFFER_BYTES }),
    );
    return answerWithEvents(body);
  }

  return {
    open,
    get readers(): number {
      return readers.size;
    },
    /** Ends every stream; for stopping. */
    close(): void {
      unsubscribe();
      clearInterval(heart);
      clearTimeout(waking);
      for (const reader of [...readers]) reader.end();
    },
  };
}
