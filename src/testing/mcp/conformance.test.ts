/** The protocol's own conformance suite, over the gate and the handler that /mcp is served by. */
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
    .post("/conformance", ({ request, caller }) => answer(request, caller), { access: "user", parse: "none" });
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

/**
 * What is not served, and why: without sessions an older client cannot be asked anything while its call runs, and cannot
 * subscribe. The newer revision has neither.
 */
const WITHOUT_SESSIONS = [
  ...["elicitation-sep1034-defaults", "elicitation-sep1330-enums", "tools-call-elicitation", "tools-call-sampling"],
  ...["resources-subscribe", "resources-unsubscribe"],
];

test.each([
  ["2025-11-25", WITHOUT_SESSIONS],
  ["2026-07-28", []],
])("the server passes every scored scenario of %s", async (revision, notServed) => {
  const child = Bun.spawn([BUN, SUITE, "server", "--url", `${app.url}/conformance`, "--requirements", revision], {
    ...{ cwd: folder, stdout: "pipe", stderr: "pipe", env: { PATH: process.env["PATH"] ?? "", HOME: folder } },
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  const [scored = "", unscored = ""] = (out + err).split("=== SUMMARY ===")[1]?.split("Not scored") ?? [];
  const failed = [...scored.matchAll(/^✗ ([\w-]+): .*$/gm)].map(([, name]) => name!);
  const isScored = (name: string) => !unscored.includes(`✗ ${name} `);
  expect([...scored.matchAll(/^✓/gm)].length).toBeGreaterThan(15);
  expect(failed.filter(isScored).sort()).toEqual([...notServed].sort());
});
