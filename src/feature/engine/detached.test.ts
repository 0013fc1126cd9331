/**
 * The executable with files that are carried to an engine over SSH, if there is an SSH server. Steps follow one another
 * although the server is killed in the middle of one.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DockerClient } from "../../adapter/docker.ts";
import { type CrashRun, layOut } from "../../testing/crash/crash-pipeline.ts";
import { readEvents } from "../../testing/crash/event-reader.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import { hasSshd, openSshHost } from "../../testing/ssh-host.ts";
import type { Run, Step } from "../runs/model.ts";

const docker = await dockerForTests(process.env);
const calls = (...all: [tool: string, input: object][]) => ({
  tool_calls: all.map(([tool, input]) => ({ tool, input })),
});
const complete = calls(["complete", { outputs: {}, summary: "done" }]);
const RUN: CrashRun = {
  id: "carried",
  steps: [
    { id: "make", agent: "noter", needs: [], input: "Make" },
    { id: "check", agent: "noter", needs: ["make"], input: "Check" },
  ],
  script: {
    version: 1,
    steps: {
      make: [
        calls(
          ["bash", { command: "echo one > a; mkdir d; ln -s ../a d/link" }],
          ["write", { path: "d/b", content: "by tool\n" }],
        ),
        complete,
      ],
      check: [
        calls(["bash", { command: "cat d/link d/b > seen; rm d/b" }]),
        calls(["bash", { command: "echo begun; sleep 600" }]),
        calls(["bash", { command: "ls -A > left" }]),
        complete,
      ],
    },
  },
};

describe.skipIf(!docker)("a server whose engine does not see its folders", () => {
  const engine = docker as DockerClient;
  const data = mkdtempSync(join(tmpdir(), "skep-detached-"));
  const far = docker && hasSshd() ? openSshHost() : undefined;
  const address = docker?.address.replace("unix://", far ? "ssh://far" : "unix://") ?? "";
  let server: TestServer;
  const start = async () => {
    const image = await testImage(engine);
    const env = { SANDBOX: "docker", SANDBOX_WORKSPACE: "detached", AGENT_IMAGE: image, IMAGE_PULL: "false" };
    const ways = { DOCKER_HOST: address, ...far?.env };
    server = await startServer({ data, env: { DEMO_SCRIPT: layOut(data, RUN), ...ways, ...env } });
  };
  beforeAll(start);
  afterAll(async () => {
    await server?.stop();
    far?.close();
    rmSync(data, { recursive: true, force: true });
  });

  test("keeps what steps leave, also when it is killed in the middle of a command, and leaves nothing on the engine", async () => {
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const follow = () =>
      readEvents(server.url, 0, (event) => {
        if (event.kind === "agent_output" && JSON.stringify(event.data).includes("begun\\n")) begun.resolve();
        if (event.kind === "run_complete") ended.resolve();
      });
    const before = follow();
    const { body } = await server.request<Run>("POST", "/v1/runs", {
      body: { pipeline_id: RUN.id, task_description: "x" },
    });
    await begun.promise;
    before.close();
    const rows = await engine.containers.list(["skep.execution", `skep.run=${body.id}`]);
    const instance = rows[0]!.labels["skep.instance"]!;
    const volumes = async () => (await engine.volumes.list([`skep.instance=${instance}`])).map(({ name }) => name);
    const first = await volumes();
    expect(first).toHaveLength(1);
    await server.stop("SIGKILL");
    await start();
    const doctor = await server.request<{ checks: { name: string; detail: string }[] }>("GET", "/v1/doctor");
    expect(JSON.stringify(doctor.body)).toContain("carried to the engine and back");
    expect(JSON.stringify(doctor.body)).toContain(`answers at ${address}`);
    const after = follow();
    await ended.promise;
    after.close();
    const { body: steps } = await server.request<{ items: Step[] } & Step[]>("GET", `/v1/steps/${body.id}`);
    expect(JSON.stringify(steps)).not.toContain('"failed"');
    const workspace = join(data, "workspaces", body.id);
    expect(readdirSync(workspace).sort()).toEqual(["a", "d", "left", "seen"]);
    expect(readFileSync(join(workspace, "seen"), "utf8")).toBe("one\nby tool\n");
    expect(readFileSync(join(workspace, "left"), "utf8")).toBe("a\nd\nleft\nseen\n");
    expect([readdirSync(join(workspace, "d")), readlinkSync(join(workspace, "d/link"))]).toEqual([["link"], "../a"]);
    expect((await volumes()).filter((name) => first.includes(name))).toEqual([]);
    await server.stop();
    expect(await volumes()).toEqual([]);
    expect(await engine.containers.list([`skep.instance=${instance}`])).toEqual([]);
  }, 300_000);
});
