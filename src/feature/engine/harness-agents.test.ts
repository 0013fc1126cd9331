/**
 * Programs that drive agents, benign and hostile, in locked-down containers: what they may do, what they cost, and what
 * is left of them.
 */
import { afterAll, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { membersOf } from "../../core/is-object.ts";
import { readUntil } from "../../testing/attacks/waiting.ts";
import { searchFiles, searchMemory } from "../../testing/container-bytes.ts";
import { dockerForTests } from "../../testing/docker-image.ts";
import { EXAMPLE, type ExampleAgents, startExampleAgents } from "../../testing/example-agents.ts";
import { harnessImage } from "../../testing/harness-image.ts";
import { type EndedRun, type MeteredServer, MODEL, SHARED_KEY } from "../../testing/metered-server.ts";
import { reply } from "../../testing/model-server.ts";
import { isRoot, lacks } from "../../testing/parts.ts";

setDefaultTimeout(900_000);
const docker = await dockerForTests(process.env);
let examples: ExampleAgents;
let metered: MeteredServer;
beforeAll(async () => {
  if (!docker) return;
  examples = await startExampleAgents(docker);
  ({ metered } = examples);
});
afterAll(() => examples?.remove());
beforeEach(() => metered?.models.next(reply({ text: "hello", usage: { input: 10, output: 1_000 } })));

const pipeline: ExampleAgents["pipeline"] = (...given) => examples.pipeline(...given);
const textOf: ExampleAgents["textOf"] = (run) => examples.textOf(run);
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
const isRun = test.skipIf(!docker);

isRun(
  "a container without network holds the execution's token and no other secret, and reaches the gateway alone",
  async () => {
    const run = await metered.run(await pipeline("look"));
    expect(run.error).toBeNull();
    expect(JSON.parse(await textOf(run))).toEqual({ out: [], found: [], ways: ["lo"] });
  },
);

isRun("the gateway answers in three protocols, to its key, for its model", async () => {
  const run = await metered.run(await pipeline("gateway"));
  expect(run.error).toBeNull();
  const { chosen, ...answers } = JSON.parse(await textOf(run));
  const said: Record<string, { status: number; type: string; text: string }> = answers;
  // The program offers its model as an option of the session.
  expect(chosen).toEqual(["llm custom-lab/m"]);
  const statuses = Object.fromEntries(Object.entries(said).map(([name, { status }]) => [name, status]));
  expect(statuses).toEqual({
    models: 200,
    wrong: 401,
    other: 404,
    bad: 400,
    elsewhere: 404,
    stream: 200,
    messages: 200,
    responses: 200,
  });
  expect(JSON.parse(said["models"]!.text).data).toMatchObject([{ id: "custom-lab/m" }]);
  // The stream is passed on unchanged to a provider that speaks the program's protocol, and translated for others.
  expect(said["stream"]!.text).toContain("data: [DONE]");
  expect(said["messages"]!.text).toMatch(/event: message_start[\s\S]*hello[\s\S]*event: message_stop/);
  expect(said["responses"]!.text).toMatch(/event: response.created[\s\S]*hello[\s\S]*event: response.completed/);
  const paths = metered.models.requests.slice(-3);
  expect(paths.map(({ headers }) => headers["authorization"])).toEqual(Array(3).fill(`Bearer ${SHARED_KEY}`));
  const { body } = await metered.call<{ items: { cost_usd: number }[] }>("GET", `/v1/llm-calls?run_id=${run.id}`);
  // There are two turns, because the program is asked once more for a result.
  expect(body.items.map(({ cost_usd }) => cost_usd)).toEqual(Array(6).fill(0.1));
});

isRun("a budget that is used up ends the turn as budget_exceeded, in the midst of it", async () => {
  const run = await metered.run(await pipeline("spend", {}, { budget_usd: 1 }));
  expect(run).toMatchObject({ status: "failed", error: { code: "budget_exceeded", step_id: "work" }, cost_usd: 0.6 });
});

isRun(
  "where its model does not answer, the next one of its list does, and the calls and the step name it",
  async () => {
    const createModels = (id: string) => [
      { id, input_usd_per_mtok: 0, output_usd_per_mtok: 100, context_window: 200_000 },
    ];
    const add = (id: string, more: object) =>
      metered.call("PUT", `/v1/settings/providers/${id}`, {
        base_url: metered.models.origin,
        api_key: SHARED_KEY,
        ...more,
      });
    await add("custom-down", { kind: "anthropic", models: createModels("other-words") });
    await add("custom-spare", { base_url: `${metered.models.origin}/v1`, models: createModels("spare") });
    metered.models.answerBy(({ body }) =>
      membersOf(body)["model"] === "spare"
        ? reply({ text: "I am the spare.", usage: { input: 10, output: 1_000 } })
        : { kind: "status", status: 503, body: { error: { message: "overloaded" } } },
    );
    // One model speaks the program's protocol. The reply of the other is translated into a stream that has already
    // begun.
    for (const model of [MODEL, "custom-down/other-words"]) {
      const run = await metered.run(await pipeline("works", { model, fallback: ["custom-spare/spare"] }));
      expect(run).toMatchObject({ status: "succeeded", error: null, cost_usd: 0.1 });
      const { body } = await metered.call<{ items: Record<string, unknown>[] }>(
        "GET",
        `/v1/llm-calls?run_id=${run.id}`,
      );
      const calls = body.items.map((call) => [call["model"], call["finish_reason"], call["cost_usd"]]);
      expect(calls.toSorted()).toEqual(
        [
          [model, "error", 0],
          ["custom-spare/spare", "stop", 0.1],
        ].toSorted(),
      );
      const step = await metered.call("GET", `/v1/steps/${run.id}`);
      expect(JSON.stringify(step.body)).toContain('"model":"custom-spare/spare"');
    }
  },
);

isRun(
  "a prompt that the provider cut ends the step as context_truncated: the program does not go on with half of it",
  async () => {
    metered.models.next(reply({ text: "hello", usage: { input: 600, output: 10 } }));
    const before = metered.models.requests.length;
    const run = await metered.run(await pipeline("asks long"));
    expect(run).toMatchObject({ status: "failed", error: { code: "context_truncated", step_id: "work" } });
    expect(run.error?.message).toMatch(/read 600 tokens of a prompt of more than 3000: .* -c 32768/);
    expect(metered.models.requests.length - before).toBe(1);
  },
);

/** What each published program calls to add a line to a file of its workspace. */
const APPENDS: Record<string, (line: number) => { name: string; input: Record<string, unknown> }> = {
  codex: (line) => ({ name: "exec_command", input: { cmd: `echo ${line} >> lines.txt` } }),
  opencode: (line) => ({ name: "bash", input: { command: `echo ${line} >> lines.txt`, description: "d" } }),
};

/** A secret that the proxy puts into requests to that host only; containers get the word in `instead`. */
const EDGE = { value: `canary-${crypto.randomUUID()}`, hosts: ["vendor.example"], instead: "put-in-by-skep" };
const CANARIES = [SHARED_KEY, EDGE.value];
/** The program whose container is searched. */
const SEARCHED = "codex";
/** The start of an execution's token, which the program holds. */
const TOKEN = "skepx_";

interface Work {
  run: EndedRun;
  /** Number of tool calls that the model asked for. */
  lines: number;
  /** Number of requests to the model. */
  requests: number;
  /** What the program's container held while the program waited for its third tool call. Only root can read it. */
  held: { memory: ReturnType<typeof searchMemory>; files: string[] } | undefined;
}

const works = new Map<string, Promise<Work>>();
/** Lets the program work until its budget is used up. It runs once for all tests that need it. */
function workOf(harness: string): Promise<Work> {
  const work = works.get(harness) ?? spendAll(harness);
  works.set(harness, work);
  return work;
}

async function spendAll(harness: string): Promise<Work> {
  let lines = 0;
  const searched = Promise.withResolvers<Work["held"]>();
  searched.promise.catch(() => {});
  const isSearched = harness === SEARCHED;
  const agent = { harness, image: await harnessImage(docker!), memory_mb: 1_024 };
  const pipeline = await metered.pipeline(
    { budget_usd: 0.75 },
    isSearched ? { ...agent, network: { allow: EDGE.hosts } } : agent,
  );
  if (isSearched) await grantSecret(pipeline);
  const isTool = (tool: unknown, name: string) => JSON.stringify(tool).includes(`"name":"${name}"`);
  metered.models.answerBy(({ body }) => {
    const tools = (body as { tools?: unknown[] }).tools ?? [];
    const call = APPENDS[harness]!(lines);
    const usage = { input: 10, output: 1_000 };
    // opencode's first call asks for a title, and has no tools.
    if (!tools.some((tool) => isTool(tool, call.name))) return reply({ text: "On it.", usage });
    const toolCalls = [{ ...call, id: `c${lines++}` }];
    const search = async () => {
      if (isSearched && lines === 3) await heldBy(pipeline).then(searched.resolve, searched.reject);
    };
    return { kind: "reply", reply: { text: "On it.", usage, toolCalls }, until: search };
  });
  const before = metered.models.requests.length;
  const run = await metered.run(pipeline);
  if (!isSearched) searched.resolve(undefined);
  else if (lines < 3) searched.reject(new Error(`${harness} made ${lines} calls: ${JSON.stringify(run.error)}`));
  return { run, lines, requests: metered.models.requests.length - before, held: await searched.promise };
}

async function grantSecret(agent: string): Promise<void> {
  const edge = { hosts: EDGE.hosts, header: "Authorization", prefix: "Bearer " };
  const stored = await metered.call("POST", "/v1/secrets", { name: "OF_VENDOR", value: EDGE.value, edge });
  const granted = await metered.call("POST", `/v1/secrets/OF_VENDOR/grant/${agent}`);
  expect([stored.status, granted.status]).toEqual([201, 200]);
}

async function heldBy(agent: string): Promise<Work["held"]> {
  if (!isRoot) return undefined;
  const [container] = await docker!.containers.list([`skep.agent=${agent}`]);
  const { State } = await docker!.containers.inspect(container!.id);
  return {
    memory: searchMemory(State.Pid, [...CANARIES, TOKEN, EDGE.instead]),
    files: searchFiles(State.Pid, CANARIES),
  };
}

isRun.each(Object.keys(APPENDS))(
  "%s is stopped by the budget in the midst of its turn: nothing is spent after, and its container is gone",
  async (harness) => {
    const { run, lines, requests } = await workOf(harness);
    // A call is allowed while it and a reply of 4,096 tokens fit: after four calls they do not.
    expect(run).toMatchObject({ status: "failed", error: { code: "budget_exceeded", step_id: "work" }, cost_usd: 0.4 });
    expect(run.error?.message).toBe(
      "The next call may cost $0.41; $0.35 is left of the run budget of $0.75. Raise it.",
    );
    const written = await Bun.file(join(metered.server.data, "workspaces", run.id, "lines.txt")).text();
    expect(written.trim().split("\n")).toHaveLength(lines);
    while ((await docker!.containers.list([`skep.run=${run.id}`])).length > 0) await Bun.sleep(20);
    const { body } = await metered.call<{ items: { cost_usd: number }[] }>("GET", `/v1/llm-calls?run_id=${run.id}`);
    expect(body.items.map(({ cost_usd }) => cost_usd)).toEqual([0.1, 0.1, 0.1, 0.1]);
    expect(requests).toBe(4);
  },
);

isRun("a key that the provider refuses ends the turn at its first call, which opencode would repeat", async () => {
  const agent = { harness: "opencode", image: await harnessImage(docker!), memory_mb: 1_024 };
  const body = { error: { message: "No such key.", type: "invalid_request_error", code: "invalid_api_key" } };
  metered.models.answerBy(() => ({ kind: "status", status: 401, body }));
  const before = metered.models.requests.length;
  const run = await metered.run(await metered.pipeline({}, agent));
  expect(run).toMatchObject({ status: "failed", error: { code: "provider_auth", step_id: "work" } });
  expect(metered.models.requests.length - before).toBe(1);
});

isRun("a used-up quota without a time is a wait, not a call after the other", async () => {
  const body = { error: { message: "Check your billing details", code: "insufficient_quota" } };
  metered.models.answerBy(() => ({ kind: "status", status: 429, body }));
  const before = metered.models.requests.length;
  const started = { pipeline_id: await pipeline("works"), task_description: "it" };
  const { id } = (await metered.call<{ id: string }>("POST", "/v1/runs", started)).body;
  const read = async () => (await metered.call<{ waiting_reason: string | null }>("GET", `/v1/runs/${id}`)).body;
  const { waiting_reason } = await readUntil(read, (run) => run.waiting_reason !== null);
  expect(waiting_reason).toMatch(/billing details\. It does not say when it answers again, so it is asked again at/);
  expect(metered.models.requests.length - before).toBe(1);
  expect((await metered.call("POST", `/v1/runs/${id}/cancel`)).status).toBe(202);
});

test.skipIf(!docker || lacks("root, who reads the memory of others", isRoot))(
  "while it works, the provider's key and a secret that is bound to a host are in no byte of its container",
  async () => {
    const { held } = await workOf(SEARCHED);
    const { [TOKEN]: token, [EDGE.instead]: instead, ...canaries } = held!.memory;
    expect(canaries).toEqual(Object.fromEntries(CANARIES.map((text) => [text, []])));
    expect(held!.files).toEqual([]);
    // The search does find what the processes hold.
    expect([token, instead]).not.toContainEqual([]);
  },
);

isRun("a plan is an event of its own, read field by field", async () => {
  const run = await metered.run(await pipeline("plans"));
  expect(run.error).toBeNull();
  const { body } = await metered.call<{ items: { data: unknown }[] }>(
    "GET",
    `/v1/events?run_id=${run.id}&kinds=agent_plan`,
  );
  const entries = ["completed", "in_progress", "pending"].map((status, at) => ({
    content: `is ${["completed", "in_progress", "no state"][at]}`,
    status,
  }));
  expect(body.items[0]?.data).toEqual({ entries });
});

isRun("tools over MCP: complete is checked, and ends the work", async () => {
  const run = await metered.run(await pipeline("complete"));
  expect(run).toMatchObject({ status: "succeeded", error: null });
  const kinds = run.events.map(({ kind }) => kind);
  expect(kinds).toContain("tool_call_end");
});

isRun.each([
  ["flood", /^0 1 2 3 /],
  ["long line", /^after the long line$/],
  ["wrong ids", /^still here$/],
])("%s: the work goes on", async (mode, said) => {
  const run = await metered.run(await pipeline(mode));
  expect(run.error).toBeNull();
  expect(await textOf(run)).toMatch(said);
});

isRun("a permission is refused without a refusing option, too, and granted only by the agent's tools", async () => {
  const run = await metered.run(await pipeline("permission", { tools: ["read"] }));
  expect(run.error).toBeNull();
  expect(await textOf(run)).toBe('["cancelled","no","allow_once"]');
});

isRun.each([
  ["dies", {}, "harness_ended", /ended by itself 3 times.*I have had enough/],
  ["never", { timeout_seconds: 20 }, "timeout", /longer than its 20 s/],
  ["endless", {}, "harness_floods", /wrote more than \d+ bytes/],
])("%s: the step fails and says why", async (mode, agent, code, message) => {
  const run = await metered.run(await pipeline(mode, agent));
  expect(run.error?.code).toBe(code);
  expect(run.error?.message).toMatch(message);
});

isRun("a chat continues its program's session, and shows nothing of what the program repeats", async () => {
  const agent_id = await pipeline("count");
  const chat = await metered.call<{ id: string }>("POST", "/v1/chat/sessions", { agent_id });
  const say = (message: string) =>
    metered.call("POST", `/v1/chat/sessions/${chat.body.id}/message?stream=true`, { message });
  await say("the first");
  await say("the second");
  type Detail = { messages: { role: string; content: string }[] };
  const { body } = await metered.call<Detail>("GET", `/v1/chat/sessions/${chat.body.id}`);
  const replies = body.messages.flatMap(({ role, content }) => (role === "assistant" ? [content] : []));
  expect(replies).toEqual([expect.stringMatching(/^turn 1: [\s\S]*the first$/), "turn 2: the second"]);
});

isRun(
  "in a project's chat and run it works in their branches' files, and what it changes is committed and merged",
  async () => {
    const agent_id = await pipeline("count");
    const project = await metered.call<{ id: string }>("POST", "/v1/projects", { name: "counted" });
    const project_id = project.body.id;
    const chat = await metered.call<{ id: string; branch: string }>("POST", "/v1/chat/sessions", {
      agent_id,
      project_id,
    });
    await metered.call("POST", `/v1/chat/sessions/${chat.body.id}/message?stream=true`, { message: "count" });
    const run = await metered.run(agent_id, undefined, { project_name: "counted" });
    expect(run).toMatchObject({ status: "succeeded", error: null });
    for (const id of [chat.body.id, run.id]) {
      const { body } = await metered.call<{ items: { path: string }[] }>("GET", `/v1/changes/${id}/diff`);
      expect(body.items.map(({ path }) => path)).toEqual(["turns.txt"]);
    }
    const merged = await metered.call("POST", `/v1/changes/${chat.body.id}/merge`, {});
    expect([merged.status, merged.body]).toEqual([200, expect.objectContaining({ commit: expect.any(String) })]);
  },
);

isRun("a picture that is attached reaches the program, if its model sees; else the person is told", async () => {
  const agent = { prompt: "MODE: pictures\n.", harness: { acp: EXAMPLE, image: examples.image }, memory_mb: 512 };
  await metered.call("POST", "/v1/agents", { id: "looker", model: MODEL, ...agent });
  const file = new File([Buffer.from(PNG, "base64")], "roof.png", { type: "image/png" });
  const askLooker = async (): Promise<string[]> => {
    const form = new FormData();
    form.append("file", file);
    const { body: picture } = await metered.call<{ id: string }>("POST", "/v1/attachments/upload", form);
    const { body: chat } = await metered.call<{ id: string }>("POST", "/v1/chat/sessions", { agent_id: "looker" });
    const path = `/v1/chat/sessions/${chat.id}`;
    const message = { message: "What is on it?", attachment_ids: [picture.id] };
    // The stream of the request ends with the reply.
    await metered.call("POST", `${path}/message?stream=true`, message);
    const { body } = await metered.call<{ messages: { content: string }[] }>("GET", path);
    return body.messages.map(({ content }) => content);
  };
  const set = (images: boolean) => metered.call("PUT", "/v1/settings/models", { model: MODEL, images });
  await set(true);
  expect((await askLooker()).at(-1)).toBe(`text, image image/png ${PNG.length}`);
  await set(false);
  const blind = await askLooker();
  expect(blind.at(-1)).toBe("text, text");
  expect(blind.filter((text) => text.startsWith(`${MODEL} cannot see pictures: roof.png was not shown`))).toHaveLength(
    1,
  );
});
