/**
 * The order between the steps of a pipeline: which steps wait for which, and where `route` and `goto` lead. A jump is
 * backward when its target is the step itself or a step that it depends on. Every other jump is forward, and its target
 * waits for the step as if it needed it.
 */
import { gotoOf, type PipelineDefinition, type PipelineStep, routeOf } from "./definition.ts";

export type PipelineGraph = ReturnType<typeof pipelineGraph>;

/** The order that the file states: `needs`, or else the step above. */
export function declaredNeeds(steps: readonly PipelineStep[]): Map<string, Set<string>> {
  return new Map(
    steps.map((step, position) => {
      const above = steps[position - 1];
      return [step.id, new Set(step.needs ?? (above ? [above.id] : []))];
    }),
  );
}

/** The steps to which this step may send the run, each once. */
function jumpTargets(step: PipelineStep): string[] {
  const failure = gotoOf(step);
  return [...new Set([...Object.values(routeOf(step)?.to ?? {}), ...(failure ? [failure.goto] : [])])];
}

/** The nodes reachable from each node. A node is only in its own set when it is on a cycle. O(nodes × edges). */
function findReachable(edges: ReadonlyMap<string, ReadonlySet<string>>): Map<string, Set<string>> {
  const result = new Map<string, Set<string>>();
  for (const start of edges.keys()) {
    const seen = new Set<string>();
    const open = [...(edges.get(start) ?? [])];
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (seen.has(id)) continue;
      seen.add(id);
      open.push(...(edges.get(id) ?? []));
    }
    result.set(start, seen);
  }
  return result;
}

/** The graph of a definition, without unknown targets. Call it only when `findCycle` has found no cycle. */
export function pipelineGraph(definition: PipelineDefinition) {
  const { steps } = definition;
  const byId = new Map(steps.map((step) => [step.id, step]));
  const needs = forwardNeeds(steps);
  const upstream = findReachable(needs);
  const downstream = new Map<string, Set<string>>(steps.map((step) => [step.id, new Set<string>()]));
  for (const [id, above] of upstream) for (const other of above) downstream.get(other)?.add(id);
  const none: ReadonlySet<string> = new Set();
  /** Whether a jump goes back: to the step itself or to a step upstream of it. */
  const isBack = (from: string, to: string) => from === to || (upstream.get(from)?.has(to) ?? false);
  return {
    /** Steps in the order of the file. */
    steps,
    step: (id: string): PipelineStep | undefined => byId.get(id),
    /** The steps it waits for: its `needs` (or the step above), and the steps that may send the run forward to it. */
    needs: (id: string): ReadonlySet<string> => needs.get(id) ?? none,
    /** All steps that it waits for, directly or not; never itself. */
    upstream: (id: string): ReadonlySet<string> => upstream.get(id) ?? none,
    /** All steps that wait for it, directly or not; never itself. */
    downstream: (id: string): ReadonlySet<string> => downstream.get(id) ?? none,
    isBack,
    /** Every backward jump that the file allows. */
    backJumps: steps.flatMap((step) =>
      jumpTargets(step)
        .filter((to) => isBack(step.id, to))
        .map((to) => ({ from: step.id, to })),
    ),
    /** Steps that may send the run forward. */
    forwardJumpers: steps.filter((step) => jumpTargets(step).some((to) => !isBack(step.id, to))),
  };
}

/** The declared needs, plus the needs that forward jumps imply: a jump's target needs the step that jumps. */
export function forwardNeeds(steps: readonly PipelineStep[]): Map<string, Set<string>> {
  const declared = declaredNeeds(steps);
  const known = new Set(steps.map(({ id }) => id));
  for (const set of declared.values()) for (const id of set) if (!known.has(id)) set.delete(id);
  const above = findReachable(declared);
  const all = new Map([...declared].map(([id, set]) => [id, new Set(set)]));
  for (const step of steps)
    for (const target of jumpTargets(step))
      if (target !== step.id && !above.get(step.id)?.has(target)) all.get(target)?.add(step.id);
  return all;
}

/**
 * Finds one cycle of the graph, as a list of steps that begins and ends with the same one; null when there is none.
 */
export function findCycle(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const state = new Map<string, "open" | "done">();
  for (const root of edges.keys()) {
    const trail: { id: string; rest: string[] }[] = [];
    const enter = (id: string) => {
      state.set(id, "open");
      trail.push({ id, rest: [...(edges.get(id) ?? [])] });
    };
    if (!state.has(root)) enter(root);
    for (let top = trail.at(-1); top; top = trail.at(-1)) {
      const next = top.rest.shift();
      if (next === undefined) {
        state.set(top.id, "done");
        trail.pop();
      } else if (state.get(next) === "open") {
        const ids = trail.map(({ id }) => id);
        return [...ids.slice(ids.indexOf(next)), next];
      } else if (!state.has(next) && edges.has(next)) enter(next);
    }
  }
  return null;
}
