/** The demo and Ctrl-C for new users: on a machine where nothing is set up, and with a model of their own. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { skep, temporaryFolder } from "../testing/command.ts";
import { dockerForTests, testImage } from "../testing/docker-image.ts";
import { skepCommand } from "../testing/server.ts";
import { pickModel } from "./model-choice.ts";

setDefaultTimeout(300_000);

const docker = await dockerForTests(process.env);
const folder = temporaryFolder();
afterAll(folder.remove);
/** The demo's own transcript, without its pauses. */
const quick = join(folder.path, "quick.yml");
writeFileSync(
  quick,
  readFileSync(join(import.meta.dir, "demo-script.yml"), "utf8").replace(/^ +(delay_ms|chunk):.*\n/gm, ""),
);
const env = { SANDBOX: "process", DEMO_SCRIPT: quick };

interface Result {
  run: { status: string; branch: string | null; cost_usd: number; model: string | null };
  url: string;
  sandbox: string;
  model: string | null;
  hello: string | null;
}
const resultOf = (stdout: string): Result => JSON.parse(stdout.trim().split("\n").at(-1)!) as Result;

describe("skep demo", () => {
  test("with nothing set up: says where it works and which model plays, shows steps, result, cost and address, ends with 0", async () => {
    const at = join(folder.path, "plain");
    const { code, stdout, stderr } = await skep(["demo", "--folder", at], { env: { SANDBOX: "process" } });
    expect(stderr).toBe("");
    expect(code).toBe(0);
    for (const said of [
      /^Server {6}http:\/\/127\.0\.0\.1:\d+$/m,
      /^Sandbox {5}process, as SANDBOX says$/m,
      /^Model {7}demo\/scripted, a fixed transcript and no AI/m,
      /✔ look\n[\s\S]*✔ greet\n[\s\S]*✔ check\n/,
      /^succeeded: run_\w+\n[\s\S]*^ {2}branch: run\/run_\w+$/m,
      /^ {2}cost: \$0\.00, \d+ tokens$/m,
      /bell\.sh:\d+:# TODO: after 22 o'clock/,
    ])
      expect(stdout).toMatch(said);
    expect(readdirSync(at).sort()).toEqual(["data", "repository", "transcript.yml"]);
  });

  test("again over the same folder makes another run, on a branch of its own", async () => {
    const at = join(folder.path, "plain");
    const branches = () =>
      Bun.spawnSync(["git", "for-each-ref", "--format=%(refname:short)", "refs/heads/run"], {
        cwd: join(at, "data/projects", readdirSync(join(at, "data/projects"))[0]!, "git"),
      })
        .stdout.toString()
        .split("\n")
        .filter(Boolean);
    const before = branches();
    const { code, stdout } = await skep(["demo", "--json", "--folder", at], { env });
    expect(code).toBe(0);
    expect(before).toHaveLength(1);
    expect(branches()).toEqual(expect.arrayContaining([...before, resultOf(stdout).run.branch!]));
    expect(branches()).toHaveLength(2);
  });

  test("without git it works in an empty folder and says so", async () => {
    const at = join(folder.path, "no-git");
    const { code, stdout } = await skep(["demo", "--folder", at], {
      env: { SANDBOX: "process", PATH: "/nonexistent" },
    });
    expect(code).toBe(0);
    expect(stdout).toContain("Repository  none: git is not installed; the agents work in an empty folder");
    expect(stdout).toContain("# Hello from Skep");
  });

  test.skipIf(!docker)(
    "where a container engine answers, the agents work in its containers and run the sample's own test",
    async () => {
      const at = join(folder.path, "docker");
      const inside = {
        DEMO_SCRIPT: quick,
        AGENT_IMAGE: await testImage(docker!),
        DOCKER_HOST: process.env["DOCKER_HOST"] ?? "",
      };
      const { code, stdout } = await skep(["demo", "--folder", at], { env: inside });
      expect(stdout).toContain(`Sandbox     docker, in containers of ${inside.AGENT_IMAGE}`);
      expect(stdout).toContain("24 hours greeted");
      expect(code).toBe(0);
    },
  );

  test("a container engine that does not answer does not stop it", async () => {
    const at = join(folder.path, "no-engine");
    const away = { DOCKER_HOST: "unix:///nonexistent/engine.sock", DEMO_SCRIPT: quick };
    const { code, stdout } = await skep(["demo", "--json", "--folder", at], { env: away });
    expect(code).toBe(0);
    expect(resultOf(stdout)).toMatchObject({ sandbox: "process", run: { status: "succeeded" } });
  });

  describe("with a server of models in the environment", () => {
    let ollama: ReturnType<typeof Bun.serve>;
    const asked: string[] = [];
    beforeAll(() => {
      ollama = Bun.serve({
        port: 0,
        hostname: "127.0.0.1",
        fetch(request) {
          const { pathname } = new URL(request.url);
          asked.push(pathname);
          if (pathname === "/api/tags")
            return Response.json({
              models: ["nomic-embed-text:latest", "qwen3:8b"].map((name) => ({ name, model: name })),
            });
          if (pathname === "/api/show") return Response.json({ capabilities: ["completion", "tools"], model_info: {} });
          return Response.json({ error: { message: "the model is on holiday" } }, { status: 400 });
        },
      });
    });
    afterAll(() => ollama.stop(true));

    test("it uses a model that the server lists, and a failure of it is exit code 1 with the way out", async () => {
      const at = join(folder.path, "ollama");
      const there = { ...env, OLLAMA_BASE_URL: `http://127.0.0.1:${ollama.port}` };
      const { code, stdout } = await skep(["demo", "--folder", at], { env: there });
      expect(stdout).toContain("Model       ollama/qwen3:8b, which Ollama lists");
      expect(asked).toContain("/api/chat");
      expect(code).toBe(1);
      expect(stdout).toMatch(/Without a model: \S*skep demo --model demo\/scripted/);
    });

    test("one that does not answer is named, and the scripted model plays", async () => {
      const at = join(folder.path, "away");
      const away = { ...env, OLLAMA_BASE_URL: "http://127.0.0.1:9" };
      const { code, stdout } = await skep(["demo", "--folder", at], { env: away });
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Model {7}demo\/scripted, a fixed transcript and no AI \(Ollama: .+\)$/m);
    });
  });

  test("of what a provider lists, a small recent model that takes tools is preferred, and none made for other uses", () => {
    const all = (ids: string[]) => ids.map((id) => ({ id, tools: true }));
    expect(pickModel(all(["a/claude-opus-5", "a/claude-3-haiku", "a/claude-haiku-4-5"]))).toBe("a/claude-haiku-4-5");
    expect(pickModel(all(["o/gpt-4o-mini", "o/gpt-5-mini", "o/gpt-5", "o/gpt-4o-mini-tts"]))).toBe("o/gpt-5-mini");
    expect(pickModel(all(["g/gemini-2.5-flash-lite", "g/gemini-2.5-flash", "g/gemini-2.5-pro"]))).toBe(
      "g/gemini-2.5-flash",
    );
    expect(pickModel(all(["x/text-embedding-3"]))).toBeUndefined();
    expect(
      pickModel([
        { id: "a/qwen3", tools: false },
        { id: "a/foo", tools: true },
      ]),
    ).toBe("a/foo");
  });
});

describe("Ctrl-C on a run with --private", () => {
  test("cancels the run, exits with 130 and removes the server's address", async () => {
    const data = join(folder.path, "interrupted");
    const child = Bun.spawn(skepCommand("run", "hello", "Greet me", "--private", "--data", data), {
      env: { PATH: process.env["PATH"] ?? "", SANDBOX: "process" },
      stdout: "pipe",
      stderr: "pipe",
      stdin: "ignore",
    });
    let said = "";
    const decoder = new TextDecoder();
    for await (const chunk of child.stdout) {
      const before = said;
      said += decoder.decode(chunk, { stream: true });
      if (!before.includes("▶ look") && said.includes("▶ look")) child.kill("SIGINT");
    }
    expect(await child.exited).toBe(130);
    expect(said).toMatch(/^cancelled: run_/m);
    expect(existsSync(join(data, "server.json"))).toBe(false);
  });
});
