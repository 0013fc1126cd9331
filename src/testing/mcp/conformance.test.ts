/**
 * The protocol's own conformance suite: the server over the gate and the handler that /mcp is served by, the client by a
 * program that connects and logs in as tool servers are connected.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Elysia } from "elysia";
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

/**
 * Scenarios of both revisions that a client without a person beside it can play. Left out are those that want it to ask
 * one (elicitation, a second login for wider scopes), a client id that was given beforehand, and extensions.
 */
const CLIENT_SCENARIOS: readonly [scenario: string, revisions: readonly string[]][] = [
  ["initialize", ["2025-11-25"]],
  ["sse-retry", ["2025-11-25"]],
  ["tools_call", ["2025-11-25", "2026-07-28"]],
  ["auth/metadata-default", ["2025-11-25", "2026-07-28"]],
  ["auth/metadata-var1", ["2025-11-25", "2026-07-28"]],
  ["auth/metadata-var2", ["2025-11-25", "2026-07-28"]],
  ["auth/scope-from-scopes-supported", ["2025-11-25", "2026-07-28"]],
  ["auth/scope-omitted-when-undefined", ["2025-11-25", "2026-07-28"]],
  ["auth/scope-retry-limit", ["2025-11-25", "2026-07-28"]],
  ["auth/token-endpoint-auth-basic", ["2025-11-25", "2026-07-28"]],
  ["auth/token-endpoint-auth-post", ["2025-11-25", "2026-07-28"]],
  ["auth/token-endpoint-auth-none", ["2025-11-25", "2026-07-28"]],
  ["auth/resource-mismatch", ["2026-07-28"]],
  ["auth/offline-access-scope", ["2026-07-28"]],
  ["auth/offline-access-not-supported", ["2026-07-28"]],
  ["auth/iss-supported", ["2026-07-28"]],
  ["auth/iss-not-advertised", ["2026-07-28"]],
  ["auth/iss-supported-missing", ["2026-07-28"]],
  ["auth/iss-wrong-issuer", ["2026-07-28"]],
  ["auth/iss-unexpected", ["2026-07-28"]],
  ["auth/iss-normalized", ["2026-07-28"]],
  ["auth/metadata-issuer-mismatch", ["2026-07-28"]],
  ["request-metadata", ["2026-07-28"]],
  ["http-standard-headers", ["2026-07-28"]],
  ["http-invalid-tool-headers", ["2026-07-28"]],
  ["json-schema-ref-no-deref", ["2026-07-28"]],
];

test.each(CLIENT_SCENARIOS)("the client passes %s", async (scenario, revisions) => {
  const command = `${BUN} ${join(import.meta.dir, "conformance-client.ts")}`;
  for (const revision of revisions) {
    const args = ["client", "--command", command, "--scenario", scenario, "--spec-version", revision];
    const child = Bun.spawn([BUN, SUITE, ...args], {
      ...{ cwd: folder, stdout: "pipe", stderr: "pipe", env: { PATH: process.env["PATH"] ?? "", HOME: folder } },
    });
    const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    await child.exited;
    const [, passed = "0", all = "", failed = ""] = /Passed: (\d+)\/(\d+), (\d+) failed/.exec(out + err) ?? [];
    expect([revision, Number(passed) > 0, passed === all, failed]).toEqual([revision, true, true, "0"]);
  }
});
