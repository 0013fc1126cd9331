/**
 * Background jobs. A feature defines its kinds of jobs (core/jobs.ts) and enqueues jobs. The row is the truth: a job's
 * state is read from it, and a restart continues from it.
 */

import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, notFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { JobDefinition } from "../../core/jobs.ts";
import type { Masking } from "../../core/masking.ts";
import { isOwner } from "../../core/ownership.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { removeOld } from "../../store/remove-old.ts";
import type { WriteTx } from "../../store/store.ts";
import { expectReadable, WHOSE } from "../../store/whose.ts";
import type { Core } from "../feature.ts";
import type { Job } from "./model.ts";
import { createRunner } from "./runner.ts";
import { createJobStore, type JobRow, presentJob } from "./store.ts";

export interface EnqueueOptions {
  /** What the job works on, as text for people. */
  subject?: string | undefined;
  /**
   * The job's owner. A job without an owner is visible to administrators only, or to all who see its project if it has
   * one.
   */
  userId?: string | undefined;
  projectId?: string | undefined;
  /**
   * There is at most one live job per key. A second request joins it, at the earlier time and the higher priority of
   * the two.
   */
  key?: string | undefined;
  /** Jobs of higher priority run first; 0 unless given. */
  priority?: number | undefined;
  /** Earliest start, ms since the epoch; now unless given. */
  runAt?: number | undefined;
}

export type Jobs = ReturnType<typeof createJobs>;

interface JobsDeps extends Pick<Core, "store" | "clock" | "clockwork" | "log" | "audit" | "standby"> {
  masking: Pick<Masking, "text" | "json">;
}

export function createJobs({ store, clock, clockwork, log, masking, audit, standby }: JobsDeps) {
  const rows = createJobStore(store, clock);
  const runner = createRunner({ store, rows, clock, clockwork, log, standby, masker: masking });
  const present = (row: JobRow): Job => presentJob(runner.toCurrent(row), clock.now());
  const rowFor = (id: string, caller: Caller): JobRow => expectReadable(caller, WHOSE.jobs, rows.find(id), "job");
  const requestCancel = (row: JobRow): JobRow =>
    store.write(({ after }) => {
      if (row.state === "queued") runner.end(row, { state: "cancelled" });
      else rows.update(row.id, { cancel_requested: true });
      after(() => runner.abort(row.id));
      return rows.find(row.id)!;
    });

  function join({ after }: WriteTx, row: JobRow, { priority = 0, runAt = clock.now() }: EnqueueOptions): JobRow {
    if (row.state !== "queued" || (row.run_at <= runAt && row.priority >= priority)) return row;
    after(runner.look);
    return rows.update(row.id, {
      run_at: Math.min(row.run_at, runAt),
      priority: Math.max(row.priority, priority),
    })!;
  }
  function addRow(definition: JobDefinition, payload: unknown, options: EnqueueOptions): JobRow {
    const at = toTimestamp(clock.now());
    return rows.add({
      id: newId("job"),
      kind: definition.kind,
      state: "queued",
      payload,
      key: options.key,
      exclusive: definition.exclusive?.(payload),
      priority: options.priority ?? 0,
      run_at: Math.ceil(options.runAt ?? clock.now()),
      failures: 0,
      interruptions: 0,
      cancel_requested: false,
      subject: options.subject,
      user_id: options.userId,
      project_id: options.projectId,
      created_at: at,
      updated_at: at,
    });
  }

  return {
    /** Makes kinds of jobs known; call it before `start`. @throws Error when another feature has that kind. */
    register(...definitions: JobDefinition[]): void {
      for (const definition of definitions) runner.register(definition);
    },
    /**
     * Writes the job's row, or joins the live job of that key. The work begins after the surrounding transaction has
     * committed.
     */
    enqueue<Schema extends TSchema>(
      definition: JobDefinition<Schema>,
      payload: Static<Schema>,
      options: EnqueueOptions = {},
    ): Job {
      if (runner.definitionOf(definition.kind) !== definition)
        throw new Error(`jobs of the kind ${definition.kind} were not registered`);
      if (!Value.Check(definition.payload, payload)) throw new Error(`no payload of a job ${definition.kind}`);
      return store.write((tx) => {
        const known = options.key === undefined ? undefined : rows.live(definition.kind, options.key);
        if (known) return present(join(tx, known, options));
        const row = addRow(definition, payload, options);
        tx.after(runner.look);
        return present(row);
      });
    },
    /** The job of that key that has not ended. */
    live(definition: Pick<JobDefinition, "kind">, key: string): Job | undefined {
      const row = rows.live(definition.kind, key);
      return row && present(row);
    },
    /** The newest of a project's jobs of that kind. */
    latestOf(definition: Pick<JobDefinition, "kind">, projectId: string): Job | undefined {
      const row = rows.latestOf(projectId, definition.kind);
      return row && present(row);
    },
    find(definition: Pick<JobDefinition, "kind">, id: string): Job | undefined {
      const row = rows.find(id);
      return row?.kind === definition.kind ? present(row) : undefined;
    },
    /** @throws Error when there is no such job. */
    payloadOf<Schema extends TSchema>(definition: JobDefinition<Schema>, id: string): Static<Schema> {
      const row = rows.find(id);
      if (row?.kind !== definition.kind) throw new Error(`no job ${definition.kind} has the id ${id}`);
      return row.payload;
    },
    /** Changes a job that has not started. @returns false when it has started. */
    alter: (id: string, { payload, runAt }: { payload?: unknown; runAt?: number }): boolean =>
      store.write(({ after }) => {
        if (rows.find(id)?.state !== "queued") return false;
        rows.update(id, { payload, run_at: runAt && Math.ceil(runAt) });
        after(runner.look);
        return true;
      }),
    /** @throws Problem 404, also for another user's job. */
    get: (id: string, caller: Caller): Job => present(rowFor(id, caller)),
    list(page: Page, caller: Caller): ListAnswer<Job> {
      return listById(rows.page(page, caller), page, present);
    },
    /** Asks the job to stop; its state tells when it has stopped. @throws Problem 404, 409 when the job has ended. */
    cancel: (id: string, caller: Caller): Job =>
      store.write(() => {
        const row = rowFor(id, caller);
        if (!caller.admin && !isOwner(caller, row.user_id)) throw notFound("job");
        if (row.finished_at !== null) throw conflict(`The job has ${row.state} already.`, "job_ended");
        if (runner.definitionOf(row.kind)?.mayCancel?.(row.payload) === false)
          throw conflict("The job has gone too far to be cancelled; it finishes.", "job_finishes");
        audit({ action: "job.cancelled", ...actedBy(caller), subject: id });
        return present(requestCancel(row));
      }),
    /** Ends the live job of that key, whoever started it. @returns once no part of the job runs any more. */
    async end(definition: Pick<JobDefinition, "kind">, key: string): Promise<void> {
      const row = rows.live(definition.kind, key);
      if (!row) return;
      requestCancel(row);
      await runner.idle(row.id);
    },
    /** A deleted user's jobs go to the heir, or to the administrators. */
    handOver: (from: string, to: string | null) => store.write(() => rows.handOver(from, to)),
    /** Removes finished jobs that ended before that time, ms since the epoch. */
    prune: (before: number): boolean => removeOld(store, "jobs", "finished_at < ?", toTimestamp(before)),
    /** Continues the jobs that the last process left, and from now on takes jobs that are due. */
    start: runner.start,
    /** Aborts the running jobs and waits for them; the next start begins them again. */
    stop: runner.stop,
  };
}
