/**
 * Takes queued jobs, as many at a time as their kinds allow, and runs them to their end. The rows hold what is to be
 * done; this holds only the jobs that run in this process.
 */
import { Value } from "@sinclair/typebox/value";
import { failuresOf } from "../../core/act-on-each.ts";
import type { JobDefinition } from "../../core/jobs.ts";
import type { Core } from "../feature.ts";
import { createOutcomes, INTERRUPTED, type OutcomesDeps } from "./outcomes.ts";
import { createReports, type Reports } from "./reports.ts";
import type { JobRow } from "./store.ts";

interface RunnerDeps extends Omit<OutcomesDeps, "definitionOf" | "latestOf">, Pick<Core, "clockwork" | "standby"> {}

interface Active {
  kind: string;
  exclusive: string | null;
  abort: AbortController;
  reports: Reports;
  done: Promise<void>;
}

const WRITE_AGAIN_MS = 1_000;

export function createRunner(deps: RunnerDeps) {
  const { store, rows, clockwork, log, standby, masker } = deps;
  const definitions = new Map<string, JobDefinition>();
  const active = new Map<string, Active>();
  let state: "waiting" | "running" | "stopped" = "waiting";
  let waking = false;
  const definitionOf = (kind: string) => definitions.get(kind);
  const latestOf = (id: string) => active.get(id)?.reports.latest;
  const outcomes = createOutcomes({ ...deps, definitionOf, latestOf });
  const { change, end, putBack, settle } = outcomes;

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
    await writeEnd(row, left);
  }
  /**
   * Writes a job's end, and tries again until that succeeds. Otherwise a disk that is full at that moment would leave
   * the job running in its row for good.
   */
  async function writeEnd(row: JobRow, write: () => void): Promise<void> {
    while (true) {
      try {
        return write();
      } catch (error) {
        log.error({ err: error, job: row.id }, "the end of a job could not be written; trying again");
        if (state === "stopped") return;
        await new Promise((resolve) => setTimeout(resolve, WRITE_AGAIN_MS).unref());
      }
    }
  }

  function begin(row: JobRow, definition: JobDefinition): void {
    const reports = createReports(masker, (latest) => outcomes.report(row, latest));
    const entry: Active = {
      kind: row.kind,
      exclusive: row.exclusive,
      abort: new AbortController(),
      reports,
      done: Promise.resolve(),
    };
    active.set(row.id, entry);
    // Starts in a microtask: the first steps of `run` may be slow, and they must not delay the taking of other jobs.
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
    register(definition: JobDefinition): void {
      if (definitions.has(definition.kind)) throw new Error(`two features define jobs of the kind ${definition.kind}`);
      definitions.set(definition.kind, definition);
    },
    definitionOf,
    /**
     * Takes the jobs that are due and schedules the next look. Call it after the commit of any change to what is due.
     */
    look,
    change,
    end,
    toCurrent: outcomes.toCurrent,
    /** Aborts the job if it runs in this process. */
    abort: (id: string): void => active.get(id)?.abort.abort("It was cancelled."),
    /** Resolves once the job does not run in this process. */
    idle: async (id: string): Promise<void> => active.get(id)?.done,
    /** Queues jobs again that an earlier process left running, then begins to take jobs. */
    start(): void {
      state = "running";
      const failed = store.write(() =>
        failuresOf(rows.listUnfinished(), (row) =>
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
    /** Aborts all running jobs and waits for them; they go back to the queue. */
    async stop(): Promise<void> {
      state = "stopped";
      for (const { abort } of active.values()) abort.abort("The server was stopped.");
      await Promise.all([...active.values()].map(({ done }) => done));
    },
  };
}
