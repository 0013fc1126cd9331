/** The executable with three engines, one of them over SSH. One engine is killed while agents work on it. */
import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skep } from "../../testing/command.ts";
import { type CrashRun, layOut } from "../../testing/crash/crash-pipeline.ts";
import { readEvents } from "../../testing/crash/event-reader.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { canStartEngines, type OwnEngine, startEngine } from "../../testing/own-engine.ts";
import { lacks } from "../../testing/parts.ts";
import { startServer } from "../../testing/server.ts";
import { hasSshd, openSshHost } from "../../testing/ssh-host.ts";
import type { Host } from "../hosts/model.ts";
import type { Run } from "../runs/model.ts";

const near = await dockerForTests(process.env);
const isPossible = near !== undefined && hasSshd() && canStartEngines();
const RUNS = 12;

const runOf = (doomed: OwnEngine): CrashRun => {
  const command = `echo once >> made; grep -q ${doomed.mark} /proc/self/mountinfo && { echo doomed; sleep 600; }; echo end >> made`;
  const calls = (tool: string, input: object) => ({ tool_calls: [{ tool, input }] });
  // The agent is told that its sandbox was lost, and does the missing work again.
  const rest = "[ -e made ] || printf 'once\\nend\\n' > made; echo over >> made";
  const complete = calls("complete", { outputs: {}, summary: "done" });
  const script = [calls("bash", { command }), calls("bash", { command: rest }), complete];
  return {
    id: "spread",
    steps: [{ id: "make", agent: "noter", needs: [], input: "Make" }],
    script: { version: 1, steps: { make: script } },
  };
};

describe.skipIf(lacks("second Docker engine", isPossible))("a server with several engines", () => {
  const data = mkdtempSync(join(tmpdir(), "skep-hosts-"));
  const ends: (() => unknown)[] = [() => rmSync(data, { recursive: true, force: true })];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  test("ends all work though one of them is killed, none of it twice, and none on one that is drained", async () => {
    const [far, doomed] = await Promise.all([startEngine(), startEngine()]);
    const ssh = openSshHost();
    ends.push(far.close, doomed.close, ssh.close);
    const images = await Promise.all([near!, far.docker, doomed.docker].map(testImage));
    const hosts = [
      `far=ssh://far${far.socket} slots=4`,
      `doomed=unix://${doomed.socket} slots=4`,
      `${near!.address} slots=4 labels=spare`,
    ];
    const env = { SANDBOX: "docker", SANDBOX_WORKSPACE: "detached", AGENT_IMAGE: images[0]!, IMAGE_PULL: "false" };
    const ways = { DOCKER_HOSTS: hosts.join(", "), ...ssh.env, TMPDIR: tmpdir() };
    const server = await startServer({ data, env: { DEMO_SCRIPT: layOut(data, runOf(doomed)), ...env, ...ways } });
    ends.push(() => server.stop());
    const hostsNow = async () => (await server.request<{ items: Host[] }>("GET", "/v1/hosts")).body.items;
    const cli = (...args: string[]) => skep(["hosts", ...args, "--data", data]);
    expect(await cli("drain", "loc")).toMatchObject({ code: 0, stdout: "local gets no new work, and has none\n" });
    const begun = Promise.withResolvers<void>();
    const waits = Promise.withResolvers<unknown>();
    const ended = Promise.withResolvers<void>();
    const done: string[] = [];
    const events = readEvents(server.url, 0, (event) => {
      if (event.kind === "agent_output" && JSON.stringify(event.data).includes("doomed\\n")) begun.resolve();
      if (String(event.data["title"]).startsWith("Waits: No host")) waits.resolve(event.data["title"]);
      if (event.kind === "run_complete") done.push(event.run_id!);
      if (new Set(done).size === RUNS + 1) ended.resolve();
    });
    // It is no working tool server; the test only needs to see on which host it starts.
    const silent = {
      id: "silent",
      name: "silent",
      transport: "stdio",
      image: images[0],
      command: "sleep",
      args: ["600"],
    };
    expect((await server.request("POST", "/v1/mcp", { body: silent })).status).toBe(201);
    while ((await far.docker.containers.list(["skep.mcp_server"])).length === 0) await Bun.sleep(50);
    const agent = { id: "pinned", prompt: "Work.", host_labels: ["spare"] };
    const absent = await server.request("POST", "/v1/agents", { body: { ...agent, host_labels: ["spare", "gpu"] } });
    expect([absent.status, JSON.stringify(absent.body)]).toEqual([422, expect.stringContaining("local (spare)")]);
    await server.request("POST", "/v1/agents", { body: agent });
    const steps = [{ id: "make", agent: "pinned", input: "Make" }];
    await server.request("POST", "/v1/pipelines", { body: { id: "pinned", name: "Pinned", steps } });
    const pinnedBody = { pipeline_id: "pinned", task_description: "x" };
    const pinned = (await server.request<Run>("POST", "/v1/runs", { body: pinnedBody })).body.id;
    // The run's only possible host is drained.
    expect(await waits.promise).toMatch(/^Waits: No host can take the work now: local is drained\. It waits/);
    const body = { pipeline_id: "spread", task_description: "x" };
    const all = Array.from({ length: RUNS }, () => server.request<Run>("POST", "/v1/runs", { body }));
    const ids = (await Promise.all(all)).map((answer) => answer.body.id);
    await begun.promise;
    const doctor = async () => JSON.stringify((await server.request("GET", "/v1/doctor")).body);
    expect(await doctor()).toMatch(/far: answers, \d of 4 sandboxes.*doomed: answers/);
    const [, , drained] = await hostsNow();
    expect([drained!.name, drained!.state, drained!.used]).toEqual(["local", "drained", 0]);
    await doomed.kill();
    expect(await cli("enable", "local")).toMatchObject({ code: 0, stdout: "local gets work\n" });
    await ended.promise;
    events.close();
    expect(done.toSorted()).toEqual([...ids, pinned].toSorted());
    expect(await doctor()).toContain("doomed: Docker at unix://");
    expect((await hostsNow()).map(({ state }) => state)).toEqual(["ready", "away", "ready"]);
    const readMade = (id: string) => readFileSync(join(data, "workspaces", id, "made"), "utf8");
    expect(ids.map(readMade)).toEqual(ids.map(() => "once\nend\nover\n"));
    const used = await far.docker.volumes.list(["skep.copy"]);
    expect(used.length).toBeGreaterThan(0);
    await server.stop();
    expect(await far.docker.containers.list(["skep.execution"])).toEqual([]);
    expect(await far.docker.containers.list(["skep.mcp_server"])).toEqual([]);
    expect(await far.docker.volumes.list(["skep.copy"])).toEqual([]);
  }, 300_000);
});
