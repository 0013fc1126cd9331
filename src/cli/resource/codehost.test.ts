/** `skep codehost` against a server and a code host on loopback. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { type CodeHostFake, startCodeHost, WEBHOOK_SECRET } from "../../testing/code-host.ts";
import { skep } from "../../testing/command.ts";
import { framesOf, framesUntil } from "../../testing/event-reader.ts";
import { startServer, type TestServer } from "../../testing/server.ts";

// Generous, for busy machines: no test here waits for a fixed time.
setDefaultTimeout(300_000);

let host: CodeHostFake;
let server: TestServer;
beforeAll(async () => {
  host = await startCodeHost();
  server = await startServer({ env: { FETCH_ALLOW: "127.0.0.1" } });
});
afterAll(async () => {
  await server.remove();
  await host.stop();
});

const cli = (args: string[], env: Record<string, string> = {}) =>
  skep(["codehost", ...args, "--data", server.data], { env });
async function runCommand(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await cli(args);
  expect([args, code, stderr]).toEqual([args, 0, ""]);
  return stdout;
}

test("a code host is connected, looked at and forgotten; its secrets come from the environment and a file", async () => {
  expect(await runCommand("status")).toContain("none is connected");
  const away = await cli(["repos"]);
  expect([away.code, away.stderr]).toEqual([1, expect.stringContaining("skep codehost connect")]);
  const flags = ["--kind", "github", "--host-url", host.origin, "--app-id", "4711", "--app-key", host.keyFile];
  const made = await cli(["connect", ...flags, "--webhook-secret-env", "HOOK"], { HOOK: WEBHOOK_SECRET });
  expect([made.code, made.stdout]).toEqual([0, expect.stringContaining("settings")]);
  expect(made.stdout).not.toContain(WEBHOOK_SECRET);
  expect(await runCommand("status")).toContain("yes, as skep-test[bot]");
  expect(await runCommand("repos")).toContain(host.repository);
});

test("rules are added, listed, changed, switched off and deleted", async () => {
  const body = { name: "shop", repository: host.clone };
  await server.request("POST", "/v1/projects", { body });
  await framesUntil(framesOf(server, "/v1/events/stream?after=0&kinds=workspace_changed"), () => true);
  expect((await cli(["add", "labels"])).stderr).toContain("--project");
  const at = ["--project", "shop", "--event", "issue_labeled", "--label", "agent", "--pipeline", "feature"];
  expect(await runCommand("add", "labels", ...at, "--bots", "renovate[bot]")).toContain(host.repository);
  expect(await runCommand()).toMatch(/labels +on +octo\/shop +issue_labeled agent +write, renovate\[bot\] +feature/);
  expect(await runCommand("update", "labels", "--permission", "admin", "--pull-request", "no")).toContain("admin");
  expect(await runCommand("disable", "labels")).toMatch(/enabled +(false|no)/);
  expect(await runCommand("delete", "labels")).toBe("deleted rule labels\n");
  expect(await runCommand()).toContain("skep codehost add");
  expect(await runCommand("deliveries", "--json")).toBe("[]\n");
  const none = await cli(["push", "run_none"]);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining("There is no run run_none.")]);
  expect(await runCommand("disconnect")).toContain("forgotten");
  expect(await runCommand("status")).toContain("none is connected");
});
