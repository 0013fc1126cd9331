/**
 * Takes queued jobs as their kinds allow and runs them to their end. The rows say what is to be done; this holds
 * only what runs in this process.
 */
import { Value } from "@sinclair/typebox/value";
import { failuresOf } from "../../core/act-on-each.ts";
import { type Clock, HOUR_MS, timestamp } from "../../core/clock.ts";
import type { Clockwork } from "../../core/clockwork.ts";
import { isProblem, messageOf } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import type { JobDefinition, JobResult } from "../../core/jobs.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Logger } from "../../core/log.ts";
import type { Masker } from "../../core/masking.ts";
import type { Standby } from "../../store/identity.ts";
import type { Store } from "../../store/store.ts";
import { jobProgress } from "./events.ts";
import { createReports, type Reports } from "./reports.ts";
import { type JobRow, type JobStore, presentJob } from "./store.ts";

export interface RunnerDeps {
  store: Store;
  rows: JobStore;
  clock: Clock;
  clockwork: Clockwork;
  log: Logger;
  standby: Standby;
  /** A job's reports may hold text from programs and other machines. */
  masker: Pick<Masker, "text" | "json">;
}

export interface Runner {
  register(definition: JobDefinition): void;
  definitionOf(kind: string): JobDefinition | undefined;
  /** Takes what is due, and notes when the next is. Call after the commit of what changed that. */
  look(): void;
  /** Changes a job's state and publishes it; joins the transaction around it. */
  change(id: string, fields: Partial<JobRow>): JobRow | undefined;
  /** Writes a job's end; joins the transaction around it. */
  end(row: JobRow, end: JobEnd): void;
  /** Aborts the job if it runs here. */
  abort(id: string): void;
  /** Resolves when the job does not run here (any more). */
  idle(id: string): Promise<void>;
  /** With what it reported since its row was written. */
  current(row: JobRow): JobRow;
  /** Puts back what an earlier process left running, then takes jobs. */
  start(): void;
  /** Aborts what runs, waits for it, and puts it back. */
  stop(): Promise<void>;
}

export type JobEnd =
  | { state: "succeeded"; result: JobResult | null }
  | { state: "failed"; error: { code: string; message: string } }
  | { state: "cancelled" };

interface Active {
  kind: string;
  exclusive: string | null;
  abort: AbortController;
  reports: Reports;
  done: Promise<void>;
}

const INTERRUPTED = { code: "interrupted", message: "The server stopped before it was done." };
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = HOUR_MS;
/** Before the next try: 1 s, 4 s, 16 s … up to an hour, each up to a quarter longer so that many do not come at once. */
const waitAfter = (failures: number): number =>
  Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 4 ** (failures - 1)) * (1 + Math.random() / 4);

export function createRunner({ store, rows, clock, clockwork, log, standby, masker }: RunnerDeps): Runner {
  const definitions = new Map<string, JobDefinition>();
  const active = new Map<string, Active>();
  let state: "waiting" | "running" | "stopped" = "waiting";
  let waking = false;

  const refsOf = (row: JobRow) => ({
    project_id: row.project_id ?? undefined,
    // A project's job without an owner is visible to everybody who sees the project.
    user_id: row.user_id ?? (row.project_id === null ? ADMINISTRATORS : undefined),
  });
  const dataOf = (row: JobRow) => {
    const { kind, state: at, percent, detail, subject, error, progress } = presentJob(row, clock.now());
    return { job_id: row.id, kind, state: at, percent, detail, subject, error, progress: progress ?? undefined };
  };
  const change = (id: string, fields: Partial<JobRow>): JobRow | undefined =>
    store.write(({ emit }) => {
      const row = rows.update(id, fields);
      if (row) emit(jobProgress, { ...refsOf(row), data: dataOf(row) });
      return row;
    });
  const current = (row: JobRow): JobRow => ({ ...row, ...active.get(row.id)?.reports.latest });

  function end(row: JobRow, how: JobEnd): void {
    store.write(() => {
      const error = how.state === "failed" ? masker.json(how.error) : null;
      const result = how.state === "succeeded" ? masker.json(how.result) : null;
      const { percent, detail, progress } = current(row);
      change(row.id, {
        state: how.state,
        result,
        progress,
        finished_at: timestamp(clock.now()),
        ...(how.state === "succeeded" ? { percent: 100, detail } : { percent, detail }),
        ...(how.state === "cancelled" ? { detail: "It was cancelled." } : {}),
        error_code: error?.code ?? null,
        error_message: error?.message ?? null,
      });
      const { id, payload, user_id: userId, project_id: projectId } = row;
      definitions.get(row.kind)?.ended?.({ id, payload, state: how.state, result, error, userId, projectId });
    });
  }

  /** After a try that failed: another one later, or the end. */
  function settle(row: JobRow, definition: JobDefinition, error: unknown): void {
    const failures = row.failures + 1;
    const known = isProblem(error) ? error : undefined;
    if (!known) log.error({ err: error, job: row.id, kind: row.kind }, "job failed");
    const final = known !== undefined && known.status < 500;
    if (!final && failures < (definition.attempts ?? 1)) {
      const run_at = Math.ceil(clock.now() + waitAfter(failures));
      const detail = masker.text(known?.detail ?? "It failed and is tried again.");
      change(row.id, { state: "queued", failures, run_at, detail });
      return;
    }
    const message = known ? messageOf(known) : "Something went wrong here. The log has the details.";
    end(row, { state: "failed", error: { code: known?.code ?? "internal", message } });
  }

  /** A process ended under the job: it begins again, unless it cannot or has ended several processes already. */
  function putBack(row: JobRow, interruptions: number): void {
    const definition = definitions.get(row.kind);
    const isLast = interruptions >= LIMITS.jobInterruptions;
    if (row.cancel_requested) end(row, { state: "cancelled" });
    else if (!definition || definition.resumable === false || isLast) end(row, { state: "failed", error: INTERRUPTED });
    else change(row.id, { state: "queued", interruptions, percent: null, detail: null });
  }

  async function work(row: JobRow, definition: JobDefinition, { abort, reports }: Active): Promise<void> {
    const { id, user_id: userId, project_id: projectId } = row;
    const attempt = row.failures + row.interruptions + 1;
    let left: () => void;
    try {
      abort.signal.throwIfAborted();
      if (!Value.Check(definition.payload, row.payload))
        throw new Error("its payload is not as this version writes it");
      const context = { id, attempt, userId, projectId, signal: abort.signal, report: reports.take };
      const result = await definition.run(row.payload, context);
      left = () => end(row, { state: "succeeded", result: result ?? null });
    } catch (error) {
      left = () => {
        if (rows.find(id)?.cancel_requested) end(row, { state: "cancelled" });
        else if (abort.signal.aborted) putBack(row, row.interruptions);
        else settle(row, definition, error);
      };
    }
    reports.end();
    await written(row, left);
  }
  /** A disk that is full when a job ends must not leave it running in the rows for good. */
  async function written(row: JobRow, write: () => void): Promise<void> {
    while (true) {
      try {
        return write();
      } catch (error) {
        log.error({ err: error, job: row.id }, "the end of a job could not be written; trying again");
        if (state === "stopped") return;
        await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS).unref());
      }
    }
  }

  function begin(row: JobRow, definition: JobDefinition): void {
    const reports = createReports(masker, (latest) => {
      store.emitSoon(jobProgress, { ...refsOf(row), data: dataOf({ ...row, state: "running", ...latest }) });
    });
    const entry: Active = {
      kind: row.kind,
      exclusive: row.exclusive,
      abort: new AbortController(),
      reports,
      done: Promise.resolve(),
    };
    active.set(row.id, entry);
    // A microtask later: `run` may be slow in its first steps, and others are to be taken.
    entry.done = Promise.resolve()
      .then(() => work(row, definition, entry))
      .finally(() => {
        active.delete(row.id);
        look();
      });
  }

  function fill(): void {
    waking = false;
    if (state !== "running") return;
    for (const definition of definitions.values()) {
      const { kind, parallel = 1, outward } = definition;
      if (outward && standby.since() !== null) continue;
      for (;;) {
        const running = [...active.values()].filter((one) => one.kind === kind);
        if (running.length >= parallel) break;
        const exclusive = running.flatMap((one) => one.exclusive ?? []);
        const next = rows.next(kind, exclusive);
        const row = next && change(next.id, { state: "running" });
        if (!row) break;
        begin(row, definition);
      }
    }
  }
  function wake(): void {
    if (waking || state !== "running") return;
    waking = true;
    queueMicrotask(() => {
      try {
        fill();
      } catch (error) {
        log.error({ err: error }, "no job taken; trying again with the next");
      }
    });
  }

  const noteDue = clockwork.add({ name: "jobs", nextAt: rows.nextAt, run: wake });
  function look(): void {
    wake();
    noteDue();
  }

  return {
    register(definition) {
      if (definitions.has(definition.kind)) throw new Error(`two features define jobs of the kind ${definition.kind}`);
      definitions.set(definition.kind, definition);
    },
    definitionOf: (kind) => definitions.get(kind),
    look,
    change,
    end,
    current,
    abort: (id) => active.get(id)?.abort.abort("It was cancelled."),
    idle: async (id) => active.get(id)?.done,
    start() {
      state = "running";
      const failed = store.write(() =>
        failuresOf(rows.unfinished(), (row) =>
          store.write(() => {
            if (row.state === "running") putBack(row, row.interruptions + 1);
            else if (!definitions.has(row.kind)) end(row, { state: "failed", error: INTERRUPTED });
          }),
        ),
      );
      standby.whenActive(look);
      look();
      if (failed) throw failed;
    },
    async stop() {
      state = "stopped";
      for (const { abort } of active.values()) abort.abort("The server was stopped.");
      await Promise.all([...active.values()].map(({ done }) => done));
    },
  };
}
