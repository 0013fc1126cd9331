/**
 * The protocol's own conformance suite: the server over the gate and the handler that /mcp is served by, the client by a
 * program that connects and logs in as tool servers are connected.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Elysia } from "elysia";
import { parse } from "yaml";
import { FEATURES } from "../../app/features.ts";
import { type Core, defineFeature } from "../../feature/feature.ts";
import { createEndpoint } from "../../feature/mcp-server/endpoint.ts";
import { openTestApp, type TestApp } from "../app.ts";
import { conformanceServer } from "./conformance-server.ts";
import { BUN } from "./image.ts";

setDefaultTimeout(240_000);
const SUITE = resolve(import.meta.dir, "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

const fixture = defineFeature("conformance", ({ base }: Core) => {
  const { answer, close } = createEndpoint(conformanceServer, () => {});
  const routes = new Elysia({ name: "skep/conformance" })
    .use(base)
    .post("/conformance", ({ request, caller }) => answer(request, caller), { access: "user", parse: "none" })
    .delete("/conformance", ({ request, caller }) => answer(request, caller), { access: "user" });
  return { routes, stop: close };
});

const folder = mkdtempSync(join(tmpdir(), "skep-conformance-"));
let app: TestApp;
beforeAll(async () => {
  app = await openTestApp({}, { features: FEATURES.with(fixture) });
});
afterAll(async () => {
  await app.remove();
  rmSync(folder, { recursive: true, force: true });
});

const REVISIONS = ["2025-11-25", "2026-07-28"];

test.each(REVISIONS)("the server passes every scored scenario of %s", async (revision) => {
  const child = Bun.spawn([BUN, SUITE, "server", "--url", `${app.url}/conformance`, "--requirements", revision], {
    ...{ cwd: folder, stdout: "pipe", stderr: "pipe", env: { PATH: process.env["PATH"] ?? "", HOME: folder } },
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  const [scored = "", unscored = ""] = (out + err).split("=== SUMMARY ===")[1]?.split("Not scored") ?? [];
  const failed = [...scored.matchAll(/^✗ ([\w-]+): .*$/gm)].map(([, name]) => name!);
  const isScored = (name: string) => !unscored.includes(`✗ ${name} `);
  expect([...scored.matchAll(/^✓/gm)].length).toBeGreaterThan(15);
  expect(failed.filter(isScored)).toEqual([]);
});

/** Every scenario of a client that a revision scores, as the suite's own requirements list them. */
const CLIENT_SCENARIOS = REVISIONS.flatMap((revision) => {
  const file = join(SUITE, `../../requirements/${revision}.yaml`);
  const { client } = parse(readFileSync(file, "utf8")) as { client: string[] };
  return client.map((scenario): [string, string] => [revision, scenario]);
});

test("the suite scores as many scenarios of a client as it did", () => {
  expect(CLIENT_SCENARIOS.length).toBeGreaterThanOrEqual(50);
});

test.each(CLIENT_SCENARIOS)("the client passes of %s %s", async (revision, scenario) => {
  const command = `${BUN} ${join(import.meta.dir, "conformance-client.ts")}`;
  const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision];
  const child = Bun.spawn([BUN, SUITE, ...args, "--timeout", "90000"], {
    ...{ cwd: folder, stdout: "pipe", stderr: "pipe", env: { PATH: process.env["PATH"] ?? "", HOME: folder } },
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  const counts =
    /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warnings/
      .exec(out + err)
      ?.slice(1)
      .map(Number) ?? [];
  const [passed = 0, all, failed, warnings] = counts;
  expect([passed > 0, passed, failed, warnings]).toEqual([true, all!, 0, 0]);
});
