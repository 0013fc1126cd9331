/**
 * Random pipelines whose steps end at random: what must hold for every run. fast-check prints the seed of a failure.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { isRunEnd, isStepActive, isStepEnd } from "../../core/run-states.ts";
import { nameOf, PipelineRun } from "../../testing/pipeline-run.ts";
import type { Decision } from "./decisions.ts";
import type { PipelineDefinition, PipelineStep } from "./definition.ts";
import { findCycle, forwardNeeds, pipelineGraph } from "./graph.ts";
import { parsePipeline } from "./parse.ts";
import { plan } from "./plan.ts";

const VERDICTS = ["x", "y", "z"];
const id = (position: number) => `s${position}`;

const stepArbitrary = (position: number, size: number): fc.Arbitrary<PipelineStep> => {
  const anyStep = fc.nat(size - 1).map(id);
  const goto = fc.record({ goto: anyStep, max_visits: fc.integer({ min: 1, max: 3 }) });
  const route = fc.record({
    on: fc.constant("verdict"),
    to: fc.dictionary(fc.constantFrom(...VERDICTS), anyStep, { minKeys: 1 }),
    max_visits: fc.integer({ min: 1, max: 3 }),
  });
  const earlier =
    position === 0 ? fc.constant<string[]>([]) : fc.uniqueArray(fc.nat(position - 1).map(id), { maxLength: 3 });
  const common = {
    id: fc.constant(id(position)),
    needs: fc.option(earlier, { nil: undefined }),
    when: fc.option(
      fc.constantFrom("true", "false", "steps.s0.status == 'succeeded'", "steps.s0.outputs.verdict == 'x'"),
      { nil: undefined, freq: 3 },
    ),
  };
  const work = {
    agent: fc.constant("a"),
    input: fc.constant("{{ task_description }}"),
    output_schema: fc.constant({ type: "object" }),
    max_attempts: fc.integer({ min: 1, max: 3 }),
    on_failure: fc.oneof(fc.constantFrom("fail" as const, "retry" as const, "continue" as const), goto),
  };
  const optionalRoute = fc.option(route, { nil: undefined });
  const arbitrary = fc.oneof(
    { weight: 4, arbitrary: fc.record({ ...common, ...work, route: optionalRoute }) },
    {
      weight: 1,
      arbitrary: fc.record({
        ...common,
        ...work,
        for_each: fc.array(fc.nat(), { maxLength: 4 }),
        max_parallel: fc.integer({ min: 1, max: 3 }),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        ...common,
        approval: fc.record({
          message: fc.constant("ok?"),
          timeout_seconds: fc.option(fc.constant(60), { nil: undefined }),
        }),
        on_failure: fc.oneof(fc.constantFrom("fail" as const, "continue" as const), goto),
      }),
    },
  );
  return arbitrary as fc.Arbitrary<PipelineStep>;
};

const pipelineArbitrary: fc.Arbitrary<PipelineDefinition> = fc
  .integer({ min: 1, max: 8 })
  .chain((size) => fc.tuple(...Array.from({ length: size }, (_, position) => stepArbitrary(position, size))))
  .map((steps) => JSON.parse(JSON.stringify({ id: "p", name: "P", steps })) as PipelineDefinition)
  .filter(({ steps }) => findCycle(forwardNeeds(steps)) === null);

/** Every step that was started had all its needs settled. */
function expectNeedsMet(run: PipelineRun, decisions: readonly Decision[]): void {
  const graph = pipelineGraph(run.definition);
  for (const decision of decisions) {
    if (!["queue_step", "open_step", "ask_approval", "skip_step"].includes(decision.kind)) continue;
    const { step_id, index, attempt } = decision as Extract<Decision, { kind: "queue_step" }>;
    const row = run.rows.find(
      (other) => other.step_id === step_id && other.index === index && other.attempt === attempt,
    );
    if (row?.status === "cancelled" || row?.superseded) continue;
    for (const need of graph.needs(step_id)) {
      const above = run.row(need);
      expect({ step_id, need, ended: isStepEnd(above.status) }).toEqual({ step_id, need, ended: true });
    }
  }
}

function expectBounds(run: PipelineRun): void {
  for (const step of run.definition.steps) {
    const rows = run.rows.filter(({ step_id, superseded }) => step_id === step.id && !superseded);
    const items = rows.filter(({ index, status }) => index !== null && isStepActive(status));
    if ("for_each" in step) expect(items.length).toBeLessThanOrEqual(step.max_parallel ?? 4);
    for (const row of rows) expect(row.attempt).toBeLessThanOrEqual(row.max_attempts);
    const live = rows.filter(({ index, status }) => index === null && !isStepEnd(status));
    expect(live.length).toBeLessThanOrEqual(1);
  }
}

function act(run: PipelineRun, dice: () => number): void {
  const leaves = run.leaves;
  const row = leaves[Math.floor(dice() * leaves.length)]!;
  const name = nameOf(row);
  if (row.status === "waiting") {
    if (dice() < 0.2) {
      run.now += 61_000;
      run.next();
      if (run.row(name).status !== "waiting") return;
    }
    run.answer(name, dice() < 0.7);
  } else if (dice() < 0.7) run.succeed(name, { verdict: VERDICTS[Math.floor(dice() * 4)] ?? null });
  else run.fail(name, { code: "agent_failed", message: "no", ...(dice() < 0.1 ? { final: true } : {}) });
}

/** A small random number generator in [0, 1), so that one seed determines the whole run. */
function createDice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

test("every run of every pipeline ends, begins nothing too early, keeps its bounds, and stays ended", () => {
  let ends = 0;
  const reached = new Set<string>();
  fc.assert(
    fc.property(pipelineArbitrary, fc.nat(), (definition, seed) => {
      const dice = createDice(seed);
      const run = new PipelineRun(definition);
      let seen = 0;
      let restarts = 0;
      for (let turn = 0; ; turn++) {
        expect(turn).toBeLessThan(5_000);
        expectNeedsMet(run, run.log.slice(seen));
        seen = run.log.length;
        expectBounds(run);
        if (isRunEnd(run.run.status)) {
          expect(run.leaves).toEqual([]);
          expect(plan(run.definition, run.run, run.rows, run.now)).toEqual([]);
          expect(run.run.error?.code).not.toBe("pipeline_stuck");
          reached.add(`${run.run.status} ${run.run.error?.code ?? ""}`);
          if (restarts++ >= 2 || (run.run.status === "succeeded" && dice() < 0.5)) break;
          run.restart(run.run.status === "succeeded" || dice() < 0.3 ? definition.steps[0]?.id : undefined);
        } else if (dice() < 0.01) run.stop();
        else act(run, dice);
      }
      ends++;
    }),
    { numRuns: 600 },
  );
  expect(ends).toBe(600);
  for (const end of ["succeeded ", "failed agent_failed", "failed max_visits", "failed rejected", "cancelled "])
    expect([...reached]).toContain(end);
}, 300_000);

test("the generated pipelines are those that the parser allows", () => {
  let valid = 0;
  fc.assert(
    fc.property(pipelineArbitrary, (definition) => {
      const { problems } = parsePipeline(JSON.stringify(definition));
      expect(problems.filter(({ message }) => !/cannot have run before|does not declare/.test(message))).toEqual([]);
      if (problems.length === 0) valid++;
    }),
    { numRuns: 150 },
  );
  expect(valid).toBeGreaterThan(50);
}, 300_000);
