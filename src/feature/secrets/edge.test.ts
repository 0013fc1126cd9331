/** A secret that is bound to a host, in a run: the host receives it, and the sandbox never holds it. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAuthority } from "../../adapter/egress/certificate.ts";
import { hasBrowser, openBrowser } from "../../testing/browser.ts";
import { skep } from "../../testing/command.ts";
import { searchMemory } from "../../testing/container-bytes.ts";
import { visit } from "../../testing/dashboard/visitor.ts";
import { dockerForTests } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { programImage } from "../../testing/git-image.ts";
import { isRoot, lacks } from "../../testing/parts.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Run } from "../runs/model.ts";
import type { Secret } from "./model.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);
const CANARY = `canary-${crypto.randomUUID()}`;

describe.skipIf(!docker || lacks("openssl", Bun.which("openssl") !== null))("a secret that is bound to a host", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-edge-"));
  const authority = createAuthority(Date.now());
  let server: TestServer;
  let host: Server;
  let port: number;
  const got: string[] = [];
  const call = async <T>(method: string, path: string, body?: unknown) => {
    const answer = await server.request<T>(method, path, { body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  beforeAll(async () => {
    host = createServer(authority.issue("localhost"), (request, answer) => {
      got.push(`${request.url} ${request.headers.authorization ?? "none"}`);
      answer.end(`you said ${request.headers.authorization}\n`);
    });
    await new Promise<void>((done) => host.listen(0, "127.0.0.1", done));
    port = (host.address() as AddressInfo).port;
    writeFileSync(join(folder, "ca.pem"), authority.pem);
    const head = `GET /x HTTP/1.1\\r\\nHost: localhost:${port}\\r\\nConnection: close\\r\\n\\r\\n`;
    const client = `openssl s_client -proxy 127.0.0.1:\${https_proxy##*:} -connect localhost:${port} -servername localhost -CAfile "$SSL_CERT_FILE" -verify_return_error -quiet`;
    const command = [
      `printf '${head}' | ${client} > answer.txt 2> error.txt`,
      'echo "$TOKEN" > token.txt; cat /proc/[0-9]*/environ > environ.txt 2>/dev/null',
      "grep -rl 'canary-[0-9a-f]' /tmp /home /run /etc /workspace > found.txt 2>/dev/null",
      ": > ready; while [ ! -f go ]; do sleep 0.1; done",
      `[ ! -f again ] || { printf '${head}' | ${client} > second.txt 2> error.txt; : > asked; while [ ! -f last ]; do sleep 0.1; done; printf '${head}' | ${client} > third.txt 2> error.txt; }`,
    ].join("; ");
    const script = {
      version: 1,
      default: [
        { tool_calls: [{ tool: "bash", input: { command } }] },
        { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "done" } }] },
      ],
    };
    writeFileSync(join(folder, "script.json"), JSON.stringify(script));
    server = await startServer({
      env: {
        SANDBOX: "docker",
        AGENT_IMAGE: await programImage(docker!, "openssl"),
        FETCH_ALLOW: "localhost",
        DEMO_SCRIPT: join(folder, "script.json"),
        NODE_EXTRA_CA_CERTS: join(folder, "ca.pem"),
      },
    });
    await call("POST", "/v1/agents", { id: "ann", prompt: "Work.", network: { allow: [`localhost:${port}`] } });
    const steps = [{ id: "only", agent: "ann", input: "Do it." }];
    await call("POST", "/v1/pipelines", { id: "p", name: "P", defaults: { model: "demo/scripted" }, steps });
  });
  afterAll(async () => {
    await server.remove();
    host.closeAllConnections();
    host.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test("the host gets it; the container's environment, files, description and memory never hold it", async () => {
    const set = await skep(
      ["secrets", "set", "TOKEN", "--to", `localhost:${port}`, "--grant", "ann", "--data", server.data],
      { stdin: CANARY },
    );
    expect([set.code, set.stderr]).toEqual([0, ""]);
    const run = await call<Run>("POST", "/v1/runs", { pipeline_id: "p", task_description: "Ask" });
    const workspace = join(server.data, "workspaces", run.id);
    while (!existsSync(join(workspace, "ready"))) await Bun.sleep(50);
    const [container] = await docker!.containers.list([`skep.run=${run.id}`]);
    const description = await docker!.containers.inspect(container!.id);
    expect(JSON.stringify(description)).not.toContain(CANARY);
    if (isRoot) {
      const held = searchMemory(description.State.Pid, [CANARY, "put-in-by-skep"]);
      // The search does find what the sandbox's processes hold.
      expect(held["put-in-by-skep"]).not.toEqual([]);
      expect(held[CANARY]).toEqual([]);
    }
    writeFileSync(join(workspace, "go"), "");
    const frames = framesOf<{ kind: string }>(server, `/v1/events/stream?after=0&run_id=${run.id}`);
    await framesUntil(frames, ({ data }) => data.kind === "run_complete");
    expect(got).toEqual([`/x Bearer ${CANARY}`]);
    const text = (name: string) => readFileSync(join(workspace, name), "utf8");
    expect([text("error.txt"), text("answer.txt")]).toEqual([
      expect.any(String),
      expect.stringContaining(`you said Bearer ${"*".repeat(CANARY.length)}`),
    ]);
    expect([text("token.txt"), text("found.txt")]).toEqual(["put-in-by-skep\n", ""]);
    for (const name of readdirSync(workspace)) {
      const path = join(workspace, name);
      if (name !== ".skep") expect([name, readFileSync(path).includes(CANARY)]).toEqual([name, false]);
    }
    const { items } = await call<{ items: { action: string; data: object }[] }>("GET", "/v1/admin/audit?limit=20");
    const uses = items.filter(({ action }) => action === "secret.put_into_request");
    expect(uses).toMatchObject([{ data: { names: ["TOKEN"], host: `localhost:${port}` } }]);
    expect(await call<object>("GET", "/v1/secrets/agents/ann/env")).toEqual({});
  });

  test("a new value and a revoked grant count from the next connection on", async () => {
    got.length = 0;
    const run = await call<Run>("POST", "/v1/runs", { pipeline_id: "p", task_description: "Ask" });
    const workspace = join(server.data, "workspaces", run.id);
    const until = async (name: string) => {
      while (!existsSync(join(workspace, name))) await Bun.sleep(50);
    };
    await until("ready");
    const other = `canary-${crypto.randomUUID()}`;
    await call("PUT", "/v1/secrets/TOKEN", { value: other });
    for (const name of ["again", "go"]) writeFileSync(join(workspace, name), "");
    await until("asked");
    await call("DELETE", "/v1/secrets/TOKEN/grant/ann");
    writeFileSync(join(workspace, "last"), "");
    const frames = framesOf<{ kind: string }>(server, `/v1/events/stream?after=0&run_id=${run.id}`);
    await framesUntil(frames, ({ data }) => data.kind === "run_complete");
    // Without a secret for the host, the sandbox sees the host's own certificate, which it does not trust.
    expect(got).toEqual([`/x Bearer ${CANARY}`, `/x Bearer ${other}`]);
    const text = (name: string) => readFileSync(join(workspace, name), "utf8");
    expect([text("second.txt"), text("third.txt")]).toEqual([
      expect.stringContaining(`you said Bearer ${"*".repeat(other.length)}`),
      "",
    ]);
    await call("PUT", "/v1/secrets/TOKEN", { value: CANARY });
    await call("POST", "/v1/secrets/TOKEN/grant/ann");
    got.length = 0;
  });

  test("an agent whose network is no list has neither the value nor a variable, and its work says so", async () => {
    await call("PUT", "/v1/agents/ann/config", { network: "none" });
    const run = await call<Run>("POST", "/v1/runs", { pipeline_id: "p", task_description: "Ask" });
    const workspace = join(server.data, "workspaces", run.id);
    while (!existsSync(join(workspace, "ready"))) await Bun.sleep(50);
    writeFileSync(join(workspace, "go"), "");
    const frames = framesOf<{ kind: string; data: object }>(server, `/v1/events/stream?after=0&run_id=${run.id}`);
    const events = (await framesUntil(frames, ({ data }) => data.kind === "run_complete")).map(({ data }) => data);
    expect(JSON.stringify(events)).toContain("secrets bound to hosts, since its network is no list of hosts: TOKEN");
    expect(readFileSync(join(workspace, "token.txt"), "utf8")).toBe("\n");
    expect(got).toEqual([]);
  });

  test("a binding that cannot be meant is refused, and one is taken back", async () => {
    const edge = { hosts: ["x.test"], header: "Authorization", prefix: "Bearer " };
    for (const body of [
      { edge: { ...edge, hosts: [] } },
      { edge: { ...edge, hosts: ["*"] } },
      { edge: { ...edge, header: "Host" } },
      { edge: { ...edge, header: "a b" } },
      { edge: { ...edge, prefix: "a\r\nX: y" } },
      { edge: { ...edge, path: "no" } },
      { edge, value: "short" },
      { edge, value: "two\nlines-of-it" },
    ])
      expect([body, (await server.request("PUT", "/v1/secrets/TOKEN", { body })).status]).toEqual([body, 422]);
    const wrong = await skep(["secrets", "set", "TOKEN", "--path", "/x", "--data", server.data], {
      stdin: "other-value",
    });
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("go with --to")]);
    await call("PUT", "/v1/secrets/TOKEN", { edge });
    expect((await call<Secret>("GET", "/v1/secrets/TOKEN")).edge).toEqual(edge);
    const listed = await skep(["secrets", "--data", server.data]);
    expect(listed.stdout).toContain("x.test");
    await call("PUT", "/v1/secrets/TOKEN", { edge: null });
    expect(await call<object>("GET", "/v1/secrets/agents/ann/env")).toEqual({ TOKEN: CANARY });
  });

  test.skipIf(!hasBrowser())("the dashboard binds a secret to a host", async () => {
    const browser = await openBrowser();
    try {
      const { page, open, axe, faults } = await visit(browser, server.url);
      await open("/secrets");
      await page.getByText("TOKEN").first().click();
      await page.getByLabel("Only into requests to").fill("api.example.org, *.example.net:8443");
      expect(await axe()).toEqual([]);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("to api.example.org, *.example.net:8443 alone").waitFor();
      expect((await call<Secret>("GET", "/v1/secrets/TOKEN")).edge).toEqual({
        hosts: ["api.example.org", "*.example.net:8443"],
        header: "Authorization",
        prefix: "Bearer ",
      });
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
