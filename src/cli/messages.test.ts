/** Messages for wrong input use the user's own words, never a pattern, an internal path or one endless line. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../testing/command.ts";
import { createModelServer, type ModelServer, reply } from "../testing/model-server.ts";
import { startServer, type TestServer } from "../testing/server.ts";

setDefaultTimeout(300_000);

const folder = temporaryFolder();
let server: TestServer;
let models: ModelServer;
let env: Record<string, string>;
beforeAll(async () => {
  models = await createModelServer();
  models.get("/v1/models", { data: ["qwen3-small", "qwen3-large:latest"].map((id) => ({ id })) });
  server = await startServer();
  env = { HOME: folder.path, SKEP_URL: server.url };
  const base_url = `${models.origin}/v1`;
  await server.request("PUT", "/v1/settings/providers/custom-lab", { body: { base_url } });
  await server.request("POST", "/v1/settings/providers/custom-lab/test", { body: {} });
});
afterAll(async () => {
  await server.remove();
  await models.stop();
  folder.remove();
});

const readError = async (args: readonly string[], stdin = "") => (await skep(args, { env, stdin })).stderr;

describe("a refusal is a sentence about what was typed", () => {
  const KEY = /^skep: The key must be one word of letters, digits and signs[^\n\\^]*\.\n$/;
  const webhook = ["notifications", "add", "webhook", "w", "--address"];
  const rule = ["agents", "rules", "lead", "add", "--deny"];
  const routine = ["routines", "add", "lead", "Look", "--say", "Look."];
  test.each<[string, readonly string[], string, RegExp]>([
    ["a key with a blank", ["providers", "set", "openai", "--key"], "sk abc", KEY],
    ["an address", ["providers", "set", "custom-x", "--base-url", "foo"], "", /^skep: --base-url/],
    ["--every 0", [...routine, "--every", "0"], "", /^skep: --every takes a whole number from 1 to 44640\.\n$/],
    ["a time zone", [...routine, "--every", "5", "--timezone", "a b"], "", /--timezone must be a time zone such as/],
    [
      "--blackout 25:00",
      [...routine, "--every", "5", "--blackout", "25:00-26:00"],
      "",
      /^skep: --blackout must be a time/,
    ],
    ["a tool", [...routine, "--every", "5", "--tools", "hammer"], "", /^skep: --tools: There is no such tool/],
    [
      "a branch",
      ["projects", "add", "web", "--branch", "a b"],
      "",
      /^skep: --branch: This is not a usable branch name/,
    ],
    [
      "a project's pipeline",
      ["projects", "add", "web", "--pipeline", "none"],
      "",
      /^skep: --pipeline: There is no such/,
    ],
    ["a task without a word", ["run", "hello", ""], "", /^skep: The task must be text of at most \d+ characters/],
    ["an input", ["run", "hello", "Greet", "--input", "a=b"], "", /^skep: --input a: /],
    ["an address of a webhook", [...webhook, "ftp://x"], "", /^skep: --address: Must be an http or https address/],
    ["a timeout", ["mcp", "add", "x", "--timeout", "abc", "true"], "", /^skep: --timeout must be a number\.\n$/],
    ["a rule without tools", [...rule, ""], "", /^skep: --deny names no tool\./],
    ["a rule without a pattern", [...rule, "bash", "--matches", ""], "", /^skep: --matches is empty\./],
    [
      "a host",
      ["agents", "allow", "lead", "https://example.org/a"],
      "",
      /^skep: https:\/\/example\.org\/a: give one host or address/,
    ],
    ["a budget", ["run", "hello", "Greet", "--budget", "much"], "", /^skep: --budget must be a number\.\n$/],
    ["a key's end", ["keys", "create", "nightly", "--days", ""], "", /^skep: --days takes a number from 0 to 3650/],
    [
      "a key's scope",
      ["keys", "create", "nightly", "--scope", "rum"],
      "",
      /^skep: --scope must .*each one of read, runs, /,
    ],
    ["an empty scope", ["keys", "create", "nightly", "--scope", ""], "", /^skep: --scope must be a list/],
    ["an empty project", ["run", "hello", "Greet", "--project", ""], "", /^skep: --project is empty\./],
    ["a skill of no agent", ["skills", "add", "s", "--description", "d", "--agent", ""], "x", /agent/],
    ["--since", ["runs", "--since", "yesterday"], "", /^skep: --since: Must be a time/],
    ["a variable's name", ["secrets", "set", "a b"], "x", /^skep: name must be letters, digits and _, not a digit/],
  ])("%s", async (_name, args, stdin, pattern) => {
    expect(await readError(args, stdin)).toMatch(pattern);
  });

  test.each(["two\nlines", "two words", "schlüssel"])("a token that no request can carry: %j", async (token) => {
    const { code, stderr } = await skep(["runs"], { env: { ...env, SKEP_TOKEN: token } });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^skep: SKEP_TOKEN is no key: /)]);
  });

  // Each of these words is what another program calls the command.
  test.each<[string, RegExp]>([
    ["tasks add web x", /^skep: there is no command 'skep tasks add'\. Did you mean skep tasks create\b/],
    ["projects create web", /Did you mean skep projects add\b/],
    ["users rm ann@example.test", /Did you mean skep users delete\?/],
    ["runs cancel run_1", /Did you mean skep cancel\b/],
    ["pipelines show hello", /shows one without a word between: skep pipelines NAME\./],
    ["hosts frobnicate x", /^skep: there is no command 'skep hosts frobnicate'\. See: skep hosts --help\n$/],
  ])("a verb that is none: %s", async (typed, pattern) => {
    expect(await readError(typed.split(" "))).toMatch(pattern);
  });

  test("a token for notifications", async () => {
    const file = join(folder.path, "token");
    writeFileSync(file, "a b");
    const args = ["notifications", "add", "ntfy", "n", "--address", "http://ntfy.example.test/x", "--token-file", file];
    expect(await readError(args)).toMatch(/^skep: The token must be one word/);
  });

  test("several problems of a pipeline are a line each, with their places", async () => {
    const file = join(folder.path, "wrong.yml");
    writeFileSync(
      file,
      "id: wrong\nname: W\nsteps:\n  - { id: a, agent: nobody, input: x, nedes: [] }\n  - { id: a }\n",
    );
    const lines = (await readError(["pipelines", "save", file])).trimEnd().split("\n");
    expect(lines[0]).toMatch(/^skep: \d problems:$/);
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}Line \d, column \d+: /);
  });
});

describe("a model", () => {
  const run = (model: string) => readError(["run", "hello", "Greet me", "--model", model]);

  test("of a provider that there is not is refused, with how to add it", async () => {
    expect(await run("custom-own/nope")).toMatch(
      /There is no provider custom-own\. Add it: skep providers set custom-own/,
    );
    expect(await run("nope")).toContain("Write provider/model");
  });

  test("that its server does not list is refused with the nearest; one that it lists is taken", async () => {
    expect(await run("custom-lab/qwen3-smal")).toMatch(
      /has no model qwen3-smal\. Did you mean custom-lab\/qwen3-small/,
    );
    expect(await run("custom-lab/qwen3-large")).toBe("");
  });

  test("whose price nobody knows has no price, in the run and in the month, rather than $0.00", async () => {
    const outputs = { summary: "A bell.", file: "HELLO.md", verdict: "approved", feedback: "" };
    const complete = reply({
      toolCalls: [{ id: "call_1", name: "complete", input: { outputs, summary: "Done." } }],
      usage: { input: 10, output: 5 },
    });
    models.next(...Array.from({ length: 12 }, () => complete));
    const { stdout } = await skep(["run", "hello", "Greet me", "--model", "custom-lab/qwen3-small", "--follow"], {
      env,
    });
    expect(stdout).toMatch(/cost: no price, \d+ tokens/);
    const id = /run_\w+/.exec(stdout)![0];
    const [list, one] = [(await skep(["runs"], { env })).stdout, (await skep(["runs", id], { env })).stdout];
    expect(list).toMatch(new RegExp(`${id}.* no price `));
    expect(one).toMatch(/greet .* no price/);
    const step = await skep(["runs", id, "--json"], { env });
    expect(JSON.parse(step.stdout)).toMatchObject({ calls_without_price: expect.any(Number), cost_usd: 0 });
    const usage = (await skep(["usage"], { env })).stdout;
    expect(usage).toMatch(/custom-lab\S*.*no price/);
  });
});
