/** A50: a restored or copied data folder is a separate instance, which does nothing outside until it is activated. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { skep, temporaryFolder } from "../command.ts";
import { dockerForTests, testImage } from "../docker-image.ts";
import { startServer, type TestServer } from "../server.ts";
import { makeSlowAgent, SLOW, slowAgentScript } from "../slow-agent.ts";
import { readUntil, waitFor } from "./waiting.ts";

setDefaultTimeout(300_000);

const docker = await dockerForTests(process.env);
const folder = temporaryFolder();
const at = (...parts: string[]) => join(folder.path, ...parts);
const slow = slowAgentScript();
const servers: TestServer[] = [];
afterAll(async () => {
  for (const server of servers) await server.remove();
  slow.remove();
  folder.remove();
});
async function serve(options: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const server = await startServer(options);
  servers.push(server);
  return server;
}

function idOf(data: string): string {
  const db = new Database(join(data, "skep.db"), { readonly: true });
  const id = db.prepare<unknown[], string>("SELECT value FROM facts WHERE name = 'instance_id'").pluck().get();
  db.close();
  return id ?? "";
}
const standbyOf = async (server: TestServer) => (await server.request("GET", "/v1/status")).body["standby"];
const SINCE = expect.stringMatching(/^\d{4}-\d\d-\d\dT/);
async function restoreCopy(server: TestServer, name: string, ...flags: string[]): Promise<string> {
  const file = at(`${name}.tar.gz`);
  expect(await skep(["backup", file, "--data", server.data])).toMatchObject({ code: 0 });
  expect(await skep(["restore", file, "--data", at(name), ...flags])).toMatchObject({ code: 0 });
  return at(name);
}

/** A server that counts all requests and refuses them, so that what is sent remains to be sent. */
function openWorld() {
  const asked: string[] = [];
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      asked.push(new URL(request.url).pathname);
      return new Response(null, { status: 503 });
    },
  });
  return { asked, url: `http://127.0.0.1:${http.port}`, stop: () => http.stop(true) };
}

const GATE = { id: "gate", name: "Gate", steps: [{ id: "ask", approval: { message: "Ship it?" } }] };
const WORK = { id: "work", name: "Work", steps: [{ id: "work", agent: SLOW, input: "Work" }] };

describe("A50: a restored copy", () => {
  test("sends, starts and takes nothing until it is activated, then does all that waited", async () => {
    const world = openWorld();
    const env = {
      FETCH_ALLOW: "127.0.0.1",
      NOTIFY_ALLOW: "127.0.0.1",
      CODEHOST_WEBHOOK_SECRET: "w".repeat(32),
      ...slow.env,
    };
    const original = await serve({ env });
    const post = (path: string, body: unknown) => original.request<{ id: string }>("POST", path, { body });
    await makeSlowAgent(original, "");
    await post("/v1/pipelines", GATE);
    await post("/v1/pipelines", WORK);
    await post("/v1/notification-channels", { name: "ops", kind: "webhook", url: `${world.url}/hook` });
    await post("/v1/mcp", { id: "web", transport: "http", url: `${world.url}/mcp` });
    const routine = { name: "daily", instructions: "Look", schedule: "0 6 * * *" };
    await original.request("PUT", "/v1/agents/scribe/config", { body: { pulse_enabled: true } });
    const ticksAt = (await post("/v1/pulse-routines/scribe", routine)).headers.get("location");
    const work = (await post("/v1/runs", { pipeline_id: "work", task_description: "Work" })).body.id;
    await post("/v1/runs", { pipeline_id: "gate", task_description: "Ship" });
    await waitFor(() => world.asked.includes("/hook") && world.asked.includes("/mcp"), "what the original sends");
    const statusOf = async () => (await original.request("GET", `/v1/runs/${work}`)).body["status"];
    await waitFor(async () => (await statusOf()) === "running", "the run");
    const data = await restoreCopy(original, "waits");
    await original.stop();
    world.asked.length = 0;
    // Make everything due.
    const db = new Database(join(data, "skep.db"));
    db.exec(
      "UPDATE pulse_routines SET planned_at = planned_at - 86400000; UPDATE jobs SET run_at = 1 WHERE kind = 'notify'",
    );
    db.close();

    let copy = await serve({ data, env });
    expect(idOf(data)).not.toBe(idOf(original.data));
    expect(copy.output()).toContain("skep activate");
    expect(await standbyOf(copy)).toEqual(SINCE);
    const { findings } = (await copy.request<{ findings: { check: string }[] }>("GET", "/v1/doctor")).body;
    expect(findings).toContainEqual(
      expect.objectContaining({ check: "standby", verdict: "warn", remedy: expect.stringContaining("skep activate") }),
    );
    expect(await copy.request("POST", "/v1/codehost/webhooks", { body: {} })).toMatchObject({
      status: 503,
      body: { code: "standby", detail: expect.stringContaining("skep activate") },
    });
    // A person who starts something on the copy is told why nothing happens.
    const told = await skep(["run", "work", "Work"], { env: { SKEP_URL: copy.url } });
    expect([told.code, told.stderr]).toEqual([0, expect.stringContaining("skep activate")]);
    expect((await copy.request("GET", `/v1/runs/${work}`)).body["waiting_reason"]).toContain("skep activate");
    // A project that is added now is cloned once the copy is activated.
    const wanted = { name: "wanted", repository: `${world.url}/wanted.git` };
    expect((await copy.request("POST", "/v1/projects", { body: wanted })).status).toBe(201);
    // Internal work continues meanwhile. When the backup is done, the duties of a start have had their time.
    const job = (await copy.request<{ id: string }>("POST", "/v1/admin/backups")).body;
    const stateOf = async (id: string) => (await copy.request("GET", `/v1/jobs/${id}`)).body["state"];
    await waitFor(async () => (await stateOf(job.id)) === "succeeded", "the backup");
    await copy.stop();
    copy = await serve({ data, env });
    expect(await standbyOf(copy)).toEqual(SINCE);
    const ticks = async () =>
      (await copy.request<{ items: { status: string }[] }>("GET", `${ticksAt}/ticks`)).body.items.map(
        ({ status }) => status,
      );
    const waiting = async () => ({
      asked: [...world.asked],
      ticks: await ticks(),
      jobs: (await copy.request<{ items: { kind: string; state: string }[] }>("GET", "/v1/jobs")).body.items
        .filter(({ kind }) => kind !== "backup")
        .map(({ kind, state }) => `${kind} ${state}`)
        .sort(),
    });
    expect(await waiting()).toEqual({ asked: [], ticks: [], jobs: ["clone queued", "notify queued"] });

    const { code, stdout } = await skep(["activate", "--data", data]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("works from now on")]);
    expect(await standbyOf(copy)).toBeNull();
    const paths = ["/hook", "/mcp", "/wanted.git/info/refs"];
    await waitFor(() => paths.every((path) => world.asked.includes(path)), "what waited");
    // The engine works, too: the latest missed time is made up for.
    const worked = /^(running|succeeded|failed)$/;
    const [newest] = await readUntil(ticks, ([newest = ""]) => worked.test(newest));
    expect(newest).toMatch(worked);
    expect((await skep(["activate", "--data", data])).code).toBe(0);
    const { items } = (await copy.request<{ items: unknown[] }>("GET", "/v1/admin/audit?action=instance")).body;
    expect(items).toMatchObject([{ action: "instance.activated", subject: idOf(data) }]);
    const id = idOf(data);
    await copy.stop();
    copy = await serve({ data, env });
    expect([await standbyOf(copy), idOf(data)]).toEqual([null, id]);
    await copy.stop();
    world.stop();
  });

  test("that takes the original's place works at once, under an id of its own", async () => {
    const original = await serve();
    const data = await restoreCopy(original, "instead", "--activate");
    await original.stop();
    const copy = await serve({ data });
    expect(await standbyOf(copy)).toBeNull();
    expect(idOf(data)).not.toBe(idOf(original.data));
  });
});

describe("A50: a data folder", () => {
  test("that was copied is noticed, one that was renamed or put into another folder is not taken for a copy", async () => {
    const original = await serve();
    const id = idOf(original.data);
    await original.stop();
    cpSync(original.data, at("copied"), { recursive: true });
    const copy = await serve({ data: at("copied") });
    expect(await standbyOf(copy)).toEqual(SINCE);
    expect(idOf(at("copied"))).not.toBe(id);
    const again = await serve({ data: original.data });
    expect([await standbyOf(again), idOf(original.data)]).toEqual([null, id]);
    await again.stop();
    renameSync(original.data, at("renamed"));
    const renamed = await serve({ data: at("renamed") });
    expect([await standbyOf(renamed), idOf(at("renamed"))]).toEqual([null, id]);
  });
});

describe.skipIf(!docker)("A50: with real containers", () => {
  test("a copy beside a running original leaves its containers alone, and makes its own when it is activated", async () => {
    const script = at("containers.json");
    const sleep = { tool: "bash", input: { command: "sleep 600", timeout_seconds: 600 } };
    writeFileSync(script, JSON.stringify({ version: 1, default: Array(5).fill({ tool_calls: [sleep] }) }));
    const env = { SANDBOX: "docker", AGENT_IMAGE: await testImage(docker!), DEMO_SCRIPT: script };
    const original = await serve({ env });
    const containers = async (data: string) =>
      (await docker!.containers.list([`skep.instance=${idOf(data)}`])).map((one) => one.id);
    const post = (path: string, body: unknown) => original.request("POST", path, { body });
    await post("/v1/agents", { id: "sleeper", prompt: "You sleep.", model: "demo/scripted" });
    await post("/v1/pipelines", { id: "sleep", name: "Sleep", steps: [{ id: "s", agent: "sleeper", input: "Sleep" }] });
    expect((await post("/v1/runs", { pipeline_id: "sleep", task_description: "Sleep" })).status).toBe(201);
    await waitFor(async () => (await containers(original.data)).length === 1, "the original's container");
    const own = await containers(original.data);
    const data = await restoreCopy(original, "beside");

    const copy = await serve({ data, env });
    // When it has looked at the engine and answers, its sweep is done.
    expect((await copy.request("GET", "/v1/doctor")).status).toBe(200);
    await copy.stop();
    const later = await serve({ data, env });
    expect([await containers(original.data), await containers(data)]).toEqual([own, []]);
    expect((await later.request("POST", "/v1/admin/activate")).status).toBe(204);
    await waitFor(async () => (await containers(data)).length === 1, "the copy's container");
    expect(await containers(original.data)).toEqual(own);
    await later.stop();
    expect([await containers(original.data), await containers(data)]).toEqual([own, []]);
    await original.stop();
    expect(await containers(original.data)).toEqual([]);
  });
});
