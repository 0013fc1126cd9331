/**
 * Sends spans in the order of the event log, one request at a time. The log is the queue, and the position up to which
 * it was sent is stored. So memory does not grow and a restart loses nothing. Events that waited too long are left out
 * and counted. Spans that were sent but not confirmed are sent again, as the same spans.
 */
import { toTimestamp } from "../../core/clock.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Logger } from "../../core/log.ts";
import type { Masking } from "../../core/masking.ts";
import type { EventLog } from "../../store/event-log.ts";
import type { Standby } from "../../store/identity.ts";
import type { Store } from "../../store/store.ts";
import type { Core } from "../feature.ts";
import { type Attributes, type OtlpSpan, writeAttributes } from "./span.ts";
import { TRACED, type TracedEvent } from "./spans.ts";
import type { Target } from "./target.ts";

interface ExporterDeps extends Pick<Core, "store" | "clock"> {
  log: Pick<Logger, "warn">;
  masking: Pick<Masking, "text">;
  standby: Pick<Standby, "since">;
  eventLog: Pick<EventLog, "readOf" | "lastId">;
  /** The receiver; undefined: nothing is sent. */
  findTarget(): Target | undefined;
  spanOf(event: TracedEvent, withContent: boolean): OtlpSpan | undefined;
  /** Counts spans that the receiver took, or that were left out. */
  countSpans(outcome: "sent" | "dropped", spans: number): void;
  /** Sends one request; redirects are not followed. @throws Problem when there is no answer. */
  ask(
    address: string,
    request: {
      method: "POST";
      headers: Readonly<Record<string, string>>;
      body: string;
      timeoutMs: number;
      signal: AbortSignal;
    },
  ): Promise<{ status: number; retryAfter: string | undefined }>;
  /** Attributes of this server. */
  resource: Attributes;
  version: string;
}

const FACT = "telemetry_position";
const EVENTS_AT_ONCE = 100;
const BYTES_AT_ONCE = 1024 * 1024;
const TIMEOUT_MS = 10_000;
const FIRST_RETRY_MS = 1_000;
const LAST_RETRY_MS = 60_000;
/** Longest wait that a receiver may ask for. */
const WAIT_MOST_MS = 15 * 60_000;
/** How long stopping waits for the last request. */
const FLUSH_MS = 3_000;
/** Status codes after which OTLP allows the same request to be sent again. */
const LATER = new Set([429, 502, 503, 504]);

interface Batch {
  spans: OtlpSpan[];
  /** Number of events that had waited too long. */
  late: number;
  /** Id of the event up to which the log is sent once this batch is. */
  upTo: number;
  /** Whether the log holds more events. */
  isCut: boolean;
}

/**
 * Wait before the next attempt that a receiver asks for in seconds or as a date; undefined when it asks for none. Ms.
 */
function askedWait(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(wait) ? Math.min(Math.max(0, wait), WAIT_MOST_MS) : undefined;
}

/** Id of the event up to which the log was sent; undefined when nothing was to be sent yet. */
function createPosition(store: Store) {
  const get = (): number | undefined => {
    const value = store.statement<string>("SELECT value FROM facts WHERE name = ?").pluck().get([FACT]);
    return value === undefined ? undefined : Number(value);
  };
  return {
    get,
    move: (to: number): void =>
      void store.write(() =>
        store.statement("INSERT OR REPLACE INTO facts (name, value) VALUES (?, ?)").run(FACT, String(to)),
      ),
    forget: (): void =>
      void (get() !== undefined && store.write(() => store.statement("DELETE FROM facts WHERE name = ?").run(FACT))),
  };
}

const bodyOf = (
  spans: readonly OtlpSpan[],
  { resource, version }: Pick<ExporterDeps, "resource" | "version">,
): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: writeAttributes(resource) },
        scopeSpans: [{ scope: { name: "skep", version }, spans }],
      },
    ],
  });

export function createExporter(deps: ExporterDeps) {
  const { store, clock, log, masking, standby, eventLog } = deps;
  const position = createPosition(store);
  const counts = { sent: 0, dropped: 0, failures: 0 };
  const count = (outcome: "sent" | "dropped", spans: number): void => {
    counts[outcome] += spans;
    deps.countSpans(outcome, spans);
  };
  let error: string | null = null;
  let sentAt: string | null = null;
  let underWay: Promise<void> | undefined;
  let again = false;
  /** The timer until the next attempt. */
  let retry: Timer | undefined;
  let waitsFor: string | undefined;
  let isStopped = false;
  const ending = new AbortController();
  count("sent", 0);
  count("dropped", 0);

  function nextBatch(from: number, withContent: boolean): Batch {
    const last = eventLog.lastId();
    const events = eventLog.readOf(TRACED, from, EVENTS_AT_ONCE);
    const isCut = events.length === EVENTS_AT_ONCE;
    const batch: Batch = { spans: [], late: 0, upTo: isCut ? events.at(-1)!.id : last, isCut };
    const oldest = toTimestamp(clock.now() - LIMITS.telemetryKeepMs);
    let bytes = 0;
    for (const event of events) {
      if (event.at < oldest) {
        batch.late++;
        continue;
      }
      const span = deps.spanOf(event, withContent);
      if (span === undefined) continue;
      batch.spans.push(span);
      bytes += JSON.stringify(span).length;
      if (bytes > BYTES_AT_ONCE) return { ...batch, upTo: event.id, isCut: true };
    }
    return batch;
  }
  const recordFailure = (why: string): void => {
    error = masking.text(why).slice(0, 300);
    if (counts.failures++ === 0) log.warn({ why: error }, "traces are not taken");
  };
  function tryLater(waitMs = Math.min(FIRST_RETRY_MS * 2 ** Math.min(counts.failures - 1, 10), LAST_RETRY_MS)): void {
    if (isStopped) return;
    clearTimeout(retry);
    waitsFor = deps.findTarget()?.endpoint;
    retry = setTimeout(() => {
      retry = undefined;
      sendNew();
    }, waitMs);
    retry.unref();
  }

  /** @returns whether these spans are settled: taken, or refused for good. */
  async function send({ endpoint, headers }: Target, spans: readonly OtlpSpan[]): Promise<boolean> {
    try {
      const { status, retryAfter } = await deps.ask(`${endpoint}/v1/traces`, {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: bodyOf(spans, deps),
        timeoutMs: TIMEOUT_MS,
        signal: ending.signal,
      });
      if (status >= 200 && status < 300) {
        count("sent", spans.length);
        counts.failures = 0;
        [error, sentAt] = [null, toTimestamp(clock.now())];
        return true;
      }
      recordFailure(`the receiver answered ${status}`);
      if (LATER.has(status)) {
        tryLater(askedWait(retryAfter, clock.now()));
        return false;
      }
      count("dropped", spans.length);
      return true;
    } catch (thrown) {
      if (ending.signal.aborted) return false;
      recordFailure(isProblem(thrown) ? thrown.detail : messageOf(thrown));
      tryLater();
      return false;
    }
  }

  async function sendAll(): Promise<void> {
    do {
      again = false;
      const target = deps.findTarget();
      if (target === undefined) return position.forget();
      if (standby.since() !== null) return;
      const from = position.get();
      // Sending was switched on just now; work that ended before is not sent.
      if (from === undefined) position.move(eventLog.lastId());
      else {
        const batch = nextBatch(from, target.content);
        if (batch.spans.length > 0 && !(await send(target, batch.spans))) return;
        count("dropped", batch.late);
        if (batch.upTo > from) position.move(batch.upTo);
        again ||= batch.isCut;
      }
    } while (again && !ending.signal.aborted);
  }

  /** Whether a retry is pending. If the settings now name another receiver, the wait for the former one is dropped. */
  function isRetryPending(): boolean {
    if (retry === undefined || deps.findTarget()?.endpoint === waitsFor) return retry !== undefined;
    clearTimeout(retry);
    retry = undefined;
    return false;
  }

  /** Sends what has ended since the last time, unless it waits for a receiver that did not answer. */
  function sendNew(): void {
    again = true;
    if (underWay || isStopped || isRetryPending()) return;
    underWay = sendAll()
      .catch((thrown: unknown) => {
        recordFailure(messageOf(thrown));
        tryLater();
      })
      .finally(() => {
        underWay = undefined;
      });
  }

  return {
    sendNew,
    counts,
    /** Error of the last attempt; null when it succeeded or nothing was sent yet. */
    error: () => error,
    lastSentAt: () => sentAt,
    /** Sends what is left, for some seconds. The rest is sent after the next start. */
    async stop(): Promise<void> {
      if (!retry) sendNew();
      isStopped = true;
      clearTimeout(retry);
      const patience = setTimeout(() => ending.abort(), FLUSH_MS);
      await underWay;
      clearTimeout(patience);
    },
  };
}
