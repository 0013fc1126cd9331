/** Runs every shipped pipeline to its end on the engine, with agents whose answers the test provides. */
import { afterEach, describe, expect, test } from "bun:test";
import { LOCAL_ADMIN } from "../../http/caller.ts";
import { SHIPPED_FILES } from "../../store/shipped-files.ts";
import { type Answer, type Asked, createAnsweringModel } from "../../testing/answering-model.ts";
import { createRigs, type Rig } from "../../testing/engine-rig.ts";

/** For every file whose path matches: `<name>` → its text. */
const readShipped = (path: RegExp): Record<string, string> =>
  Object.fromEntries(
    Object.entries(SHIPPED_FILES).flatMap(([file, text]) => {
      const [, name] = path.exec(file) ?? [];
      return name ? [[name, text]] : [];
    }),
  );
const PIPELINES = readShipped(/^_pipelines\/(.+)\.yml$/);
const AGENTS = readShipped(/^([a-z]+)\/AGENT\.md$/);

const rigs = createRigs();
afterEach(rigs.close);

/** Outputs by step: always the same, one after another (the last one for all later attempts), or from a function. */
type Answers = Record<string, Record<string, unknown> | Answer[] | ((asked: Asked) => Answer)>;

async function startRig(answers: Answers, env: Record<string, string> = {}) {
  const { port, asked } = createAnsweringModel((one) => {
    const given = answers[one.stepId];
    if (given === undefined) throw new Error(`No answer for ${one.stepId}.`);
    if (typeof given === "function") return given(one);
    if (!Array.isArray(given)) return { outputs: given };
    return given[Math.min(one.time, given.length) - 1]!;
  });
  const rig = await rigs.startRig({ pipelines: PIPELINES, agents: AGENTS, models: port, env });
  return {
    rig,
    asked,
    inputs: (step: string) => asked.filter(({ stepId }) => stepId === step).map((one) => one.input),
  };
}
const out = (...outputs: Record<string, unknown>[]): Answer[] => outputs.map((one) => ({ outputs: one }));
/** The ends of all attempts, in order of creation, for the parent of a `for_each` and for its items. */
const ends = (rig: Rig, run: { id: string }) =>
  rig.steps(run.id).map(({ step_id, item_index, status }) => `${step_id}${item_index ?? ""} ${status}`);
const endsOf = (rig: Rig, run: { id: string }, ...steps: string[]) =>
  ends(rig, run).filter((end) => steps.some((step) => end.startsWith(`${step} `)));

describe("hello", () => {
  test("runs to its end, and again from the greeting when the check finds something", async () => {
    const { rig, inputs } = await startRig({
      look: { summary: "A shop." },
      greet: { file: "HELLO.md" },
      check: out({ verdict: "changes", feedback: "It is no shop." }, { verdict: "approved", feedback: "" }),
    });
    const run = rig.create("hello", "Greet me");
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded", error: null });
    expect(endsOf(rig, run, "greet", "check")).toHaveLength(4);
    expect(inputs("greet")[0]).not.toContain("no shop");
    expect(inputs("greet")[1]).toContain("It is no shop.");
  });
});

const TASKS = [
  { title: "First", description: "a.ts", done_when: "a" },
  { title: "Second", description: "b.ts", done_when: "b" },
];
const FINDING = { where: "a.ts:1", problem: "The total is negative.", severity: "high" };
const FEATURE: Answers = {
  plan: { goal: "A goal", acceptance: ["It answers"], assumptions: ["Assumed: small"] },
  design: out({ design: "Design one", tasks: TASKS }, { design: "Design two", tasks: TASKS }),
  implement: { changed_files: ["a.ts"], checked: "12 pass" },
  repair: { changed_files: ["a.ts"], answers: ["clamped"] },
  review: out(
    { verdict: "changes", findings: [FINDING], evidence: "tried" },
    { verdict: "approved", findings: [], evidence: "tried again" },
  ),
  document: { changes: "README" },
  summary: { summary: "Done." },
};
const waiting = (rig: Rig, run: { id: string }, nth = 1) => {
  let seen = 0;
  return rig.event(({ kind, run_id }) => kind === "approval_requested" && run_id === run.id && ++seen === nth);
};
const answer = (rig: Rig, run: { id: string }, approved: boolean, comment = "") =>
  rig.services.runs.approve(run.id, { step_id: "agree", approved, comment }, LOCAL_ADMIN);

describe("feature", () => {
  test("a refused design is made again with the comment; a rejected change is repaired, reviewed again and accepted", async () => {
    const { rig, asked, inputs } = await startRig(FEATURE);
    const run = rig.create("feature", "Discounts");
    await waiting(rig, run);
    expect(asked.map(({ stepId }) => stepId)).toEqual(["plan", "design"]);
    answer(rig, run, false, "Without a new table.");
    await waiting(rig, run, 2);
    expect(inputs("design")[1]).toContain("Without a new table.");
    answer(rig, run, true);
    expect(await rig.waitForEnd(run.id)).toMatchObject({
      status: "succeeded",
      error: null,
      outputs: { summary: { summary: "Done." } },
    });
    expect(asked.map(({ stepId, agentId }) => `${stepId} by ${agentId}`).slice(3)).toEqual([
      "implement by engineer",
      "implement by engineer",
      "review by reviewer",
      "repair by engineer",
      "review by reviewer",
      "document by scribe",
      "summary by lead",
    ]);
    expect(inputs("implement").map((text) => /Task: (\w+)/.exec(text)?.[1])).toEqual(["First", "Second"]);
    expect(inputs("implement")[0]).toContain("Design two");
    expect(endsOf(rig, run, "repair")).toEqual(["repair skipped", "repair succeeded"]);
    expect(inputs("repair")[0]).toContain("The total is negative.");
    expect(inputs("review")[1]).toContain("clamped");
    expect(inputs("summary")[0]).toContain("Verdict of the reviewer: approved, in round 2");
  });

  test("the comment of an approval is in the prompt of every later step, once, and a later answer replaces it", async () => {
    const { rig, asked, inputs } = await startRig(FEATURE);
    const run = rig.create("feature", "Discounts");
    await waiting(rig, run);
    answer(rig, run, false, "Without a new table.");
    await waiting(rig, run, 2);
    expect(inputs("design")[1]?.split("Without a new table.")).toHaveLength(2);
    answer(rig, run, true, "Keep the old format.");
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    const later = asked.slice(3);
    expect(later.map(({ stepId }) => stepId)).toContain("implement");
    for (const { stepId, input } of later) {
      expect([stepId, input]).toEqual([stepId, expect.stringContaining("(agreed): Keep the old format.")]);
      expect([stepId, input.includes("Without a new table.")]).toEqual([stepId, false]);
    }
    expect(inputs("plan")[0]).not.toContain("What a person wrote");
  });

  test("asks nobody when so configured, and goes through without a repair when the first review accepts", async () => {
    const { rig, asked } = await startRig({ ...FEATURE, review: { verdict: "approved", findings: [], evidence: "e" } });
    const input = { pipeline_id: "feature", task_description: "Discounts", inputs: { ask: "no" } };
    const run = rig.services.runs.create(input, LOCAL_ADMIN);
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(endsOf(rig, run, "agree", "repair")).toEqual(["agree skipped", "repair skipped"]);
    expect(asked).toHaveLength(7);
  });

  test("a review that never accepts ends the run after five repairs, with the reason", async () => {
    const { rig } = await startRig({
      ...FEATURE,
      review: { verdict: "changes", findings: [FINDING], evidence: "e" },
    });
    const input = { pipeline_id: "feature", task_description: "Discounts", inputs: { ask: "no" } };
    const run = rig.services.runs.create(input, LOCAL_ADMIN);
    expect(await rig.waitForEnd(run.id)).toMatchObject({
      status: "failed",
      error: { code: "max_visits", step_id: "review" },
    });
    expect(endsOf(rig, run, "repair").filter((end) => end.endsWith("succeeded"))).toHaveLength(5);
    expect(endsOf(rig, run, "document")).toEqual(["document cancelled"]);
  });

  test("a task that fails is tried again before the run gives up", async () => {
    const { rig, inputs } = await startRig({
      ...FEATURE,
      implement: ({ time }) => (time === 1 ? { fail: "no compiler" } : { outputs: { changed_files: [], checked: "" } }),
      review: { verdict: "approved", findings: [], evidence: "e" },
    });
    const input = { pipeline_id: "feature", task_description: "Discounts", inputs: { ask: "no" } };
    const run = rig.services.runs.create(input, LOCAL_ADMIN);
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(inputs("implement").map((text) => /Task: (\w+)/.exec(text)?.[1])).toEqual(["First", "First", "Second"]);
  });
});

const BUGFIX: Answers = {
  reproduce: { result: "reproduced", evidence: "-5", cause: "a.ts:1", test_file: "a.test.ts" },
  fix: { changed_files: ["a.ts"], explanation: "clamped" },
  test: { result: "passed", output: "12 pass" },
  review: { verdict: "approved", findings: [] },
  report: { summary: "Repaired." },
};

/** The model claims success while the command fails. */
describe("a project's check", () => {
  const CHECKED = { ALLOW_HOST_SHELL: "true" };
  const TASK = { task_description: "Discounts", project_name: "shop" };
  const CLAIMS = { ...FEATURE, review: { verdict: "approved", findings: [], evidence: "All tests pass." } };

  test("that stays red fails a feature and a bugfix whose agents all say that the tests are green", async () => {
    const { rig, asked, inputs } = await startRig({ ...CLAIMS, ...BUGFIX, review: CLAIMS.review }, CHECKED);
    rig.services.projects.create({ name: "shop", check: "echo 1 of 12 red; exit 1" }, LOCAL_ADMIN);
    const feature = rig.create("feature", "Discounts", { ...TASK, inputs: { ask: "no" } });
    const failed = { status: "failed", error: { code: "max_visits", step_id: "check" } };
    expect(await rig.waitForEnd(feature.id)).toMatchObject(failed);
    expect(asked.some(({ stepId }) => stepId === "review")).toBe(false);
    expect(inputs("repair")[0]).toContain("1 of 12 red");
    const bugfix = rig.create("bugfix", "Totals", { ...TASK });
    expect(await rig.waitForEnd(bugfix.id)).toMatchObject(failed);
    expect(inputs("fix")[1]).toContain("1 of 12 red");
  });

  test("that is green lets the run continue to its review, which is informed", async () => {
    const { rig, inputs } = await startRig(CLAIMS, CHECKED);
    rig.services.projects.create({ name: "shop", check: "true" }, LOCAL_ADMIN);
    const run = rig.create("feature", "Discounts", { ...TASK, inputs: { ask: "no" } });
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(endsOf(rig, run, "repair", "check")).toEqual(["repair skipped", "check succeeded"]);
    expect(inputs("review")[0]).toContain("by its exit code: succeeded");
  });
});

describe("bugfix", () => {
  test("goes straight through when all is well", async () => {
    const { rig, asked } = await startRig(BUGFIX);
    const run = rig.create("bugfix", "Totals are negative");
    expect(await rig.waitForEnd(run.id)).toMatchObject({
      status: "succeeded",
      outputs: { report: { summary: "Repaired." } },
    });
    expect(asked.map(({ stepId }) => stepId)).toEqual(["reproduce", "fix", "test", "review", "report"]);
  });

  test("red tests and a rejecting review each send it back to the repair, with what was seen", async () => {
    const { rig, asked, inputs } = await startRig({
      ...BUGFIX,
      test: out({ result: "failed", output: "1 of 12 red" }, { result: "passed", output: "12 pass" }),
      review: out({ verdict: "changes", findings: ["b.ts:2 the same mistake"] }, { verdict: "approved", findings: [] }),
    });
    const run = rig.create("bugfix", "Totals are negative");
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(asked.map(({ stepId }) => stepId).join(" ")).toBe(
      "reproduce fix test fix test review fix test review report",
    );
    expect(inputs("fix")[1]).toContain("1 of 12 red");
    expect(inputs("fix")[2]).toContain("b.ts:2 the same mistake");
  });

  test("a bug that cannot be reproduced is reported, and nothing is changed", async () => {
    const { rig, asked } = await startRig({
      ...BUGFIX,
      reproduce: { result: "not_reproduced", evidence: "tried 200 times" },
    });
    const run = rig.create("bugfix", "Sometimes slow");
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(asked.map(({ stepId }) => stepId)).toEqual(["reproduce", "report"]);
    expect(endsOf(rig, run, "fix", "test", "review")).toEqual(["fix skipped", "test skipped", "review skipped"]);
    expect(asked[1]?.input).toContain("tried 200 times");
  });
});

describe("research", () => {
  const PARTS = ["one", "two", "three"].map((question) => ({ question, look_at: "here" }));
  const createFinding = (claim: string) => ({
    answer: `answer ${claim}`,
    findings: [{ claim, source: "a.md:1", confidence: "high" }],
    gaps: "none",
  });
  const RESEARCH: Answers = {
    question: { question: "Which?", parts: PARTS },
    read: ({ input }) => {
      const part = /Part \d: (\w+)/.exec(input)?.[1] ?? "";
      return part === "two" ? { fail: "nothing to be found" } : { outputs: createFinding(part) };
    },
    synthesis: { answer: "This one.", file: "research.md" },
    check: out({ verdict: "unsupported", problems: ["a.md:1 says otherwise"] }, { verdict: "supported", problems: [] }),
    result: { answer: "This one.", confidence: "high" },
  };

  test("reads side by side, survives a reader that finds nothing, and writes again what its sources do not say", async () => {
    const { rig, asked, inputs } = await startRig(RESEARCH);
    const run = rig.create("research", "Which one?");
    expect(await rig.waitForEnd(run.id)).toMatchObject({
      status: "succeeded",
      outputs: { result: { answer: "This one.", confidence: "high" } },
    });
    expect(
      ends(rig, run)
        .filter((end) => /^read\d/.test(end))
        .sort(),
    ).toEqual(["read0 succeeded", "read1 failed", "read2 succeeded"]);
    const [first, second] = inputs("synthesis");
    for (const part of ["answer one", "null", "answer three"]) expect(first).toContain(part);
    expect(second).toContain("a.md:1 says otherwise");
    expect(asked.filter(({ stepId }) => stepId === "check")).toHaveLength(2);
  });

  test("all readers are at work before the first has ended", async () => {
    const { rig } = await startRig(RESEARCH);
    const run = rig.create("research", "Which one?");
    await rig.waitForEnd(run.id);
    const events = rig.events().filter(({ step_id }) => step_id === "read");
    const firstEnd = events.findIndex(({ kind }) => kind === "session_ended");
    expect(events.slice(0, firstEnd).filter(({ kind }) => kind === "step_queued")).toHaveLength(3);
  });
});

describe("import-repository", () => {
  const IMPORT: Answers = {
    overview: { state: "readable", overview: "A shop." },
    architecture: { note: "Two parts." },
    conventions: { conventions: "Small files.", commands: "make test" },
    health: { findings: [{ where: "a.ts:1", problem: "no test", effect: "breaks" }] },
    backlog: {
      tasks: [{ title: "Test a.ts", description: "d", priority: "p1", work_type: "test", done_when: "green" }],
    },
    write: { files: ["docs/architecture.md"] },
    result: { summary: "A shop." },
  };

  test("three read side by side, then backlog, notes and report follow with what they found", async () => {
    const { rig, asked, inputs } = await startRig(IMPORT);
    const run = rig.create("import-repository", "Our shop");
    expect(await rig.waitForEnd(run.id)).toMatchObject({
      status: "succeeded",
      outputs: { result: { summary: "A shop." } },
    });
    const order = asked.map(({ stepId }) => stepId);
    expect(order[0]).toBe("overview");
    expect(order.slice(1, 4).sort()).toEqual(["architecture", "conventions", "health"]);
    expect(order.slice(4)).toEqual(["backlog", "write", "result"]);
    const kinds = rig
      .events()
      .filter(({ step_id }) => ["architecture", "conventions", "health"].includes(step_id ?? ""));
    const firstEnd = kinds.findIndex(({ kind }) => kind === "session_ended");
    expect(kinds.slice(0, firstEnd).filter(({ kind }) => kind === "step_queued")).toHaveLength(3);
    expect(inputs("write")[0]).toContain("Test a.ts");
    expect(inputs("write")[0]).toContain("below docs");
  });

  test("an empty repository is said to be empty", async () => {
    const { rig, asked } = await startRig({ ...IMPORT, overview: { state: "empty", overview: "Nothing." } });
    const run = rig.create("import-repository", "New");
    expect(await rig.waitForEnd(run.id)).toMatchObject({ status: "succeeded" });
    expect(asked.map(({ stepId }) => stepId)).toEqual(["overview", "result"]);
  });
});
