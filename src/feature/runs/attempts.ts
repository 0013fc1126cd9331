/**
 * Further attempts of runs that have ended: restarts after a failure, and runs that are sent back with reviewers'
 * comments.
 */
import { conflict, invalidField } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { assertRole } from "../../core/ownership.ts";
import { isRunEnd } from "../../core/run-states.ts";
import type { PipelineDefinition } from "../../engine/pipeline/definition.ts";
import { actedBy, type Caller } from "../../http/caller.ts";
import type { Core } from "../feature.ts";
import type { Advance } from "./advance.ts";
import type { Run, RunRestart } from "./model.ts";
import type { RunLimits } from "./run-limits.ts";
import type { RunStore, StepRow } from "./store.ts";
import type { RunViews } from "./views.ts";

interface SentBack {
  guidance: string;
  from_step?: string | undefined;
  /** Why the guidance may be outside text; undefined when it is not. */
  outside?: string | undefined;
}

interface AttemptsDeps extends Pick<Core, "store" | "audit"> {
  rows: RunStore;
  views: Pick<RunViews, "rowFor">;
  advance: Advance;
  limits: RunLimits;
  /** The run as it is now. */
  presentById(id: string): Run;
}

export function createAttempts({ store, rows, views, advance, audit, limits, presentById }: AttemptsDeps) {
  return {
    restart(id: string, { from_step, human_context, budget_usd }: RunRestart, caller: Caller): Run {
      return store.write((tx) => {
        const row = views.rowFor(id, caller);
        assertRole(caller, row.project_id, "contributor");
        if (!isRunEnd(row.status))
          throw conflict(`The run is ${row.status}; only one that has ended is restarted.`, "run_not_ended");
        if (row.status === "succeeded" && from_step === undefined)
          throw conflict("The run succeeded. Name the step to go back to: from_step, or --from STEP.", "run_succeeded");
        const { definition } = row;
        const { steps } = definition;
        limits.assertBudget(budget_usd, definition, caller);
        assertStep(from_step, steps);
        limits.assertRoom(row.created_by);
        const guidance = [row.human_context, human_context].filter(Boolean).join("\n\n") || null;
        rows.updateRun(id, {
          human_context: guidance,
          restarted_from: from_step ?? firstOpen(rows.stepsOf(id), steps),
          budget_usd,
        });
        advance.restart(tx, id, from_step);
        return presentById(id);
      });
    },
    sendBack(id: string, { guidance, from_step, outside }: SentBack, caller: Caller): Run {
      return store.write((tx) => {
        const row = views.rowFor(id, caller);
        if (!isRunEnd(row.status))
          throw conflict(`The run is ${row.status}. Send it back when it has ended.`, "run_not_ended");
        const { steps } = row.definition;
        assertStep(from_step, steps);
        limits.assertRoom(row.created_by);
        // If the pipeline has no place for guidance, the guidance is added to the task.
        const place = JSON.stringify(steps).includes("human_context") ? "human_context" : "task_description";
        rows.updateRun(id, {
          [place]: addGuidance(row[place], guidance),
          restarted_from: from_step ?? steps[0]?.id ?? null,
          ...(outside === undefined || row.outside !== null ? {} : { outside }),
        });
        if (from_step === undefined) advance.again(tx, id);
        else advance.restart(tx, id, from_step);
        audit({ action: "run.sent_back", ...actedBy(caller), subject: id });
        return presentById(id);
      });
    },
  };
}

/** Id of the first step that has not succeeded. It shows where a restart continues. */
function firstOpen(all: readonly StepRow[], steps: PipelineDefinition["steps"]): string | null {
  const taken = all.filter((row) => !row.superseded && row.item_index === null);
  return steps.find((step) => taken.findLast((row) => row.step_id === step.id)?.status !== "succeeded")?.id ?? null;
}

/** @throws Problem 422. */
function assertStep(id: string | undefined, steps: PipelineDefinition["steps"]): void {
  if (id !== undefined && !steps.some((step) => step.id === id))
    throw invalidField("/from_step", "The pipeline has no such step");
}

const ATTEMPT = "--- Another attempt ---";

/**
 * Adds this attempt's guidance to the text. Guidance of earlier attempts is removed: it is settled, or repeated in this
 * one.
 */
function addGuidance(text: string | null, guidance: string): string {
  const before = (text ?? "").split(`\n\n${ATTEMPT}`)[0]!;
  const added = `\n\n${ATTEMPT}\n${guidance}`;
  // The earlier text is shortened, not the guidance: outside text in the guidance must keep the mark that ends it.
  return before.slice(0, Math.max(0, LIMITS.textCharacters - added.length)) + added;
}
