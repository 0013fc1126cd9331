/**
 * `credentials: own`: a person's log-in is used only for that person's runs, and only by the agents that the person
 * named.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { Account } from "../../testing/accounts.ts";
import { skep } from "../../testing/command.ts";
import { dockerForTests } from "../../testing/docker-image.ts";
import { type ExampleAgents, startExampleAgents } from "../../testing/example-agents.ts";
import type { EndedRun } from "../../testing/metered-server.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);
const isRun = test.skipIf(!docker);
let examples: ExampleAgents;
beforeAll(async () => {
  if (docker) examples = await startExampleAgents(docker);
});
afterAll(() => examples?.remove());

const PATH = "/v1/settings/harness-logins";
const TOKEN = "of-the-user.0123456789abcdef";
const LOGIN = JSON.stringify({ auth_mode: "chatgpt", tokens: { access_token: TOKEN } });
/**
 * Makes an agent with the network `bridge`, which its log-in narrows. @returns the id of the agent and of its pipeline.
 */
const own = (more: Record<string, unknown> = {}) =>
  examples.pipeline("own", {
    harness: "codex",
    image: examples.image,
    credentials: "own",
    network: "bridge",
    max_attempts: 1,
    ...more,
  });
const set = (harness: string, body: object, who: Account = examples.metered.user) =>
  examples.metered.call<Record<string, unknown>>("PUT", `${PATH}/${harness}`, body, who);
const missing = ({ error }: EndedRun) => [error?.code, error?.message];

isRun("it reaches the container of its owner's run, and no other place", async () => {
  const { metered } = examples;
  const { user, admin, server } = metered;
  const [named, other] = [await own(), await own()];
  expect(missing(await metered.run(named, user))).toEqual([
    "own_login_missing",
    expect.stringContaining("skep harness-logins set codex"),
  ]);
  const stored = await set("codex", { login: LOGIN, agents: [named] });
  expect(stored).toMatchObject({ status: 200, body: { harness: "codex", agents: [named], last_used_at: null } });
  expect(stored.body["not_held"]).toContain("budgets");

  // The log-in is refused to an agent that was not named, and to another person, even an administrator.
  expect(missing(await metered.run(other, user))).toEqual(["own_login_missing", expect.stringContaining(other)]);
  expect(missing(await metered.run(named, admin))).toEqual(["own_login_missing", expect.stringContaining("stored no")]);
  expect((await metered.call("GET", PATH, undefined, admin)).body).toEqual({ items: [], next_cursor: null });

  const run = await metered.run(named, user);
  expect(run).toMatchObject({ status: "succeeded", error: null });
  const { text } = (await server.request<{ text: string }>("GET", `/v1/steps/${run.id}/work/output`, user)).body;
  const said = JSON.parse(text) as Record<string, unknown>;
  expect(said).toMatchObject({
    length: LOGIN.length,
    at: "/home/agent/.skep-login",
    inState: [],
    keys: [],
    reach: "chatgpt.com:443, auth.openai.com:443, api.openai.com:443",
    // The token in the program's text is masked where the text is stored.
    words: "the token is [secret:own log-in].",
  });
  expect(said["config"]).not.toContain("model_provider");
  // Skep says which limits it cannot enforce, and logs what the program counted, without a price.
  const titles = run.events.map(({ data }) => String(data["title"]));
  expect(titles).toContainEqual(expect.stringContaining("Skep cannot meter that"));
  const calls = await metered.call<{ items: unknown[] }>("GET", `/v1/llm-calls?run_id=${run.id}`);
  const counted = { model: "openai/default", input_tokens: 130, output_tokens: 20, cost_usd: null };
  expect(calls.body.items).toEqual(Array(2).fill(expect.objectContaining(counted)));
  const listed = await metered.call<{ items: object[] }>("GET", PATH, undefined, user);
  expect(listed.body.items).toMatchObject([{ last_used_at: expect.any(String) }]);
  expect(JSON.stringify(listed.body)).not.toContain(TOKEN);

  // Skep counts by what the program reports where it does not see the calls itself.
  const long = await own({ prompt: "MODE: own turns\n.", max_turns: 3 });
  const completing = await own({ prompt: "MODE: complete\n." });
  expect((await set("codex", { login: LOGIN, agents: [named, long, completing] })).status).toBe(200);
  const stopped = await metered.run(long, user);
  expect(missing(stopped)).toEqual(["turns_exceeded", expect.stringContaining("It took 3 turns")]);
  // A turn that was cut short, by a limit or by its result, is logged as far as it is known.
  const completed = await metered.run(completing, user);
  expect(completed).toMatchObject({ status: "succeeded", error: null });
  const cutCalls = async ({ id }: EndedRun) => {
    const { body } = await metered.call<{ items: Record<string, number>[] }>("GET", `/v1/llm-calls?run_id=${id}`);
    const cut = { cost_usd: null, key_source: "user", estimated: true };
    expect(body.items).toEqual([expect.objectContaining({ ...cut, model: "openai/default" })]);
    return body.items.map((call) => (call["input_tokens"] ?? 0) + (call["output_tokens"] ?? 0));
  };
  expect(await cutCalls(stopped)).toEqual([50_000]);
  expect(await cutCalls(completed)).toEqual([expect.any(Number)]);
  expect([stopped, completed]).toMatchObject([{ calls_without_price: 1 }, { calls_without_price: 1 }]);

  const plain = Bun.spawnSync(["grep", "-rlaF", TOKEN, server.data]);
  expect(plain.stdout.toString()).toBe("");

  expect((await metered.call("DELETE", `${PATH}/codex`, undefined, user)).status).toBe(204);
  expect((await metered.run(named, user)).error?.code).toBe("own_login_missing");
});

isRun("what is no log-in is refused with what one is; the command line stores it from a file", async () => {
  const { server, user } = examples.metered;
  const refusals = [
    await set("codex", { login: "no json", agents: [] }),
    await set("claude-code", { login: "two words", agents: [] }),
    await set("codex", { login: LOGIN, agents: ["nobody-there"] }),
    await set("opencode", { agents: ["*"] }),
    await set("qwen", { login: LOGIN, agents: [] }),
  ];
  expect(refusals.map(({ status }) => status)).toEqual([422, 422, 422, 422, 422]);
  expect(JSON.stringify(refusals[0]!.body)).toContain("~/.codex/auth.json");
  const agent = { id: "wrong", prompt: "x", harness: "pi", credentials: "own" };
  const wrong = await examples.metered.call("POST", "/v1/agents", agent);
  expect(JSON.stringify(wrong.body)).toContain("whose vendor has log-ins");

  const logins = (...args: string[]) =>
    skep(["harness-logins", ...args], { env: { SKEP_URL: server.url, SKEP_TOKEN: user.token }, stdin: LOGIN });
  const stored = await logins("set", "codex", "--file", "-", "--agents", "*");
  expect([stored.code, stored.stdout]).toEqual([0, expect.stringContaining("chatgpt.com:443")]);
  expect(stored.stdout).not.toContain(TOKEN);
  expect((await logins()).stdout).toContain("codex");
  expect((await logins("remove", "codex")).code).toBe(0);
});
