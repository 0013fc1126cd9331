/**
 * An agent whose network is an allow-list, from its file to the run's page: what it reached, what was refused, and
 * allowing a host by one click.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { hasBrowser, openBrowser } from "../../testing/browser.ts";
import { skep } from "../../testing/command.ts";
import { visit } from "../../testing/dashboard/visitor.ts";
import { dockerForTests, testImage } from "../../testing/docker-image.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";
import type { Agent } from "../agents/model.ts";
import type { ProjectEnvironment } from "../environments/model.ts";
import type { Run } from "../runs/model.ts";
import type { EgressConnection } from "./model.ts";
import { hostsIn } from "./presets.ts";

setDefaultTimeout(300_000);
const docker = await dockerForTests(process.env);

/** A command that fetches a page through the proxy of the environment, with only busybox, and prints it. */
const fetchLine = (url: string) => {
  const { host } = new URL(url);
  return `p=\${http_proxy##*:}; rm -f /tmp/in; mkfifo /tmp/in; nc -w 20 127.0.0.1 $p < /tmp/in & exec 3> /tmp/in; printf 'GET ${url} HTTP/1.1\\r\\nHost: ${host}\\r\\nConnection: close\\r\\n\\r\\n' >&3; wait $!`;
};
/** Not every machine's loopback has an IPv6 address. */
const hasIpv6 = Object.values(networkInterfaces()).some((all) => all?.some(({ address }) => address === "::1"));
const bash = (command: string) => ({ tool: "bash", input: { command } });

describe.skipIf(!docker)("an agent with an allow-list", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-egress-"));
  let server: TestServer;
  let web: Server;
  let web6: Server;
  let port: number;
  let run: Run;
  const hits: string[] = [];
  const call = async <T>(method: string, path: string, body?: unknown) => {
    const answer = await server.request<T>(method, path, { body });
    if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  async function endOf(id: string): Promise<{ kind: string; data: Record<string, unknown> }[]> {
    const frames = framesOf<{ kind: string; run_id?: string; data: Record<string, unknown> }>(
      server,
      `/v1/events/stream?after=0&run_id=${id}`,
    );
    const read = await framesUntil(frames, ({ data }) => data.kind === "run_complete");
    return read.map(({ data }) => data);
  }
  beforeAll(async () => {
    const createPage = () =>
      createServer((request, answer) => {
        hits.push(`${request.headers.host} ${request.url}`);
        answer.end("the page\n");
      });
    [web, web6] = [createPage(), createPage()];
    await new Promise<void>((done) => web.listen(0, "127.0.0.1", done));
    port = (web.address() as AddressInfo).port;
    if (hasIpv6) await new Promise<void>((done) => web6.listen(port, "::1", done));
    const complete = { tool_calls: [{ tool: "complete", input: { outputs: {}, summary: "done" } }] };
    const script = {
      version: 1,
      agents: {
        six: [
          {
            tool_calls: [`[::1]:${port}`, `[::1]:${port + 1}`, `[::2]:${port}`].map((at) =>
              bash(fetchLine(`http://${at}/`)),
            ),
          },
          complete,
        ],
      },
      default: [
        {
          tool_calls: [
            bash(fetchLine(`http://localhost:${port}/allowed`)),
            bash(fetchLine("http://denied.example:8080/")),
            bash(fetchLine("http://denied.example:8080/again")),
          ],
        },
        complete,
      ],
    };
    writeFileSync(join(folder, "script.json"), JSON.stringify(script));
    server = await startServer({
      env: {
        SANDBOX: "docker",
        AGENT_IMAGE: await testImage(docker!),
        FETCH_ALLOW: "localhost,::1",
        DEMO_SCRIPT: join(folder, "script.json"),
      },
    });
    const network = { allow: [`localhost:${port}`, "npm"] };
    await call("POST", "/v1/agents", { id: "ann", prompt: "Work.", network });
    const steps = [{ id: "only", agent: "ann", input: "Do it." }];
    await call("POST", "/v1/pipelines", { id: "p", name: "P", defaults: { model: "demo/scripted" }, steps });
    run = await call<Run>("POST", "/v1/runs", { pipeline_id: "p", task_description: "Reach out" });
  });
  afterAll(async () => {
    await server.remove();
    for (const each of [web, web6]) {
      each.closeAllConnections();
      each.close();
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const connections = async (query = "") =>
    (await call<{ items: EgressConnection[] }>("GET", `/v1/runs/${run.id}/connections${query}`)).items;

  test("reaches what the list allows and nothing else; a refusal is an event, once for each host", async () => {
    const events = await endOf(run.id);
    expect(events.find(({ kind }) => kind === "run_complete")?.data).toMatchObject({ status: "succeeded" });
    expect(hits).toEqual([`localhost:${port} /allowed`]);
    const denied = events.filter(({ kind }) => kind === "egress_denied").map(({ data }) => data);
    expect(denied).toMatchObject([{ host: "denied.example", port: 8080, reason: "not_allowed" }]);
    expect(await connections()).toMatchObject([
      { host: "denied.example", verdict: "denied", reason: "not_allowed", sent_bytes: 0, agent_id: "ann" },
      { host: "denied.example", verdict: "denied" },
      { host: "localhost", port, verdict: "allowed", reason: null, received_bytes: 9 },
    ]);
    expect(await connections("?verdict=allowed&limit=1")).toHaveLength(1);
  });

  test("a step may narrow its agent's list, and never widen it", async () => {
    const steps = [
      { id: "narrow", agent: "ann", input: "Do it.", network: { allow: ["denied.example:8080"] } },
      { id: "closed", agent: "ann", input: "Do it.", network: "none" },
    ];
    await call("POST", "/v1/pipelines", { id: "narrow", name: "N", defaults: { model: "demo/scripted" }, steps });
    const before = hits.length;
    const narrow = await call<Run>("POST", "/v1/runs", { pipeline_id: "narrow", task_description: "Reach out" });
    await endOf(narrow.id);
    expect(hits.length).toBe(before);
    const all = (await call<{ items: EgressConnection[] }>("GET", `/v1/runs/${narrow.id}/connections`)).items;
    expect(all.map(({ host, verdict }) => `${host} ${verdict}`)).toEqual([
      "denied.example denied",
      "denied.example denied",
      "localhost denied",
    ]);
  });

  test.skipIf(!hasBrowser())("the run's page says what was refused, and an administrator allows it there", async () => {
    const browser = await openBrowser();
    try {
      const { page, open, axe, faults } = await visit(browser, server.url);
      await open(`/runs/${run.id}`);
      const network = page.getByRole("region", { name: "Network" });
      await network.getByText("ann wanted to reach denied.example:8080 (2 times): denied").waitFor();
      expect(await axe()).toEqual([]);
      await network.getByRole("button", { name: "Allow for ann" }).click();
      await page.getByText("ann may reach denied.example:8080 from its next session on.").waitFor();
      await open("/agents/ann?tab=config");
      const hosts = page.getByLabel("Hosts it may reach");
      await hosts.waitFor();
      expect(await hosts.inputValue()).toBe(`localhost:${port}\nnpm\ndenied.example:8080`);
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
  });

  test("a refused host is added to the agent's list, from the command line too, and its file says so", async () => {
    const agent = await call<Agent>("POST", "/v1/agents/ann/allowed-hosts", { host: "denied.example", port: 8080 });
    const allow = [`localhost:${port}`, "npm", "denied.example:8080"];
    expect(agent.config.network).toEqual({ allow });
    expect((await call<Agent>("GET", "/v1/agents/ann")).config.network).toEqual({ allow });
    const shown = await skep(["connections", run.id, "--data", server.data]);
    expect(shown.stdout).toMatch(/denied\s+denied\.example:8080\s+2 times/);
    const added = await skep(["agents", "allow", "ann", "other.example", "--data", server.data]);
    expect(added.stdout).toContain("other.example:443");
    for (const body of [
      { host: "a b", port: 1 },
      { host: "x.test", port: 0 },
      { host: "*", port: 80 },
    ])
      expect((await server.request("POST", "/v1/agents/ann/allowed-hosts", { body })).status).toBe(422);
    await call("PUT", "/v1/agents/ann/config", { network: "bridge" });
    const open = await server.request("POST", "/v1/agents/ann/allowed-hosts", { body: { host: "x.test", port: 80 } });
    expect(open.body).toMatchObject({ status: 409, code: "network_open" });
  });

  test.skipIf(!hasIpv6)("an IPv6 address is allowed in any spelling, and no other one is reached", async () => {
    await call("POST", "/v1/agents", { id: "six", prompt: "Work.", network: { allow: ["npm"] } });
    const steps = [{ id: "only", agent: "six", input: "Do it." }];
    await call("POST", "/v1/pipelines", { id: "six", name: "S", defaults: { model: "demo/scripted" }, steps });
    const allow = (host: string) => skep(["agents", "allow", "six", host, "--data", server.data]);
    const ask = async () => {
      const { id } = await call<Run>("POST", "/v1/runs", { pipeline_id: "six", task_description: "Reach out" });
      await endOf(id);
      const { items } = await call<{ items: EgressConnection[] }>("GET", `/v1/runs/${id}/connections`);
      return items.map(({ host, port: at, verdict }) => `${host} ${at - port} ${verdict}`).sort();
    };
    expect(await ask()).toEqual(["::1 0 denied", "::1 1 denied", "::2 0 denied"]);
    expect(await allow("0::1/128")).toMatchObject({ code: 2, stderr: expect.stringContaining("one host or address") });
    expect(await allow("fe80::1%eth0")).toMatchObject({ code: 2 });
    const added = await allow(`[0:0:0:0::0001]:${port}`);
    expect(added.stdout).toBe(`six may reach [::1]:${port} from its next sandbox on.\n`);
    expect((await allow("2001:DB8::1")).stdout).toContain("[2001:db8::1]:443");
    const { config } = await call<Agent>("GET", "/v1/agents/six");
    expect(config.network).toEqual({ allow: ["npm", `[::1]:${port}`, "[2001:db8::1]:443"] });
    const before = hits.length;
    expect(await ask()).toEqual(["::1 0 allowed", "::1 1 denied", "::2 0 denied"]);
    expect(hits.slice(before)).toEqual([`[::1]:${port} /`]);
    // The list of a file may spell the address in another way.
    await call("PUT", "/v1/agents/six/config", { network: { allow: [`[0:0::1]:${port}`] } });
    expect(await ask()).toEqual(["::1 0 allowed", "::1 1 denied", "::2 0 denied"]);
  });

  test("a host that the project allows is reached by agents that have `project` in their list, and by no other", async () => {
    const project = await call<{ id: string }>("POST", "/v1/projects", { name: "web" });
    const ask = async (allow: string[]) => {
      await call("PUT", "/v1/agents/ann/config", { network: { allow } });
      const body = { pipeline_id: "p", task_description: "Reach out", project_name: "web" };
      const { id } = await call<Run>("POST", "/v1/runs", body);
      await endOf(id);
      const { items } = await call<{ items: EgressConnection[] }>("GET", `/v1/runs/${id}/connections`);
      return { id, said: [...new Set(items.map(({ host, verdict }) => `${host} ${verdict}`))].sort() };
    };
    const before = await ask(["project"]);
    expect(before.said).toEqual(["denied.example denied", "localhost denied"]);
    const allowed = await skep(["projects", "allow", "web", `localhost:${port}`, "--data", server.data]);
    expect(allowed.stdout).toContain("from the next connection on");
    expect((await ask(["project"])).said).toEqual(["denied.example denied", "localhost allowed"]);
    expect((await ask(["npm"])).said).toEqual(["denied.example denied", "localhost denied"]);
    const environment = await call<object>("GET", `/v1/projects/${project.id}/environment`);
    expect(environment).toMatchObject({ accepted: { definition: { network: { allow: [`localhost:${port}`] } } } });
    if (!hasBrowser()) return;
    const browser = await openBrowser();
    try {
      const { page, open, faults } = await visit(browser, server.url);
      await open(`/runs/${before.id}`);
      const refused = page.getByRole("listitem").filter({ hasText: "denied.example:8080" });
      await refused.getByRole("button", { name: "Allow in this project" }).click();
      await page.getByText("The project allows denied.example:8080").waitFor();
      await open(`/projects/${project.id}`);
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
    }
    const { accepted } = await call<ProjectEnvironment>("GET", `/v1/projects/${project.id}/environment`);
    expect(accepted?.definition.network?.allow).toEqual([`localhost:${port}`, "denied.example:8080"]);
  });

  test("lists that cannot be meant are refused with the reason", async () => {
    for (const allow of [["http://x.test"], ["*"], ["x.test:port"], ["a b"], ["*.*.test"]])
      expect((await server.request("PUT", "/v1/agents/ann/config", { body: { network: { allow } } })).status).toBe(422);
  });
});

test("addresses of a tool's configuration are read as hosts and ports, whatever else is in the text", () => {
  const text = `deb http://deb.debian.org/debian stable main
    deb [signed-by=/x] https://mirror.test:8443/debian stable main
    http://user:pass@evil/ ftp://no.test https://[::1]:9/ "https://a.test/" 'https://a.test'`;
  expect(hostsIn(text)).toEqual(["deb.debian.org:80", "mirror.test:8443", "[::1]:9", "a.test:443"]);
});
