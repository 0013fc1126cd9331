/**
 * The event stream (Server-Sent Events). Every reader follows the durable log from its own position; the bus only
 * signals that there is more. So resuming leaves no gap and no duplicate, and a slow reader costs the others nothing.
 *
 * Text cannot forge a frame. A data line is one line of JSON, whose encoder escapes every line end. The other fields
 * are a number and a word from a closed list.
 */
import { overLimit } from "../core/errors.ts";
import type { EventDefinition, SkepEvent } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { Bus } from "../store/bus.ts";
import { type EventFilter, type EventLog, matches } from "../store/event-log.ts";
import { answerWithEvents } from "./log-frames.ts";

export interface StreamRequest {
  filter: EventFilter;
  /** Position to continue after; undefined: begin with new events. */
  after: number | undefined;
  /** Whether this reader may see the event; asked for each event. */
  mayRead(event: SkepEvent): boolean;
  /** Whether the stream ends after this event; absent: it continues. */
  isLast?(event: SkepEvent): boolean;
  /** Returns false to end the stream: a token was revoked, an execution ended. */
  stillValid(): boolean;
  /** The reader's user; absent without accounts. */
  userId: string | undefined;
}

export type EventStreams = ReturnType<typeof createEventStreams>;

const encoder = new TextEncoder();
const RECENT = 4_096;
const PAGE = 500;
/**
 * The least time between two wake-ups of readers, in ms. Events within it are sent together; after a pause, an event is
 * sent at once.
 */
const WAKE_MS = 10;
const BUFFER_BYTES = 256 * 1024;
const RUNS_KNOWN = 1_000;

/** Encodes one event as a frame. */
export function encodeFrame(event: SkepEvent): string {
  const { id, kind, at, run_id, step_id, session_id, agent_id, swarm_id, project_id, data } = event;
  const json = JSON.stringify({ id, kind, at, run_id, step_id, session_id, agent_id, swarm_id, project_id, data });
  return `id: ${id}\nevent: ${kind}\ndata: ${json}\n\n`;
}

/** @param position where the stream continues for a client that reconnects */
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
  /** Events after which a run has ended, and with it a stream that follows the run. */
  runEnds: readonly EventDefinition[];
  /** The event by which an ended run continues. */
  runRestarted: EventDefinition;
}

/** Keeps the latest events in memory, with their frames, since readers mostly ask for these. */
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
    /** Up to PAGE events after the position: from memory if it reaches back far enough, else from the log. */
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

/** Knows where the runs that readers follow have ended. */
function createRunEnds(log: EventLog, { runEnds, runRestarted }: Pick<EventStreamsDeps, "runEnds" | "runRestarted">) {
  const restart = runRestarted.kind;
  const runTurns = [...runEnds.map(({ kind }) => kind), restart];
  /** For runs that are followed: the position of their end, or null while they continue. */
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

/** Events after this position that no longer exist, or that are not in this log, as after restoring a backup. */
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

  /** Whether the followed run has ended, and the reader has no events left to read after this position. */
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

  /**
   * Opens a stream. @throws Problem 429 `too_many_streams`. @returns the response at once; frames follow. 204 when the
   * run that is followed has nothing after that position.
   */
  function open({ filter, after, mayRead, stillValid, isLast, userId }: StreamRequest): Response {
    assertRoom(userId);
    let controller: ReadableStreamDefaultController<Uint8Array>;
    const gap = gapAt(log, after, filter);
    let position = gap?.position ?? after ?? log.lastId();
    // The first page is read before the answer begins, so that a failure can still be answered with a status.
    let ready: ReturnType<typeof next> | undefined = next(position, filter);
    // The client has read everything of an ended run: 204 stops it from reconnecting.
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
        // The reader has already gone.
      }
    };
    /**
     * Whether the reader has passed the end of the run it follows. Late events of a run come with its end or shortly
     * after; a restart makes the run continue.
     */
    const isOver = (): boolean => {
      if (filter.run_id === undefined) return false;
      const end = endOf(filter.run_id);
      return end !== null && position >= end;
    };
    /** Sends new events while the reader accepts them. A stream that follows one run ends after the run's end. */
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
    /** Ends every stream when the server stops. */
    close(): void {
      unsubscribe();
      clearInterval(heart);
      clearTimeout(waking);
      for (const reader of [...readers]) reader.end();
    },
  };
}
