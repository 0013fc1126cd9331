/** `skep init` as a new user meets it: a model server on loopback, a repository that is merged in the end, a terminal. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../../testing/command.ts";
import { createLocalModelServer } from "../../testing/local-model-server.ts";
import { createModelServer, type ModelServer, reply } from "../../testing/model-server.ts";
import { skepCommand, startServer } from "../../testing/server.ts";
import { openTerminal } from "../../testing/terminal.ts";

setDefaultTimeout(300_000);

const KEY = "sk-canary-0123456789abcdef";
const tool = (name: string, input: Record<string, unknown>) =>
  reply({ toolCalls: [{ id: `call_${name}`, name, input }] });
const complete = (outputs: Record<string, unknown>) => tool("complete", { outputs, summary: "Done." });
/** The model's replies for the pipeline hello, step by step. */
const HELLO = [
  complete({ summary: "A bell." }),
  tool("write", { path: "HELLO.md", content: "# Hello\n" }),
  complete({ file: "HELLO.md" }),
  complete({ verdict: "approved", feedback: "" }),
];

let models: ModelServer;
beforeAll(async () => {
  models = await createModelServer();
  models.get("/v1/models", { data: ["text-embedding-3", "qwen3-small", "qwen3-large"].map((id) => ({ id })) });
});
afterAll(() => models.stop());

let folder: ReturnType<typeof temporaryFolder>;
let home: string;
let repository: string;
let env: Record<string, string>;
const git = (...args: string[]) =>
  Bun.spawnSync(["git", "-c", "user.name=A", "-c", "user.email=a@example.test", ...args], { cwd: repository });
beforeEach(() => {
  folder = temporaryFolder();
  home = join(folder.path, "home");
  repository = join(folder.path, "bell");
  for (const path of [home, repository]) mkdirSync(path);
  env = { HOME: home, SANDBOX: "process", PORT: "0", OLLAMA_BASE_URL: "http://127.0.0.1:9" };
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "Begin");
  models.requests.length = 0;
});
afterEach(() => folder.remove());
const lab = () => ["--provider", "custom-lab", "--base-url", `${models.origin}/v1`, "--key"];

describe("skep init without a terminal", () => {
  test("from an empty home to a run whose work is merged; nothing lands in the repository by itself", async () => {
    models.next(...HELLO);
    const { code, stdout, stderr } = await skep(["init", ...lab()], { env, cwd: repository, stdin: KEY });
    expect([code, stderr]).toEqual([0, ""]);
    for (const said of [
      /^Server {6}http:\/\/127\.0\.0\.1:\d+, started for this; its data is in .*\/home\/\.local\/share\/skep$/m,
      /^Provider {4}custom-lab answers, 3 models$/m,
      /^Model {7}custom-lab\/qwen3-small$/m,
      /^Project {5}bell: cloned from .*\/bell$/m,
      /^succeeded: run_\w+$/m,
      /^ {2}branch: run\/run_\w+$/m,
      /skep run feature "Add …" --project bell --follow/,
    ])
      expect(stdout).toMatch(said);
    expect(stdout).not.toContain(KEY);
    expect(new Set(models.requests.map(({ headers }) => headers["authorization"]))).toEqual(new Set([`Bearer ${KEY}`]));
    expect(readdirSync(repository)).toEqual([".git"]);
    const [, fetch = ""] = /^ {6}(git fetch .*)$/m.exec(stdout) ?? [];
    expect(Bun.spawnSync(["sh", "-c", fetch], { cwd: repository, stderr: "ignore" }).exitCode).toBe(0);
    expect(readFileSync(join(repository, "HELLO.md"), "utf8")).toBe("# Hello\n");
  });

  test("a second time it finds what is there: the model in force, the project, and asks for nothing", async () => {
    models.next(...HELLO, ...HELLO);
    await skep(["init", ...lab(), "--no-run"], { env, cwd: repository, stdin: KEY });
    const { code, stdout } = await skep(["init", "--yes", "--json"], { env, cwd: repository });
    expect(code).toBe(0);
    const result = JSON.parse(stdout);
    expect(result).toMatchObject({ model: "custom-lab/qwen3-small", project: "bell", run: { status: "succeeded" } });
  });

  test("the repository is added to a server that runs already; one that clones no paths says how it would", async () => {
    const servers = await Promise.all([startServer(), startServer({ env: { ALLOW_LOCAL_REPOSITORIES: "false" } })]);
    const [added = "", refused] = await Promise.all(
      servers.map(async ({ url }) => {
        const args = ["init", "--provider", "demo", "--no-run", "--url", url];
        return (await skep(args, { env, cwd: repository })).stdout;
      }),
    );
    await Promise.all(servers.map((server) => server.remove()));
    expect(added).toMatch(/^Project {5}bell: cloned from .*\/bell$/m);
    expect(refused).toMatch(/^Project {5}none: .*start it with ALLOW_LOCAL_REPOSITORIES=true/m);
  });

  test("a wrong key stores nothing, and a missing key is reported before the provider is asked", async () => {
    const strict = await createModelServer();
    strict.get("/v1/models", { error: { message: "bad key" } }, 401);
    const args = ["init", "--provider", "openai", "--base-url", `${strict.origin}/v1`, "--no-run"];
    const wrong = await skep(args, { env, cwd: repository, stdin: KEY });
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/refused the key .*Nothing was stored/)]);
    expect(wrong.stderr + wrong.stdout).not.toContain(KEY);
    const asked = strict.requests.length;
    const none = await skep(args, { env, cwd: repository });
    expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("key of OpenAI is empty")]);
    expect(strict.requests).toHaveLength(asked);
    await strict.stop();
  });

  test("where no model answers it names the flags; with demo a scripted run needs no provider", async () => {
    const nobody = await skep(["init"], { env, cwd: repository });
    expect([nobody.code, nobody.stderr]).toEqual([2, expect.stringMatching(/--provider anthropic --key-env/)]);
    const demo = await skep(["init", "--provider", "demo", "--no-project"], { env, cwd: home });
    expect([demo.code, demo.stdout]).toEqual([0, expect.stringMatching(/^succeeded: run_/m)]);
  });

  test("an Ollama that runs here is found, and the window that it serves is said where it is too small", async () => {
    const ollama = createLocalModelServer("ollama");
    const there = { ...env, OLLAMA_BASE_URL: ollama.origin };
    const { code, stdout } = await skep(["init", "--no-run", "--no-project"], { env: there, cwd: home });
    ollama.stop();
    expect([code, stdout]).toEqual([0, expect.stringContaining("Model       ollama/qwen3:8b")]);
    expect(stdout).toContain(
      "Window      4,096: too small for agents; set: skep models set ollama/qwen3:8b --window 32k",
    );
  });

  test("--harness makes an agent that an external agent drives, once; a name that is none is refused before anything", async () => {
    const demo = ["init", "--provider", "demo", "--no-project", "--no-run"];
    const wrong = await skep([...demo, "--harness", "teapot"], { env, cwd: home });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("There are: builtin, opencode, codex")]);
    expect(existsSync(join(home, ".local/share/skep"))).toBe(false);
    const made = await skep([...demo, "--harness", "codex"], { env, cwd: home });
    expect(made.code).toBe(0);
    expect(made.stdout).toMatch(/^Agent {7}codex, driven by codex$/m);
    expect(made.stdout).toContain("skep image build --harness codex");
    const again = await skep([...demo, "--harness", "codex", "--json"], { env, cwd: home });
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ agent: "codex" });
  });

  test("a folder that is not a repository gets no project, and one that is named must be one", async () => {
    const args = ["init", ...lab(), "--no-run"];
    const none = await skep(args, { env, cwd: home, stdin: KEY });
    expect([none.code, none.stdout]).toEqual([
      0,
      expect.stringContaining("Project     none: this folder is not a git"),
    ]);
    const named = await skep([...args, "--project", home], { env, cwd: home, stdin: KEY });
    expect([named.code, named.stderr]).toEqual([2, expect.stringContaining("is not a git repository")]);
  });
});

describe("skep init at a terminal", () => {
  test("asks for provider, key, model and repository; the key is not shown, and a wrong one is asked for again", async () => {
    models.next(...HELLO);
    const picky = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request) {
        const right = request.headers.get("authorization") === `Bearer ${KEY}`;
        if (!right) return Response.json({ error: { message: "bad key" } }, { status: 401 });
        const url = new URL(request.url);
        return fetch(`${models.origin}${url.pathname}`, {
          method: request.method,
          headers: request.headers,
          body: request.body,
        });
      },
    });
    const command = skepCommand(
      ...["init", "--provider", "openai", "--base-url", `http://127.0.0.1:${picky.port}/v1`],
      ...["--harness", "builtin"],
    );
    const terminal = openTerminal(command, { columns: 100, rows: 60, env, cwd: repository });
    await terminal.shows(/Key of OpenAI:/);
    terminal.type("sk-wrong-canary\r");
    await terminal.shows(/refused the key[\s\S]*Key of OpenAI:/);
    terminal.type("sk with a canary blank\r");
    await terminal.shows(/A key is one word[\s\S]*Key of OpenAI:/);
    terminal.type("\r");
    await terminal.shows(/The key is empty[\s\S]*Key of OpenAI:/);
    terminal.type(`${KEY}\r`);
    await terminal.shows(/Model \[1\]:/);
    terminal.type("openai/qwen3-large\r");
    await terminal.shows(/Add the repository .* as a project\? \[Y\/n\]/);
    terminal.type("y\r");
    await terminal.shows(/Leave the server running here\? \[Y\/n\]/);
    terminal.type("n\r");
    expect(await terminal.exited).toBe(0);
    expect(terminal.readOutput()).not.toMatch(/canary/);
    expect(terminal.text()).toMatch(/^Model {7}openai\/qwen3-large$/m);
    expect(terminal.text()).toMatch(/✔ look[\s\S]*✔ greet[\s\S]*✔ check[\s\S]*succeeded: run_/);
    await picky.stop(true);
  });

  test("a server of one's own: its address is asked for until it answers, and its key when it wants one", async () => {
    const strict = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) =>
        request.headers.get("authorization") === `Bearer ${KEY}`
          ? Response.json({ data: [{ id: "qwen3-small" }] })
          : Response.json({ error: { message: "no key" } }, { status: 401 }),
    });
    const options = { columns: 120, rows: 80, env, cwd: home };
    const command = skepCommand("init", "--no-run", "--no-project", "--harness", "builtin");
    const terminal = openTerminal(command, options);
    await terminal.shows(/Provider \[1\]:/);
    terminal.type("a teapot\r");
    await terminal.shows(/There is no "a teapot" here[\s\S]*Provider \[1\]:/);
    terminal.type("a server of your own that speaks OpenAI's protocol\r");
    await terminal.shows(/Address of the server \[http:\/\/127\.0\.0\.1:8080\/v1\]:/);
    terminal.type(`127.0.0.1:${strict.port}/v1\r`);
    await terminal.shows(/begins with http:\/\/ or https:\/\/[\s\S]*Is it http:\/\/127[\s\S]*Address of the server/);
    // A mistyped address where nothing answers.
    terminal.type("http://127.0.0.1:9/v1\r");
    await terminal.shows(/Address of the server \[http:\/\/127\.0\.0\.1:9\/v1\]:/);
    terminal.type(`http://127.0.0.1:${strict.port}/v1\r`);
    await terminal.shows(/custom-own wants a key[\s\S]*Key of custom-own:/);
    terminal.type("sk-wrong-canary\r");
    await terminal.shows(/refused the key[\s\S]*Key of custom-own:/);
    terminal.type(`${KEY}\r`);
    await terminal.shows(/Model \[1\]:/);
    terminal.type("\r");
    await terminal.shows(/Leave the server running here\? \[Y\/n\]/);
    terminal.type("n\r");
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toMatch(/^Model {7}custom-own\/qwen3-small$/m);
    expect(terminal.text()).not.toMatch(/\^\[|\\S|\\x21/);
    expect(terminal.readOutput()).not.toMatch(/canary/);
    await strict.stop(true);
  });

  test("a server of one's own that does not answer is stored nowhere: the next start asks again", async () => {
    const options = { columns: 120, rows: 60, env, cwd: home };
    for (const _ of [1, 2]) {
      const terminal = openTerminal(skepCommand("init", "--provider", "custom-own"), options);
      await terminal.shows(/Address of the server \[http:\/\/127\.0\.0\.1:8080\/v1\]:/);
      terminal.type("http://127.0.0.1:9/v1\r");
      await terminal.shows(/Address of the server \[http:\/\/127\.0\.0\.1:9\/v1\]:/);
      terminal.type("\x03");
      expect(await terminal.exited).toBe(130);
    }
    const args = ["init", "--provider", "custom-own", "--base-url", "localhost:8080", "--no-run"];
    const bad = await skep(args, { env, cwd: home });
    expect([bad.code, bad.stderr]).toEqual([
      2,
      "skep: --base-url: An address begins with http:// or https:// and has no spaces. Is it http://localhost:8080?\n",
    ]);
  });

  test("asks for the built-in agent or one that is installed here", async () => {
    const programs = join(folder.path, "programs");
    mkdirSync(programs);
    writeFileSync(join(programs, "codex"), "#!/bin/sh\n", { mode: 0o755 });
    const there = { ...env, PATH: `${programs}:${process.env["PATH"]}` };
    const command = skepCommand("init", "--provider", "demo", "--no-run", "--no-project");
    const terminal = openTerminal(command, { columns: 120, rows: 60, env: there, cwd: home });
    await terminal.shows(/Use the built-in agent, or one that is installed here\?[\s\S]*Agent \[1\]:/);
    terminal.type("codex\r");
    await terminal.shows(/Leave the server running here\? \[Y\/n\]/);
    terminal.type("n\r");
    expect(await terminal.exited).toBe(0);
    expect(terminal.text()).toMatch(/^Agent {7}codex, driven by codex$/m);
  });

  test("Ctrl-C at a question stops it, in one line, with nothing stored and no server left", async () => {
    const terminal = openTerminal(skepCommand("init"), { columns: 100, env, cwd: repository });
    await terminal.shows(/Provider \[1\]:/);
    terminal.type("\x03");
    expect(await terminal.exited).toBe(130);
    expect(terminal.text()).toMatch(/^skep: Stopped; nothing was changed\.$/m);
    expect(existsSync(join(home, ".local/share/skep/server.json"))).toBe(false);
  });

  test("Ctrl-C once the model is stored says that it stays; at the last question it means no", async () => {
    const flags = ["init", "--provider", "custom-lab", "--base-url", `${models.origin}/v1`, "--harness", "builtin"];
    const first = openTerminal(skepCommand(...flags), { columns: 100, env, cwd: repository });
    await first.shows(/Model \[1\]:/);
    first.type("\r");
    await first.shows(/as a project\? \[Y\/n\]/);
    first.type("\x03");
    expect(await first.exited).toBe(130);
    expect(first.text()).toMatch(/^skep: Stopped\. The model custom-lab\/qwen3-small stays set\./m);
    expect(first.text()).not.toContain("nothing was changed");
    const last = openTerminal(skepCommand(...flags, "--no-run", "--no-project"), {
      columns: 100,
      env,
      cwd: repository,
    });
    await last.shows(/Model \[1\]:/);
    last.type("\r");
    await last.shows(/Leave the server running here\? \[Y\/n\]/);
    last.type("\x03");
    expect(await last.exited).toBe(0);
    expect(last.text()).not.toContain("Stopped");
  });
});
