/** Evals through the command line and the API, in real runs whose commands run on this host. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep as command, temporaryFolder } from "../../testing/command.ts";
import { createModelServer, type ModelServer, type RecordedRequest, reply } from "../../testing/model-server.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { EvalAttempt, EvalComparison, EvalDetail, EvalRecording } from "./model.ts";

setDefaultTimeout(300_000);

let models: ModelServer;
let server: TestServer;
const folder = temporaryFolder();
/** Each call costs the price of the 1,000 tokens that it reads. */
const PRICES = { input_usd_per_mtok: 10, output_usd_per_mtok: 0 };
const ENV = { ALLOW_HOST_SHELL: "true" };

beforeAll(async () => {
  models = await createModelServer();
  server = await startServer({ env: ENV });
  const lab = { base_url: `${models.origin}/v1`, models: [{ id: "m1", context_window: 32_768, ...PRICES }] };
  await server.request("PUT", "/v1/settings/providers/custom-lab", { body: lab });
  for (const id of ["good", "poor"]) {
    const tools = ["write", "complete", "fail"];
    const made = await server.request("POST", "/v1/agents", { body: { id, prompt: `You are ${id}.`, tools } });
    expect(made.status).toBe(201);
  }
});
afterAll(async () => {
  await models.stop();
  await server.remove();
  folder.remove();
});

const skep = (...args: string[]) => command([...args, "--url", server.url], { env: {} });
const file = (path: string, text: string) => ({ path, content: Buffer.from(text).toString("base64") });
const task = (name: string) => ({
  name,
  instruction: "Write 42 into answer.txt.",
  workspace: [file("given/note.txt", "six by seven\n")],
  tests: [
    file("test.sh", 'test -f given/note.txt && test "$(cat answer.txt)" = "$(cat "$TASK_FILES/want")"'),
    file("want", "42"),
  ],
  solution: [file("solve.sh", "printf 42 > answer.txt")],
});
const create = async (body: object) => {
  const made = await server.request<EvalDetail>("POST", "/v1/evals", { body: { name: "answers", ...body } });
  expect([made.status, made.body]).toEqual([202, expect.anything()]);
  return made.body.id;
};
const get = async (id: string) => (await server.request<EvalDetail>("GET", `/v1/evals/${id}`)).body;
const attemptsOf = async (id: string) =>
  (await server.request<{ items: EvalAttempt[] }>("GET", `/v1/evals/${id}/attempts?limit=200`)).body.items;
const waitForEnd = async (id: string): Promise<EvalDetail> => {
  await skep("evals", "show", id, "--follow", "--json");
  return get(id);
};
const calls = () => models.requests.filter(({ path }) => path.endsWith("/chat/completions"));
const usage = { input: 1_000, output: 0 };
const completed = reply({ toolCalls: [{ id: "c2", name: "complete", input: { summary: "done" } }], usage });
/** The good agent writes the answer; the poor one only claims to have written it. */
const work = ({ body }: RecordedRequest) => {
  const { messages } = body as { messages: { role: string; content: unknown }[] };
  const isGood = JSON.stringify(messages).includes("You are good.");
  if (!isGood || messages.some(({ role }) => role === "tool")) return completed;
  return reply({ toolCalls: [{ id: "c1", name: "write", input: { path: "answer.txt", content: "42" } }], usage });
};

test("a suite of several MiB is taken; one above the bound is refused with what to leave out", async () => {
  const write = (suite: string, name: string, bytes: Uint8Array) => {
    const at = join(folder.path, suite, name);
    const scripts = { environment: "", tests: 'cmp -s copy "$TASK_FILES/data"', solution: "cp data copy" };
    for (const [part, script] of Object.entries(scripts)) {
      mkdirSync(join(at, part), { recursive: true });
      writeFileSync(join(at, part, "data"), bytes);
      if (script) writeFileSync(join(at, part, part === "tests" ? "test.sh" : "solve.sh"), script);
    }
    writeFileSync(join(at, "task.toml"), 'version = "1.0"\n');
    writeFileSync(join(at, "instruction.md"), "Copy data to copy.");
  };
  // Random bytes, which cannot be compressed.
  for (let at = 1; at <= 6; at++) write("large", `copy-${at}`, randomBytes(65_000));
  const { code, stdout, stderr } = await skep("eval", join(folder.path, "large"), "--oracle", "--json");
  expect([code, stderr]).toEqual([0, ""]);
  expect(JSON.parse(stdout)).toMatchObject({ problems: [], total: 12, ended: 12 });
  for (let at = 1; at <= 11; at++) write("huge", `copy-${at}`, new Uint8Array(390_000 - at));
  const refused = await skep("eval", join(folder.path, "huge"), "--oracle");
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toMatch(
    /^skep: The 11 tasks in \S+ take 17\.\d MB as they are sent; an eval takes 16\.8 MB\. Split/,
  );
  expect(refused.stderr).toContain("the largest task is copy-1 with 1.6 MB");
  // The larger limit applies only to evals.
  const other = await server.request("POST", "/v1/agents", { body: { id: "long", prompt: "x".repeat(2 * 1024 ** 2) } });
  expect(other.status).toBe(413);
});

test("the ten shipped tasks hold: their solutions pass, and doing nothing does not", async () => {
  const tasks = join(folder.path, "shipped");
  expect((await command(["eval", "shipped", tasks])).code).toBe(0);
  const { code, stdout, stderr } = await skep("eval", tasks, "--oracle", "--parallel", "4", "--json");
  expect([code, stderr]).toEqual([0, ""]);
  const { scores, problems } = JSON.parse(stdout) as EvalDetail;
  expect(problems).toEqual([]);
  expect(scores.map(({ worker, passed, failed, errors }) => [worker, passed, failed, errors])).toEqual([
    ["solution", 10, 0, 0],
    ["nothing", 0, 10, 0],
  ]);
});

test("an oracle names tasks whose solution fails and tests that pass without one", async () => {
  const wrong = { ...task("wrong"), solution: [file("solve.sh", "printf 41 > answer.txt")] };
  const empty = { ...task("empty"), tests: [file("test.sh", "true")] };
  const found = await waitForEnd(await create({ tasks: [task("right"), wrong, empty], oracle: true }));
  expect(found.problems.map(({ task: name, message }) => [name, message.split(".")[0]])).toEqual([
    ["wrong", "The reference solution does not pass"],
    ["empty", "The tests pass when nothing was done: they do not test the task"],
  ]);
});

test("by a reward: what the tests write decides, and what is no reward is an error of the task", async () => {
  const at = (name: string) => join(folder.path, "rewarded", name);
  const write = (name: string, tests: string) => {
    for (const part of ["tests", "solution"]) mkdirSync(join(at(name), part), { recursive: true });
    writeFileSync(join(at(name), "task.toml"), 'schema_version = "1.4"\n\n[skep]\nreward = true\n');
    writeFileSync(join(at(name), "instruction.md"), "Write 42 into answer.txt.");
    writeFileSync(join(at(name), "tests/test.sh"), tests);
    writeFileSync(join(at(name), "solution/solve.sh"), "printf 42 > answer.txt");
  };
  const buildGrader = (one: string, zero: string) =>
    `seq 40000\nif test "$(cat answer.txt)" = 42; then ${one}; else ${zero}; fi`;
  const reward = "$VERIFIER_LOGS/reward.txt";
  write("sound", buildGrader(`echo 1 > ${reward}`, `echo 0 > ${reward}`));
  write("odd", buildGrader(`echo nan > ${reward}`, `ln -s /etc/hostname ${reward}`));
  write("silent", buildGrader("exit 0", `echo '{"reward": 0.5}' > $VERIFIER_LOGS/reward.json`));
  const { code, stdout } = await skep("eval", join(folder.path, "rewarded"), "--oracle", "--json");
  const { problems, scores } = JSON.parse(stdout) as EvalDetail;
  expect(code).toBe(1);
  expect(scores.map(({ worker, passed, failed, errors }) => [worker, passed, failed, errors])).toEqual([
    ["solution", 1, 0, 2],
    ["nothing", 0, 2, 1],
  ]);
  expect(problems.map(({ task: name, message }) => [name, message.split(/[.:]/)[0]]).sort()).toEqual([
    ["odd", "The reward reward"],
    ["odd", "The reward reward"],
    ["silent", "Its tests wrote no reward"],
  ]);
});

test("a task that needs a larger sandbox than its agent has is refused with the setting", async () => {
  const boxed = await startServer({ env: { SANDBOX: "auto" } });
  const ask = async (need: object) =>
    boxed.request("POST", "/v1/evals", { body: { name: "x", oracle: true, tasks: [{ ...task("a"), ...need }] } });
  const refused = await ask({ memory_mb: 4_096 });
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    422,
    expect.stringMatching(/Task a needs 4096 MiB of memory.*has 1024.*skep settings set sandbox\.memory_mb=4096/),
  ]);
  expect(JSON.stringify((await ask({ cpus: 2 })).body)).toContain("sandbox.cpus=2");
  await boxed.remove();
});

test("two agents are told apart; what their models answered is replayed without asking one, with the same outcome", async () => {
  models.answerBy(work);
  const tasks = [task("one"), task("two")];
  const id = await create({ tasks, agents: ["good", "poor"], models: ["custom-lab/m1"], attempts: 2 });
  const asked = await waitForEnd(id);
  expect(asked.scores.map((one) => [one.agent_id, one.passed, one.ended, one.pass_all_k, one.pass_at_k])).toEqual([
    ["good", 4, 4, 1, 1],
    ["poor", 0, 4, 0, 0],
  ]);
  const sums = (agent: string, of: "cost_usd" | "tokens") =>
    asked.scores.find(({ agent_id }) => agent_id === agent)?.[of] ?? 0;
  // The good agent makes two calls in each attempt, the poor one makes one.
  expect(
    (await attemptsOf(id)).map(({ agent_id, model_calls }) => model_calls === (agent_id === "good" ? 2 : 1)),
  ).toEqual(Array(8).fill(true));
  expect(sums("poor", "tokens")).toBeGreaterThan(0);
  expect(sums("good", "cost_usd") + sums("poor", "cost_usd")).toBeCloseTo(asked.cost_usd, 9);
  expect(sums("good", "cost_usd")).toBeGreaterThan(sums("poor", "cost_usd"));
  const { next_cursor, items } = (
    await server.request<{ items: EvalAttempt[]; next_cursor: string }>("GET", `/v1/evals/${id}/attempts?limit=3`)
  ).body;
  expect([items.length, typeof next_cursor]).toEqual([3, "string"]);

  const recording = (await server.request<EvalRecording>("GET", `/v1/evals/${id}/recording`)).body;
  const before = calls().length;
  const again = await waitForEnd(await create({ tasks, replay: recording, attempts: 2 }));
  expect(calls().length).toBe(before);
  expect(again.replayed).toBe(true);
  expect(again.scores.map(({ agent_id, model, passed, cost_usd }) => [agent_id, model, passed, cost_usd])).toEqual([
    ["good", "custom-lab/m1", 4, 0],
    ["poor", "custom-lab/m1", 0, 0],
  ]);
  const compared = (await server.request<EvalComparison>("GET", `/v1/evals/${again.id}/comparison/${id}`)).body;
  expect([compared.better, compared.worse, compared.tasks.length]).toEqual([0, 0, 4]);

  const path = join(folder.path, "recording.json");
  const spoken = await skep("evals", "recording", id);
  writeFileSync(path, spoken.stdout);
  expect(JSON.parse(spoken.stdout)).toEqual(recording);
  const table = await skep("evals", id);
  expect(table.stdout).toMatch(/good +custom-lab\/m1 +builtin +4\/4 +100% +100% +\$0\.0\d+ +\d,\d+/);
  const lacking = await server.request("POST", "/v1/evals", {
    body: { name: "more", tasks, agents: ["good"], models: ["custom-lab/m1"], attempts: 3, replay: recording },
  });
  expect([lacking.status, JSON.stringify(lacking.body)]).toEqual([
    422,
    expect.stringContaining("no recording of attempt 3"),
  ]);
});

test("two harnesses: the same recorded replies drive Skep's own loop and a program of another", async () => {
  const acp = [Bun.which("node")!, join(import.meta.dir, "../../testing/acp-agent.cjs")];
  const body = { id: "driven", prompt: "You are good.\nMODE: as told\n.", harness: { acp }, model: "custom-lab/m1" };
  expect((await server.request("POST", "/v1/agents", { body })).status).toBe(201);
  models.answerBy(work);
  const tasks = [task("one")];
  const first = await waitForEnd(await create({ tasks, agents: ["driven"], harnesses: ["builtin"] }));
  expect(first.scores.map(({ harness, passed }) => [harness, passed])).toEqual([["builtin", 1]]);
  const replay = (await server.request<EvalRecording>("GET", `/v1/evals/${first.id}/recording`)).body;
  const before = calls().length;
  const both = await waitForEnd(await create({ tasks, agents: ["driven"], harnesses: ["builtin", "acp"], replay }));
  expect(calls().length).toBe(before);
  expect((await attemptsOf(both.id)).map(({ harness, status, reason }) => [harness, status, reason])).toEqual([
    ["builtin", "passed", null],
    ["acp", "passed", null],
  ]);
  const table = (await skep("evals", both.id)).stdout;
  expect(table).toMatch(/driven .*builtin +1\/1/);
  expect(table).toMatch(/driven .*acp +1\/1/);
  // The program writes files itself, so only its call of Skep's own tool is visible.
  const toolsOf = async ({ run_id }: EvalAttempt) => {
    const path = `/v1/events?run_id=${run_id}&kinds=tool_call_start`;
    const { body: found } = await server.request<{ items: { data: { tool: string } }[] }>("GET", path);
    return found.items.map(({ data }) => data.tool);
  };
  const [looped, driven] = await Promise.all((await attemptsOf(both.id)).map(toolsOf));
  expect([looped, driven]).toEqual([
    expect.arrayContaining(["write", "complete"]),
    expect.arrayContaining(["complete"]),
  ]);
  expect(driven).not.toContain("write");
  // Without a harness in the request, the agent's file decides.
  const own = await waitForEnd(await create({ tasks, agents: ["driven"], replay }));
  expect(own.scores.map(({ harness, passed }) => [harness, passed])).toEqual([["acp", 1]]);
  const wrong = { name: "wrong", tasks, agents: ["good"], harnesses: ["acp"] };
  const { status, body: problem } = await server.request("POST", "/v1/evals", { body: wrong });
  expect([status, JSON.stringify(problem)]).toEqual([422, expect.stringContaining("names no command of its own")]);
  const shipped = join(folder.path, "for-harnesses");
  await command(["eval", "shipped", shipped]);
  expect((await skep("eval", shipped, "--agent", "good", "--harness", "nothing")).stderr).toContain(
    "There is no harness nothing; there are builtin, opencode,",
  );
});

test("goes on after kill -9: every attempt is made once", async () => {
  const held = Promise.withResolvers<void>();
  models.answerBy((request) => ({ ...work(request), until: () => held.promise }) as ReturnType<typeof work>);
  const before = calls().length;
  const id = await create({ tasks: [task("a"), task("b"), task("c")], agents: ["good"], models: ["custom-lab/m1"] });
  while (calls().length < before + 2) await server.request("GET", "/v1/status");
  await server.stop("SIGKILL");
  models.answerBy(work);
  held.resolve();
  server = await startServer({ data: server.data, env: ENV });
  const found = await waitForEnd(id);
  expect([found.status, found.passed, found.total]).toEqual(["done", 3, 3]);
  expect(new Set((await attemptsOf(id)).map(({ run_id }) => run_id)).size).toBe(3);
  const runs = await server.request<{ items: unknown[] }>("GET", "/v1/runs?pipeline_id=eval&status=queued,running");
  expect(runs.body.items).toEqual([]);
});

test("is cancelled with its runs, and deleted only then", async () => {
  const held = Promise.withResolvers<void>();
  models.answerBy((request) => ({ ...work(request), until: () => held.promise }) as ReturnType<typeof work>);
  const before = calls().length;
  const id = await create({ tasks: [task("a"), task("b"), task("c")], agents: ["good"], models: ["custom-lab/m1"] });
  while (calls().length < before + 2) await server.request("GET", "/v1/status");
  expect((await server.request("DELETE", `/v1/evals/${id}`)).status).toBe(409);
  const cancelled = await skep("evals", "cancel", id);
  expect(cancelled.code).toBe(0);
  held.resolve();
  expect((await get(id)).status).toBe("cancelled");
  expect((await attemptsOf(id)).map(({ status }) => status)).toEqual(["cancelled", "cancelled", "cancelled"]);
  expect((await server.request("POST", `/v1/evals/${id}/cancel`)).status).toBe(409);
  expect((await server.request("DELETE", `/v1/evals/${id}`)).status).toBe(204);
  expect((await server.request("GET", `/v1/evals/${id}`)).status).toBe(404);
});

test("its budget holds: attempts that do not fit are skipped, and no call passes it", async () => {
  models.answerBy(work);
  const tasks = ["a", "b", "c", "d", "e"].map((name) => ({ ...task(name), budget_usd: 1 }));
  const found = await waitForEnd(
    await create({ tasks, agents: ["good"], models: ["custom-lab/m1"], parallel: 2, budget_usd: 0.025 }),
  );
  expect(found.cost_usd).toBeLessThanOrEqual(0.025);
  const states = (await attemptsOf(found.id)).map(({ status, reason }) => `${status} ${reason ?? ""}`);
  expect(states.length).toBe(5);
  expect(states.some((state) => state.startsWith("passed"))).toBe(true);
  expect(states.some((state) => state.startsWith("skipped") || state.includes("is left"))).toBe(true);
  for (const state of states) expect(state).toMatch(/^(passed|skipped .*used up|failed .*is left)/);
});

test("an attempt that a provider fails says nothing of the agent", async () => {
  models.answerBy(() => ({ kind: "status", status: 401, body: { error: { message: "no such key" } } }));
  const found = await waitForEnd(await create({ tasks: [task("a")], agents: ["good"], models: ["custom-lab/m1"] }));
  expect([found.passed, found.failed, found.errors]).toEqual([0, 0, 1]);
  expect((await attemptsOf(found.id))[0]?.reason).toContain("key");
});

test("what is wrong is refused in words", async () => {
  const ask = async (body: object) =>
    JSON.stringify((await server.request("POST", "/v1/evals", { body: { name: "x", ...body } })).body);
  expect(await ask({ tasks: [task("a")] })).toContain("Name at least one agent");
  expect(await ask({ tasks: [task("a")], agents: ["nobody"] })).toContain("no such agent");
  expect(await ask({ tasks: [{ ...task("a"), tests: [] }], oracle: true })).toContain("no tests/test.sh");
  expect(await ask({ tasks: [{ ...task("a"), workspace: [file("../up", "x")] }], oracle: true })).toContain("no path");
  expect(await ask({ tasks: [task("a"), task("a")], oracle: true })).toContain("Two tasks");
  const none = await command(["eval", folder.path, "--oracle", "--url", server.url]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/holds no task.*skep eval shipped/)]);
  // A task for Harbor's own harness. Here its test would pass whatever it found.
  const foreign = join(folder.path, "foreign");
  const script = (text: string, settings = "") => {
    mkdirSync(join(foreign, "tests"), { recursive: true });
    writeFileSync(join(foreign, "tests/test.sh"), text);
    writeFileSync(join(foreign, "instruction.md"), "Do it.");
    writeFileSync(join(foreign, "task.toml"), `version = "1.0"\n${settings}`);
    return skep("eval", foreign, "--oracle").then(({ code, stderr }) => [code, stderr]);
  };
  const reward = "if pytest; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n";
  expect(await script(reward)).toEqual([
    1,
    expect.stringMatching(/test\.sh uses \/logs\/verifier.*\$VERIFIER_LOGS\/reward\.txt/),
  ]);
  expect(await script("pytest /tests/test_outputs.py\n")).toEqual([1, expect.stringContaining("are in $TASK_FILES")]);
  expect(await script("false\n", '[environment]\ndocker_image = "x/y:1"\n')).toEqual([
    1,
    expect.stringContaining("give the agent the image x/y:1"),
  ]);
  expect(await script("echo 1 > $VERIFIER_LOGS/reward.txt\n")).toEqual([
    1,
    expect.stringContaining("Write reward = true below [skep]"),
  ]);
  mkdirSync(join(foreign, "environment"));
  writeFileSync(join(foreign, "environment/docker-compose.yaml"), "");
  expect(await script("true\n")).toEqual([1, expect.stringContaining("a task's docker-compose.yaml is not built")]);
});

test("a finished run of a project becomes a task that its own changes solve", async () => {
  const check = "sh tests/answer.sh";
  const project = await server.request<{ id: string }>("POST", "/v1/projects", { body: { name: "Answers", check } });
  expect(project.status).toBe(201);
  const source = `id: make\nname: Make\nsteps:\n  - id: make\n    run: mkdir -p tests && printf 42 > answer.txt && echo 'test "$(cat answer.txt)" = 42' > tests/answer.sh\n`;
  expect((await server.request("POST", "/v1/pipelines", { body: { source } })).status).toBe(201);
  const { stdout } = await skep("run", "make", "Answer the question.", "--project", "Answers", "--follow", "--json");
  const run = JSON.parse(stdout.trim().split("\n").at(-1)!) as { id: string; status: string };
  expect(run.status).toBe("succeeded");
  const at = join(folder.path, "from-run");
  const made = await skep("eval", "from-run", run.id, at);
  expect([made.code, made.stdout]).toEqual([0, expect.stringContaining("prove it")]);
  const { code, stdout: proven, stderr } = await skep("eval", at, "--oracle", "--json");
  expect([code, stderr, (JSON.parse(proven) as EvalDetail).problems]).toEqual([0, "", []]);
});
