/** The shipped pipeline `feature` on a real repository, driven by published external agents. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/command.ts";
import { dockerForTests } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { harnessImage } from "../../testing/harness-image.ts";
import { startServer } from "../../testing/server.ts";

/**
 * opencode needs seconds to minutes for each step that it drives. `scripts/bench harness --feature` lets it drive all
 * steps.
 */
const isWhole = process.env["HARNESS_DRIVES"] === "everything";
setDefaultTimeout(isWhole ? 1_800_000 : 900_000);
const docker = await dockerForTests(process.env);
const folder = temporaryFolder();
afterAll(folder.remove);

const TEAM = ["lead", "architect", "engineer", "reviewer", "scribe"];
/** The agents that each program drives; opencode drives those that build and repair. */
const DRIVEN: Record<string, readonly string[]> = { opencode: isWhole ? TEAM : ["engineer"], codex: TEAM };

/** What a program calls to write a file in its workspace. */
const WRITES: Record<string, (text: string) => object> = {
  opencode: (text) => ({ tool: "write", input: { filePath: "/workspace/hello.txt", content: text } }),
  codex: (text) => ({ tool: "exec_command", input: { cmd: `printf %s '${text}' > hello.txt` } }),
};

/** The first build fails the project's check; the repair passes it. */
function scriptFor(write: (text: string) => object): object {
  const completes = (outputs: object) => ({ tool_calls: [{ tool: "complete", input: { outputs, summary: "done" } }] });
  const task = { title: "Greet", description: "Write hello.txt", done_when: "the check passes" };
  const built = { changed_files: ["hello.txt"], checked: "nothing" };
  return {
    version: 1,
    steps: {
      plan: [completes({ goal: "hello.txt greets", acceptance: ["it says hello"] })],
      design: [completes({ design: "One file.", tasks: [task] })],
      implement: [{ text: "I build it.", tool_calls: [write("wrong")] }, completes(built)],
      repair: [{ tool_calls: [write("hello")] }, completes({ changed_files: ["hello.txt"], answers: ["mended"] })],
      review: [completes({ verdict: "approved", findings: [], evidence: "it says hello" })],
      document: [completes({ changes: "none" })],
      summary: [completes({ summary: "Built." })],
    },
  };
}

const git = (at: string, ...args: string[]): string => {
  const identity = ["-c", "user.name=t", "-c", "user.email=t@example.test"];
  const ran = Bun.spawnSync(["git", ...identity, "-C", at, ...args]);
  if (ran.exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout.toString().trim();
};

test.skipIf(!docker).each(Object.keys(WRITES))(
  "%s builds, and repairs what the check found, on a branch of the repository",
  async (harness) => {
    const upstream = join(folder.path, harness);
    mkdirSync(upstream);
    git(upstream, "init", "-q", "-b", "main");
    writeFileSync(join(upstream, "README.md"), "# Greeter\n");
    git(upstream, "add", ".");
    git(upstream, "commit", "-qm", "first");
    const script = join(folder.path, `${harness}.json`);
    writeFileSync(script, JSON.stringify(scriptFor(WRITES[harness]!)));
    const image = await harnessImage(docker!);
    const env = { SANDBOX: "docker", DEMO_SCRIPT: script, ALLOW_LOCAL_REPOSITORIES: "true" };
    const server = await startServer({ env });
    try {
      const must = async <T>(method: string, path: string, body: object): Promise<T> => {
        const answer = await server.request<T>(method, path, { body });
        if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
        return answer.body;
      };
      for (const id of TEAM) {
        const driver = DRIVEN[harness]?.includes(id) ? harness : "builtin";
        const change = { harness: driver, image, model: "demo/scripted", network: "none", memory_mb: 1_024 };
        await must("PUT", `/v1/agents/${id}/config`, change);
      }
      const check = 'test "$(cat hello.txt)" = hello';
      await must("POST", "/v1/projects", { name: "greeter", repository: upstream, check });
      await framesUntil(framesOf(server, "/v1/events/stream?after=0&kinds=project_changed"), ({ data }) =>
        JSON.stringify(data).includes('"state":"ready"'),
      );
      const run = await must<{ id: string }>("POST", "/v1/runs", {
        pipeline_id: "feature",
        project_name: "greeter",
        task_description: "Greet.",
        inputs: { ask: "no" },
      });
      const path = `/v1/events/stream?run_id=${run.id}&after=0`;
      const frames = await framesUntil(framesOf(server, path), ({ event }) => /^run_(complete|failed)$/.test(event));
      const ended = await server.request<{ status: string; error: unknown; branch: string }>(
        "GET",
        `/v1/runs/${run.id}`,
      );
      expect(ended.body).toMatchObject({ status: "succeeded", error: null });
      const steps = frames.flatMap(({ event, data }) => (event === "step_complete" ? [data["step_id"]] : []));
      // The build step ends once for its task, and once as a whole.
      expect([...new Set(steps)]).toEqual([
        "plan",
        "design",
        "implement",
        "repair",
        "check",
        "review",
        "document",
        "summary",
      ]);
      const diff = await server.request<{ items: { path: string }[] }>("GET", `/v1/changes/${run.id}/diff`);
      expect(diff.body.items.map((item) => item.path)).toEqual(["hello.txt"]);
    } finally {
      await server.remove();
    }
  },
);
