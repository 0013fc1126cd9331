/** Every page of the dashboard in a real browser: whole, accessible, within its policy, in light, in dark and on a phone. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Browser } from "playwright-core";
import { hasBrowser, openBrowser } from "../browser.ts";
import { startServer, type TestServer } from "../server.ts";
import { type Seeded, seed, seedEnvironment } from "./seed.ts";
import { PHONE, visit } from "./visitor.ts";

// Three dozen pages, each looked at whole; a busy machine makes that slow, not wrong.
setDefaultTimeout(600_000);

const PATHS = (ids: Seeded): string[] => [
  ...["/", "/runs", "/runs?status=failed&q=nightly", "/runs/new", `/runs/${ids.waiting}`, `/runs/${ids.failed}`],
  ...[`/runs/${ids.running}`, `/runs/${ids.succeeded}?tab=graph`, `/runs/${ids.succeeded}?tab=timeline`],
  ...[`/runs/${ids.succeeded}?tab=result`, "/projects", `/projects/${ids.project}`],
  ...["symbols&q=total", "symbols&symbol=withTax", "changes", "clusters", "flows"].map(
    (tab) => `/projects/${ids.project}/graph?tab=${tab}`,
  ),
  ...["/pipelines", "/pipelines/change", "/pipelines/+new", "/agents"],
  ...["prompt", "config", "tools", "runs", "secrets"].map((tab) => `/agents/engineer?tab=${tab}`),
  ...["/skills", "/skills/debugging", "/usage", "/providers", "/providers?provider=anthropic", "/secrets", "/users"],
  ...["models", "budgets", "limits", "sandbox", "retention", "updates"].map((tab) => `/settings?tab=${tab}`),
  ...["health", "notifications", "containers", "audit", "requests"].map((tab) => `/system?tab=${tab}`),
  ...["/jobs", "/account", "/setup", "/no-such-page"],
];

describe.skipIf(!hasBrowser())("the dashboard", () => {
  const folder = mkdtempSync(join(tmpdir(), "skep-pages-"));
  let server: TestServer;
  let browser: Browser;
  let ids: Seeded;
  beforeAll(async () => {
    [server, browser] = await Promise.all([startServer({ env: seedEnvironment(folder) }), openBrowser()]);
    ids = await seed(server);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  const LOOKS = [
    { name: "light", about: "all" as const, options: { colorScheme: "light" as const } },
    { name: "dark", about: "colour" as const, options: { colorScheme: "dark" as const } },
    { name: "on a phone", about: "structure" as const, options: { viewport: PHONE, hasTouch: true } },
  ];
  for (const { name, about, options } of LOOKS)
    test(`${name}: no page breaks, breaks a rule of accessibility, asks elsewhere or scrolls sideways`, async () => {
      const visitor = await visit(browser, server.url, options);
      const found: string[] = [];
      for (const path of PATHS(ids)) {
        await visitor.open(path);
        const wide = await visitor.overflow();
        if (wide > 0) found.push(`${path} is ${wide} px too wide`);
        for (const broken of await visitor.axe(about)) found.push(`${path} ${broken}`);
      }
      await visitor.close();
      // A page that asks for what is not there is told so, which browsers write down.
      expect([...visitor.faults.filter((fault) => !/50[0-9]|404/.test(fault)), ...found]).toEqual([]);
    });

  test("what a first view loads is at most 150 kB, by the bundler's own account", () => {
    const path = resolve(import.meta.dir, "../../../dist/web/sizes.json");
    const { first } = JSON.parse(readFileSync(path, "utf8")) as { first: { name: string; gzip: number }[] };
    expect(first.length).toBeGreaterThan(2);
    expect(first.reduce((sum, { gzip }) => sum + gzip, 0)).toBeLessThan(150_000);
  });
});
