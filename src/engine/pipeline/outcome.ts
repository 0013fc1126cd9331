/** What a step's state means for the run, by the step's own rules. */

import { isStepEnd } from "../../core/run-states.ts";
import { DEFAULT_MAX_VISITS, gotoOf, isCommand, isForEach, type PipelineStep, routeOf } from "./definition.ts";
import type { PipelineGraph } from "./graph.ts";
import type { RunError, StepRow } from "./rows.ts";
import type { RunState } from "./run-state.ts";

export type Outcome =
  /** The step has not ended. */
  | { kind: "open" }
  /** Steps that wait for it may begin. `to`: the step to which it sent the run forward. */
  | { kind: "settled"; to?: string }
  | { kind: "retry" }
  | { kind: "back"; to: string }
  | { kind: "fail"; error: RunError };

type EndedRow = Pick<StepRow, "status" | "outputs" | "error">;
interface Jump {
  to: string;
  maxVisits: number;
}

/** Where the ended attempt sends the run by `route` or `goto`; null when nowhere. */
export function jumpOf(step: PipelineStep, row: EndedRow): Jump | null {
  if (row.status === "succeeded") return routedBy(step, row);
  // A failed command still gives its exit code and output, so a route that lists them takes precedence over
  // `on_failure`.
  const routed = isCommand(step) && row.status === "failed" ? routedBy(step, row) : null;
  if (routed) return routed;
  if ((row.status !== "failed" && row.status !== "cancelled") || row.error?.final) return null;
  const rule = gotoOf(step);
  return rule && { to: rule.goto, maxVisits: rule.max_visits ?? DEFAULT_MAX_VISITS };
}

function routedBy(step: PipelineStep, { outputs }: EndedRow): Jump | null {
  const route = routeOf(step);
  const verdict = route && Object.hasOwn(outputs, route.on) ? outputs[route.on] : undefined;
  if (!route || !["string", "number", "boolean"].includes(typeof verdict)) return null;
  const to = Object.hasOwn(route.to, String(verdict)) ? route.to[String(verdict)] : undefined;
  return to === undefined ? null : { to, maxVisits: route.max_visits ?? DEFAULT_MAX_VISITS };
}

/** The outcome of the step in its current state. */
export function outcomeOf(step: PipelineStep, state: RunState, graph: PipelineGraph): Outcome {
  const row = state.latest(step.id);
  if (!row || !isStepEnd(row.status)) return { kind: "open" };
  const jump = jumpOf(step, row);
  if (jump && !graph.isBack(step.id, jump.to)) return { kind: "settled", to: jump.to };
  if (jump) return goingBack(step, jump, state);
  if (row.status === "succeeded" || row.status === "skipped") return { kind: "settled" };
  if (!row.error?.final && step.on_failure === "continue") return { kind: "settled" };
  if (mayRetry(step, row) && !isForEach(step)) return { kind: "retry" };
  const { code, message } = row.error ?? { code: "step_cancelled", message: "The step was stopped." };
  return { kind: "fail", error: { code, message, step_id: step.id } };
}

/** Whether another attempt of the same visit is allowed. */
export const mayRetry = (step: PipelineStep, row: StepRow): boolean =>
  row.status === "failed" && step.on_failure === "retry" && row.attempt < row.max_attempts && !row.error?.final;

function goingBack(step: PipelineStep, { to, maxVisits }: Jump, state: RunState): Outcome {
  const visits = state.latest(to)?.visit ?? 0;
  if (visits < maxVisits) return { kind: "back", to };
  const message = `"${step.id}" sends the run back to "${to}", which was visited ${visits} times, as often as allowed.`;
  return { kind: "fail", error: { code: "max_visits", message, step_id: step.id } };
}

/**
 * Whether the run was sent past the step: a step that it waits for sent the run forward to one that neither is this
 * step nor leads to it. It was not sent past it when a step parallel to that one sent the run this way, or when the run
 * later went back this way.
 */
export function isRoutedPast(id: string, state: RunState, graph: PipelineGraph): boolean {
  const leadsHere = (to: string) => to === id || graph.downstream(to).has(id);
  const choices = graph.forwardJumpers.flatMap((step) => {
    const outcome = outcomeOf(step, state, graph);
    return outcome.kind === "settled" && outcome.to !== undefined ? [{ from: step.id, to: outcome.to }] : [];
  });
  const past = choices.filter(({ from, to }) => graph.downstream(from).has(id) && !leadsHere(to));
  return past.some(
    ({ from, to }) =>
      !choices.some((other) => leadsHere(other.to) && !graph.upstream(from).has(other.from)) &&
      !wentBackThisWay({ from, to }, leadsHere, state, graph),
  );
}

/** Whether the run, after the choice, jumped back into what the choice had left out, on the way to the step. */
function wentBackThisWay(
  choice: { from: string; to: string },
  leadsHere: (to: string) => boolean,
  state: RunState,
  graph: PipelineGraph,
): boolean {
  const chosenAt = state.position(state.latest(choice.from)!);
  const leftOut = (id: string) =>
    graph.downstream(choice.from).has(id) && id !== choice.to && !graph.downstream(choice.to).has(id);
  return graph.backJumps.some(({ from, to }) => {
    if (!leadsHere(to) || !leftOut(to)) return false;
    const step = graph.step(from)!;
    return state
      .history(from)
      .slice(0, -1)
      .some((row) => !row.superseded && state.position(row) > chosenAt && jumpOf(step, row)?.to === to);
  });
}
