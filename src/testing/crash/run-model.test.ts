/**
 * Compares the states of runs and steps with run-model.ts, under everything that people, agents, clocks and crashes do
 * to them, in any order. A failure prints fast-check's seed and path.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { type Lives, openLives } from "./lives.ts";
import { ExpectedRun, PIPELINE, STEPS } from "./run-model.ts";

interface Expected {
  runs: Map<string, ExpectedRun>;
}
type Command = fc.AsyncCommand<Expected, Lives>;

/** Checks that the visible state of every run is what the model says. */
async function compare(expected: Expected, lives: Lives): Promise<void> {
  await lives.settle();
  const { runs } = lives;
  for (const [id, run] of expected.runs) {
    const rows = runs.rows.stepsOf(id).filter(({ superseded }) => !superseded);
    const steps = Object.fromEntries(STEPS.map((step) => [step, rows.findLast((row) => row.step_id === step)?.status]));
    expect({ status: runs.rows.run(id)!.status, steps }).toEqual({ status: run.status, steps: run.steps });
    const working = lives.sessions.live(["pipeline"]).filter(({ run_id }) => run_id === id);
    expect(working.map(({ step_id }) => String(step_id))).toEqual(run.working ? [run.working] : []);
  }
}

/** @param act does something to both the real runs and the model; the real ones first. */
const command = (name: string, act: (expected: Expected, lives: Lives) => unknown): Command => ({
  check: () => true,
  async run(expected, lives) {
    await act(expected, lives);
    await compare(expected, lives);
  },
  toString: () => name,
});

/** Does something to one of the runs, if there are any. */
const toRun = (name: string, index: number, act: (run: ExpectedRun, id: string, lives: Lives) => void): Command =>
  command(`${name}(${index})`, ({ runs }, lives) => {
    const chosen = [...runs][index % Math.max(1, runs.size)];
    if (chosen) act(chosen[1], chosen[0], lives);
  });

const create = command("create", ({ runs }, lives) => {
  const { id } = lives.runs.create({ pipeline_id: "three", task_description: "do it" }, LOCAL_ADMIN);
  runs.set(id, new ExpectedRun());
});
const crash = command("crash", async ({ runs }, lives) => {
  await lives.crash();
  // A start checks what is due.
  for (const run of runs.values()) run.tick(lives.clock.now());
});
const tick = command("tick", ({ runs }, lives) => {
  lives.tick();
  for (const run of runs.values()) run.tick(lives.clock.now());
});

const endStep = (success: boolean) => (run: ExpectedRun, id: string, lives: Lives) => {
  const step = run.working;
  if (!step) return;
  const session = lives.sessions.live(["pipeline"]).find(({ run_id }) => run_id === id)!;
  lives.answer(session.id, success ? { value: "v" } : null);
  if (success) run.succeed(step, lives.clock.now());
  else run.fail(step);
};
const answerGate = (approved: boolean) => (run: ExpectedRun, id: string, lives: Lives) => {
  const approve = () => lives.runs.approve(id, { step_id: "ok", approved }, LOCAL_ADMIN);
  if (run.steps.ok !== "waiting") return void expect(approve).toThrow();
  approve();
  if (approved) run.succeed("ok", lives.clock.now());
  else run.fail("ok");
};
const cancelRun = (run: ExpectedRun, id: string, lives: Lives) => {
  const cancel = () => lives.runs.cancel(id, LOCAL_ADMIN);
  if (run.ended) return void expect(cancel).toThrow("already");
  cancel();
  run.cancel();
};
const restartRun = (run: ExpectedRun, id: string, lives: Lives) => {
  const restart = () => lives.runs.restart(id, {}, LOCAL_ADMIN);
  if (run.status === "succeeded") return void expect(restart).toThrow("Name the step");
  if (!run.ended) return void expect(restart).toThrow("only one that has ended");
  restart();
  run.restart(lives.clock.now());
};

const index = fc.nat({ max: 3 });
const commands = fc.commands(
  [
    fc.constant(create),
    fc.constant(crash),
    fc.constant(crash),
    fc.constant(tick),
    fc
      .integer({ min: -1_800_000, max: 1_800_000 })
      .map((ms) => command(`clock(${ms})`, (_, { clock }) => clock.move(ms))),
    index.map((at) => toRun("agent succeeds", at, endStep(true))),
    index.map((at) => toRun("agent succeeds", at, endStep(true))),
    index.map((at) => toRun("agent fails", at, endStep(false))),
    index.map((at) => toRun("approved", at, answerGate(true))),
    index.map((at) => toRun("rejected", at, answerGate(false))),
    index.map((at) => toRun("cancel", at, cancelRun)),
    index.map((at) => toRun("restart", at, restartRun)),
  ],
  { maxCommands: 40, size: "max" },
);

test("whatever people, agents, clocks and crashes do in whatever order, runs and steps are as the model says", async () => {
  await fc.assert(
    fc.asyncProperty(commands, async (list) => {
      const lives = await openLives({ three: PIPELINE });
      try {
        await lives.start();
        await fc.asyncModelRun(
          () => ({ model: { runs: new Map<string, ExpectedRun>() }, real: lives }),
          [create, ...list],
        );
        const ids = lives.eventLog.read(0, 100_000).map(({ id }) => id);
        expect(ids).toEqual(ids.map((_, at) => at + 1));
      } finally {
        lives.close();
      }
    }),
    { numRuns: 30 },
  );
}, 300_000);
