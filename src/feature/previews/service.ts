/** Previews: apps of steps that people can look at. Each has a row while it runs, and a way to connect to it. */
import { randomBytes } from "node:crypto";
import { toTimestamp } from "../../core/clock.ts";
import { conflict, expectFound } from "../../core/errors.ts";
import { newId } from "../../core/ids.ts";
import type { Execution } from "../../engine/execution.ts";
import type { OpenPreview, PreviewPort, StepPreview } from "../../engine/ports.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listById, type Page } from "../../http/list.ts";
import { previews as table } from "../../store/tables/previews.ts";
import type { Core } from "../feature.ts";
import { previewChanged } from "./events.ts";
import type { Preview } from "./model.ts";

interface PreviewsDeps extends Pick<Core, "store" | "clock" | "log"> {
  /** @throws Problem 404 when the caller may not read the run. */
  assertRun(runId: string, caller: Caller): void;
}

type App = Parameters<PreviewPort["open"]>[2];

/** A preview whose app runs. */
export interface LivePreview extends Pick<StepPreview, "port" | "path"> {
  id: string;
  runId: string;
  /** The first label of its address; a random name that nobody can guess. */
  name: string;
  connect: App["connect"];
  stop: App["stop"];
  /** Aborted when the preview ends. */
  signal: AbortSignal;
}

export type Previews = ReturnType<typeof createPreviews>;

export function createPreviews({ store, clock, log, assertRun }: PreviewsDeps) {
  const rows = store.rows(table);
  const live = new Map<string, LivePreview>();
  const byName = new Map<string, LivePreview>();
  const rowOf = (runId: string, id: string, caller: Caller): Preview => {
    assertRun(runId, caller);
    const row = expectFound(rows.find({ id, run_id: runId }), "preview of this run");
    return present(row);
  };
  return {
    /** Removes the rows of previews from an earlier server process: they ended with their sandboxes. */
    forgetAll: () => store.write(() => void rows.remove(["true"])),
    count: () => live.size,
    open(execution: Execution, { port, path }: StepPreview, { connect, stop }: App): OpenPreview {
      const { id: execution_id, runId: run_id, stepId: step_id, userId, projectId } = execution;
      if (run_id === undefined || step_id === undefined) throw new Error("Only steps of runs have previews.");
      const id = newId("preview");
      const refs = { run_id, user_id: userId, project_id: projectId, step_id };
      const ending = new AbortController();
      const name = randomBytes(10).toString("hex");
      const preview = { id, runId: run_id, name, port, path, connect, stop, signal: ending.signal };
      store.write(({ emit }) => {
        const created_at = toTimestamp(clock.now());
        rows.insert({ id, run_id, step_id, execution_id, port, path, created_at, kept_until: null });
        emit(previewChanged, { ...refs, data: { preview_id: id, step_id, state: "open" } });
      });
      live.set(id, preview);
      byName.set(name, preview);
      return {
        keep: (until) =>
          store.write(({ emit }) => {
            if (rows.update({ kept_until: toTimestamp(until) }, { id }) === 0) return;
            emit(previewChanged, { ...refs, data: { preview_id: id, step_id, state: "kept" } });
          }),
        close() {
          if (!live.delete(id)) return;
          byName.delete(name);
          ending.abort();
          try {
            store.write(({ emit }) => {
              // The row may be gone together with its run.
              if (rows.remove({ id }) === 0) return;
              emit(previewChanged, { ...refs, data: { preview_id: id, step_id, state: "closed" } });
            });
          } catch (err) {
            log.warn({ err, preview: id }, "the end of a preview could not be recorded");
          }
        },
      };
    },
    /** Newest first. */
    list(runId: string, page: Page, caller: Caller): ListAnswer<Preview> {
      assertRun(runId, caller);
      return listById(rows.page([{ run_id: runId }], page), page, present);
    },
    /** @throws Problem 404 when the caller may not see the preview, or it has ended. */
    find(runId: string, id: string, caller: Caller): LivePreview {
      rowOf(runId, id, caller);
      return expectFound(live.get(id), "preview of this run");
    },
    /** Ends a preview that is kept after its step. @throws Problem 404 as `find`, 409 `step_runs`. */
    end(runId: string, id: string, caller: Caller): void {
      if (rowOf(runId, id, caller).kept_until === null)
        throw conflict("The step still runs, and the app with it. Cancel the run to end it.", "step_runs");
      void live.get(id)?.stop();
    },
    byName: (name: string): LivePreview | undefined => byName.get(name),
    /** Whether this caller may look at the preview now. */
    maySee({ id, runId }: LivePreview, caller: Caller): boolean {
      try {
        rowOf(runId, id, caller);
        return live.has(id);
      } catch {
        return false;
      }
    },
  };
}

const present = ({ execution_id: _, ...shown }: typeof table.$inferSelect): Preview => shown;
