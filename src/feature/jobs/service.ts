/**
 * Background jobs of this process. The row is the truth: whoever started one reads its state there, after a restart
 * too, when what was cut short counts as failed.
 */
import { and, desc, eq, isNull, lt } from "drizzle-orm";
import { type Clock, timestamp } from "../../core/clock.ts";
import { conflict, isProblem, messageOf, notFound } from "../../core/errors.ts";
import { ADMINISTRATORS } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import type { Logger } from "../../core/log.ts";
import { actorOf, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import type { Audit } from "../../store/audit.ts";
import type { Store } from "../../store/store.ts";
import { jobs as table } from "../../store/tables/settings.ts";
import { jobProgress } from "./events.ts";
import type { Job, JobState } from "./model.ts";

export interface JobProgress {
  /** 0–100. */
  percent?: number | undefined;
  detail?: string | undefined;
  /** What the event's `progress` carries, e.g. the layers of an image; the latest counts. */
  data?: Record<string, unknown>;
}

export interface JobRequest {
  kind: string;
  subject: string;
  userId?: string | undefined;
  /** The work. What it throws fails the job; `signal` aborts when it is cancelled or the server stops. @returns the job's result. */
  work(report: (progress: JobProgress) => void, signal: AbortSignal): Promise<Record<string, unknown> | undefined>;
}

export interface Jobs {
  /** Writes the row; the work begins after the transaction around it has committed. */
  start(request: JobRequest): Job;
  /** @throws Problem 404, also for another user's. */
  get(id: string, caller: Caller): Job;
  list(page: Page, caller: Caller): ListAnswer<Job>;
  /** Asks it to stop; its state tells when it has. @throws Problem 404, 409 when it has ended. */
  cancel(id: string, caller: Caller): Job;
  /** Marks what an earlier process left unfinished as failed. */
  recover(): number;
  /** A deleted user's jobs go to the heir, or to the administrators. */
  handOver(from: string, to: string | null): void;
  /** Removes finished jobs that ended before that time. */
  prune(before: number): void;
  /** Aborts what runs and waits for it. */
  stop(): Promise<void>;
}

export interface JobsDeps {
  store: Store;
  clock: Clock;
  log: Logger;
  audit: Audit;
}

type Row = typeof table.$inferSelect;
/** Progress is written and told at most this often per job; the last one always is. */
const REPORT_MS = 200;

const present = ({ error_code, error_message, user_id: _, ...row }: Row): Job => ({
  ...row,
  error: error_code === null ? null : { code: error_code, message: error_message ?? "" },
});

/** Passes reports on at most every REPORT_MS, the latest one also after a pause. One that cannot be written is left out. */
function createReports(tell: (progress: JobProgress) => void) {
  let held: JobProgress | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const next = (): void => {
    timer = undefined;
    if (held === undefined) return;
    const one = held;
    held = undefined;
    timer = setTimeout(next, REPORT_MS);
    try {
      tell(one);
    } catch {
      // A full disk: the work goes on, and its end says how it went.
    }
  };
  return {
    take(progress: JobProgress) {
      held = { ...held, ...progress };
      if (timer === undefined) next();
    },
    end: () => clearTimeout(timer),
  };
}

export function createJobs({ store, clock, log, audit }: JobsDeps): Jobs {
  const { db } = store;
  const running = new Map<string, { abort: AbortController; done: Promise<void> }>();
  const find = (id: string): Row | undefined => db.select().from(table).where(eq(table.id, id)).get();
  const rowFor = (id: string, caller: Caller): Row => {
    const row = find(id);
    if (!row || !(caller.admin || (row.user_id !== null && row.user_id === caller.userId))) throw notFound("job");
    return row;
  };
  const mine = (caller: Caller) => (caller.admin ? undefined : eq(table.user_id, caller.userId ?? ""));

  function change(id: string, fields: Partial<Row>, progress?: Record<string, unknown>): void {
    store.write(({ emit }) => {
      db.update(table)
        .set({ ...fields, updated_at: timestamp(clock.now()) })
        .where(eq(table.id, id))
        .run();
      const row = find(id);
      if (!row) return;
      const { kind, state, percent, detail, subject } = row;
      const told = { job_id: id, kind, state, percent, detail, subject, error: present(row).error, progress };
      emit(jobProgress, { user_id: row.user_id ?? ADMINISTRATORS, data: told });
    });
  }

  function finish(id: string, state: JobState, fields: Partial<Row>): void {
    change(id, { state, finished_at: timestamp(clock.now()), ...fields });
  }

  async function run(id: string, { work }: JobRequest, signal: AbortSignal): Promise<void> {
    const progress = createReports(({ percent, detail, data }) => {
      if (signal.aborted) return;
      change(id, { ...(percent === undefined ? {} : { percent }), ...(detail === undefined ? {} : { detail }) }, data);
    });
    change(id, { state: "running" });
    try {
      const result = await work(progress.take, signal);
      progress.end();
      finish(id, "succeeded", { percent: 100, result: result ?? null });
    } catch (error) {
      progress.end();
      if (signal.aborted) return finish(id, "cancelled", { detail: String(signal.reason) });
      const code = isProblem(error) ? error.code : "internal";
      if (code === "internal") log.error({ err: error, job: id }, "job failed");
      const message = isProblem(error) ? messageOf(error) : "Something went wrong here. The log has the details.";
      finish(id, "failed", { error_code: code, error_message: message });
    }
  }

  function begin(id: string, request: JobRequest): void {
    const abort = new AbortController();
    const done = Promise.resolve().then(async () => {
      // A microtask later the transaction is over; when it was rolled back there is nothing to do.
      if (find(id)) await run(id, request, abort.signal);
    });
    const settled = done
      .catch((error: unknown) => log.error({ err: error, job: id }, "job could not be written"))
      .finally(() => running.delete(id));
    running.set(id, { abort, done: settled });
  }

  return {
    start(request) {
      const at = timestamp(clock.now());
      const row: Row = {
        id: newId("job"),
        kind: request.kind,
        state: "queued",
        percent: null,
        detail: null,
        subject: request.subject,
        result: null,
        error_code: null,
        error_message: null,
        user_id: request.userId ?? null,
        created_at: at,
        updated_at: at,
        finished_at: null,
      };
      store.write(() => db.insert(table).values(row).run());
      begin(row.id, request);
      return present(row);
    },
    get(id, caller) {
      return present(rowFor(id, caller));
    },
    list(page, caller) {
      const after = page.after === null ? undefined : lt(table.id, page.after);
      const rows = db
        .select()
        .from(table)
        .where(and(mine(caller), after))
        .orderBy(desc(table.id))
        .limit(page.limit + 1)
        .all();
      return listAnswer(rows, page, (row) => row.id, present);
    },
    cancel(id, caller) {
      const row = rowFor(id, caller);
      if (row.finished_at !== null) throw conflict(`The job has ${row.state} already.`, "job_ended");
      store.write(({ after }) => {
        audit({ action: "job.cancelled", actor: actorOf(caller), subject: id, address: caller.address });
        after(() => running.get(id)?.abort.abort("It was cancelled."));
      });
      return present(row);
    },
    recover() {
      const unfinished = db.select({ id: table.id }).from(table).where(isNull(table.finished_at)).all();
      for (const { id } of unfinished)
        finish(id, "failed", { error_code: "interrupted", error_message: "The server stopped before it was done." });
      return unfinished.length;
    },
    handOver(from, to) {
      store.write(() => db.update(table).set({ user_id: to }).where(eq(table.user_id, from)).run());
    },
    prune(before) {
      store.write(() =>
        db
          .delete(table)
          .where(lt(table.finished_at, timestamp(before)))
          .run(),
      );
    },
    async stop() {
      for (const { abort } of running.values()) abort.abort("The server was stopped.");
      await Promise.all([...running.values()].map((job) => job.done));
    },
  };
}
