/**
 * The protocol's own conformance suite. The server is tested with the gate and handler of /mcp, the client with a
 * program that connects and logs in as tool servers are connected.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parse } from "yaml";
import { FEATURES } from "../../app/features.ts";
import { type Core, defineFeature } from "../../feature/feature.ts";
import { createEndpoint } from "../../feature/mcp-server/endpoint.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { openTestApp, type TestApp } from "../app.ts";
import { conformanceServer } from "./conformance-server.ts";
import { BUN } from "./image.ts";

setDefaultTimeout(600_000);
const SUITE = resolve(import.meta.dir, "../../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

const fixture = defineFeature("conformance", (_core: Core) => {
  const { answer, close } = createEndpoint(conformanceServer, () => {});
  const routes = tagOperations("conformance", [
    defineOperation("askConformance", "POST /conformance", {
      access: "user",
      handler: ({ request, caller, body }) => answer(request, caller, body),
    }),
    defineOperation("endConformance", "DELETE /conformance", {
      access: "user",
      handler: ({ request, caller }) => answer(request, caller),
    }),
  ]);
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

const suite = async (args: readonly string[]): Promise<string> => {
  const child = Bun.spawn([BUN, SUITE, ...args], {
    cwd: folder,
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: process.env["PATH"] ?? "", HOME: folder },
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  await child.exited;
  return out + err;
};

/** Time limit for each scenario. */
const PATIENCE = ["--timeout", "90000"];
const REVISIONS = ["2025-11-25", "2026-07-28"];

test.each(REVISIONS)("the server passes every scored scenario of %s", async (revision) => {
  const said = await suite(["server", "--url", `${app.url}/conformance`, "--requirements", revision, ...PATIENCE]);
  const [scored = "", unscored = ""] = said.split("=== SUMMARY ===")[1]?.split("Not scored") ?? [];
  const failed = [...scored.matchAll(/^✗ ([\w-]+): .*$/gm)].map(([, name]) => name!);
  const isScored = (name: string) => !unscored.includes(`✗ ${name} `);
  expect([...scored.matchAll(/^✓/gm)].length).toBeGreaterThan(15);
  expect(failed.filter(isScored)).toEqual([]);
});

const CLIENT = ["client", "--command", `${BUN} ${join(import.meta.dir, "conformance-client.ts")}`];

/** Every client scenario that a revision scores, according to the suite's own requirements. */
const clientScenarios = (revision: string): string[] => {
  const file = join(SUITE, `../../requirements/${revision}.yaml`);
  return (parse(readFileSync(file, "utf8")) as { client: string[] }).client;
};

test("the suite scores as many scenarios of a client as it did", () => {
  expect(REVISIONS.flatMap(clientScenarios).length).toBeGreaterThanOrEqual(50);
});

/** Undefined if the scenario passes without a warning. */
async function faultAlone(revision: string, scenario: string): Promise<string | undefined> {
  const said = await suite([...CLIENT, "--scenario", scenario, "--spec-version", revision, ...PATIENCE]);
  const counts = /Passed: (\d+)\/(\d+), (\d+) failed, (\d+) warnings/.exec(said)?.slice(1).map(Number);
  const [passed = 0, all, failed, warnings] = counts ?? [];
  const clean = passed > 0 && passed === all && failed === 0 && warnings === 0;
  return clean ? undefined : `${scenario}: ${said.slice(-2_000)}`;
}

test.each(REVISIONS)("the client passes every scored scenario of %s", async (revision) => {
  const said = await suite([...CLIENT, "--requirements", revision, ...PATIENCE]);
  const [, summary = ""] = said.split("=== SUITE SUMMARY ===");
  const clean = new Set([...summary.matchAll(/^✓ (\S+): [1-9]\d* passed, 0 failed$/gm)].map(([, name]) => name!));
  const scored = clientScenarios(revision);
  // The suite runs all scenarios at once, and they have time limits. A scenario that failed among the others must pass
  // alone.
  const again = scored.filter((scenario) => !clean.has(scenario));
  const faults: string[] = [];
  for (const scenario of again) {
    const fault = await faultAlone(revision, scenario);
    if (fault) faults.push(fault);
  }
  expect(faults).toEqual([]);
});
