/** Makes the spans of runs and of attempts of their steps from their rows. */
import type { EventOf } from "../../core/events.ts";
import { toUsd } from "../../core/money.ts";
import type { Store } from "../../store/store.ts";
import type { stepComplete, stepFailed } from "../runs/events.ts";
import { type Places, SPAN } from "./places.ts";
import { type Attributes, codeOf, type Placed, toBigInt } from "./span.ts";

interface RunRow {
  id: string;
  pipeline_id: string;
  project_id: string | null;
  status: string;
  error: string | null;
  tokens: number;
  cost_nano: number;
  created_at: string;
  finished_at: string | null;
}
interface StepRow {
  id: string;
  agent_id: string | null;
  status: string;
  error: string | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export function createRunSpans(store: Pick<Store, "statement">, places: Pick<Places, "ofRun" | "inRun">) {
  function ofRun(id: string, at: string): Placed {
    const run = store
      .statement<RunRow>(
        `SELECT id, pipeline_id, project_id, status, error, tokens, cost_nano, created_at, finished_at
        FROM runs WHERE id = ?`,
      )
      .get([id]);
    if (!run) return undefined;
    const attributes: Attributes = {
      "gen_ai.operation.name": "invoke_workflow",
      "gen_ai.workflow.name": run.pipeline_id,
      "skep.run.id": run.id,
      "skep.run.status": run.status,
      "skep.project.id": run.project_id ?? undefined,
      "skep.usage.tokens": toBigInt(run.tokens),
      "skep.usage.cost_usd": toUsd(run.cost_nano),
    };
    return {
      place: places.ofRun(id),
      draft: {
        spanId: SPAN.run(id),
        name: `invoke_workflow ${run.pipeline_id}`,
        kind: "internal",
        attributes,
        start: Date.parse(run.created_at),
        end: Date.parse(run.finished_at ?? at),
        error: codeOf(run.error, run.status),
      },
    };
  }

  function ofStep(event: EventOf<typeof stepComplete | typeof stepFailed>): Placed {
    const { run_id = "", step_id = "", data } = event;
    const step = store
      .statement<StepRow>(
        `SELECT id, agent_id, status, error, created_at, started_at, finished_at FROM steps
        WHERE run_id = ? AND step_id = ? AND attempt = ? AND item_index IS ? ORDER BY position DESC LIMIT 1`,
      )
      .get([run_id, step_id, data.attempt, data.index ?? null]);
    if (!step) return undefined;
    const attributes: Attributes = {
      "skep.run.id": run_id,
      "skep.step.name": step_id,
      "skep.step.status": step.status,
      "skep.step.attempt": toBigInt(data.attempt),
      "skep.step.index": data.index === undefined ? undefined : toBigInt(data.index),
    };
    return {
      place: places.inRun(run_id, SPAN.run(run_id)),
      draft: {
        spanId: SPAN.step(step.id),
        name: `step ${step_id}`,
        kind: "internal",
        attributes,
        start: Date.parse(step.started_at ?? step.created_at),
        end: Date.parse(step.finished_at ?? event.at),
        error: codeOf(step.error, step.status),
      },
    };
  }
  return { ofRun, ofStep };
}
