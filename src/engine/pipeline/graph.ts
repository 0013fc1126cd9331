/**
 * The order between the steps of a pipeline: who waits for whom, and where `route` and `goto` lead. Backward is a target
 * that the step itself depends on (or is); every other target is forward and waits for the step, as if it needed it.
 */
import { gotoOf, type PipelineDefinition, type PipelineStep, routeOf } from "./definition.ts";

export type PipelineGraph = ReturnType<typeof pipelineGraph>;

/** What the file says: `needs`, or the step above. */
export function declaredNeeds(steps: readonly PipelineStep[]): Map<string, Set<string>> {
  return new Map(
    steps.map((step, position) => {
      const above = steps[position - 1];
      return [step.id, new Set(step.needs ?? (above ? [above.id] : []))];
    }),
  );
}

/** Where the step may send the run, each target once. */
function jumpTargets(step: PipelineStep): string[] {
  const failure = gotoOf(step);
  return [...new Set([...Object.values(routeOf(step)?.to ?? {}), ...(failure ? [failure.goto] : [])])];
}

/** Everything reachable from each node, itself left out unless it is on a cycle. O(nodes × edges). */
function reachable(edges: ReadonlyMap<string, ReadonlySet<string>>): Map<string, Set<string>> {
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

/** The graph of a definition. Unknown targets are left out; `findCycle` must have found none. */
export function pipelineGraph(definition: PipelineDefinition) {
  const { steps } = definition;
  const byId = new Map(steps.map((step) => [step.id, step]));
  const needs = forwardNeeds(steps);
  const upstream = reachable(needs);
  const downstream = new Map<string, Set<string>>(steps.map((step) => [step.id, new Set<string>()]));
  for (const [id, above] of upstream) for (const other of above) downstream.get(other)?.add(id);
  const none: ReadonlySet<string> = new Set();
  /** Jumps from the step back to itself or to something upstream. */
  const isBack = (from: string, to: string) => from === to || (upstream.get(from)?.has(to) ?? false);
  return {
    /** In the order of the file. */
    steps,
    step: (id: string): PipelineStep | undefined => byId.get(id),
    /** The steps it waits for: its `needs` (or the step above) and those that may send the run forward to it. */
    needs: (id: string): ReadonlySet<string> => needs.get(id) ?? none,
    /** Everything it waits for, directly or not; never itself. */
    upstream: (id: string): ReadonlySet<string> => upstream.get(id) ?? none,
    /** Everything that waits for it, directly or not; never itself. */
    downstream: (id: string): ReadonlySet<string> => downstream.get(id) ?? none,
    isBack,
    /** Every backward jump that the file allows. */
    backJumps: steps.flatMap((step) =>
      jumpTargets(step)
        .filter((to) => isBack(step.id, to))
        .map((to) => ({ from: step.id, to })),
    ),
    /** The steps that may send the run forward. */
    forwardJumpers: steps.filter((step) => jumpTargets(step).some((to) => !isBack(step.id, to))),
  };
}

/** Declared needs, and for each forward jump a need of its target on the step that jumps. */
export function forwardNeeds(steps: readonly PipelineStep[]): Map<string, Set<string>> {
  const declared = declaredNeeds(steps);
  const known = new Set(steps.map(({ id }) => id));
  for (const set of declared.values()) for (const id of set) if (!known.has(id)) set.delete(id);
  const above = reachable(declared);
  const all = new Map([...declared].map(([id, set]) => [id, new Set(set)]));
  for (const step of steps)
    for (const target of jumpTargets(step))
      if (target !== step.id && !above.get(step.id)?.has(target)) all.get(target)?.add(step.id);
  return all;
}

/** One cycle of the graph as a list of steps, the first repeated at the end; null when there is none. */
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
