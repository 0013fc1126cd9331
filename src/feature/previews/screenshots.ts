/** Pictures of apps, kept with their runs. */
import { toTimestamp } from "../../core/clock.ts";
import { expectFound } from "../../core/errors.ts";
import { executionRefs } from "../../core/events.ts";
import { newId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { PreviewPort } from "../../engine/ports.ts";
import type { Caller } from "../../http/caller.ts";
import { type ListAnswer, listAnswer, type Page } from "../../http/list.ts";
import { screenshots as table } from "../../store/tables/previews.ts";
import { activity } from "../events/events.ts";
import type { Core } from "../feature.ts";
import { screenshotsMade } from "./events.ts";
import type { Screenshot } from "./model.ts";

interface ScreenshotsDeps extends Pick<Core, "store" | "clock"> {
  /** @throws Problem 404 when the caller may not read the run. */
  assertRun(runId: string, caller: Caller): void;
}

export type Screenshots = ReturnType<typeof createScreenshots>;

export function createScreenshots({ store, clock, assertRun }: ScreenshotsDeps) {
  const rows = store.rows(table);
  // The list leaves out the pictures themselves.
  const page = store.statement<Screenshot>(
    `SELECT id, run_id, step_id, path, width, height, size_bytes, created_at FROM screenshots
     WHERE run_id = @run AND (@after IS NULL OR id < @after) ORDER BY id DESC LIMIT @limit`,
  );
  const keep: PreviewPort["keepScreenshots"] = (execution, made, missing) =>
    store.write(({ emit }) => {
      const { id: execution_id, runId: run_id, stepId: step_id } = execution;
      if (run_id === undefined || step_id === undefined) return;
      const refs = executionRefs(execution);
      const room = Math.max(0, LIMITS.screenshotsPerRun - rows.count({ run_id }));
      const created_at = toTimestamp(clock.now());
      for (const { path, png, width, height } of made.slice(0, room)) {
        const size = { width, height, size_bytes: png.length };
        rows.insert({
          id: newId("screenshot"),
          run_id,
          step_id,
          execution_id,
          path,
          ...size,
          created_at,
          png: Buffer.from(png),
        });
      }
      const full = made.length > room ? `A run keeps at most ${LIMITS.screenshotsPerRun} screenshots.` : undefined;
      const why = missing ?? full;
      if (why !== undefined) emit(activity, { ...refs, data: { title: why } });
      const count = Math.min(made.length, room);
      if (count > 0) emit(screenshotsMade, { ...refs, data: { step_id, count } });
    });
  return {
    keep,
    /** Newest first. */
    list(runId: string, { after, limit }: Page, caller: Caller): ListAnswer<Screenshot> {
      assertRun(runId, caller);
      const found = page.all({ run: runId, after, limit: limit + 1 });
      return listAnswer(found, { after, limit }, ({ id }) => id);
    },
    /** @throws Problem 404 as `list`, and for a screenshot of another run. */
    bytes(runId: string, id: string, caller: Caller): Uint8Array {
      assertRun(runId, caller);
      const row = expectFound(rows.find({ id, run_id: runId }), "screenshot of this run");
      return row.png;
    },
  };
}
