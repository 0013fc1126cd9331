/**
 * A server with data and a browser for the tests of one file: started before the first test, stopped after the last.
 */
import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { type Seeded, seed, seedEnvironment } from "./seed.ts";

interface Dashboard {
  server: TestServer;
  browser: Browser;
  /** Ids of the server's data. */
  ids: Seeded;
  /** The server's environment, to start another one like it. */
  env: Record<string, string>;
}

/**
 * Registers the hooks that start and stop everything. @returns a function that returns the dashboard while the tests
 * run.
 */
export function withDashboard(): () => Dashboard {
  const folder = mkdtempSync(join(tmpdir(), "skep-dashboard-"));
  const env = seedEnvironment(folder);
  let server: TestServer | undefined;
  let browser: Browser | undefined;
  let ids: Seeded | undefined;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ env }), openBrowser()]);
    ids = await seed(server);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });
  return () => {
    if (!server || !browser || !ids) throw new Error("asked for before the tests run");
    return { server, browser, ids, env };
  };
}
