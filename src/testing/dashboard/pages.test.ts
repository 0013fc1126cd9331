/** Every page of the dashboard in a real browser: whole, accessible, within its policy, in light, in dark and on a phone. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { hasBrowser } from "../browser.ts";
import type { Seeded } from "./seed.ts";
import { PHONE, visit, WINDOW } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

// Three dozen pages, each looked at whole; a busy machine makes that slow, not wrong.
setDefaultTimeout(600_000);

const PATHS = (ids: Seeded): string[] => [
  ...["/", "/runs", "/runs?status=failed&q=nightly", "/runs/new", `/runs/${ids.waiting}`, `/runs/${ids.failed}`],
  ...[`/runs/${ids.running}`, `/runs/${ids.succeeded}?tab=graph`, `/runs/${ids.succeeded}?tab=timeline`],
  `/runs/${ids.succeeded}?tab=result`,
  ...["split", "unified"].map((view) => `/runs/${ids.changed}?tab=changes&view=${view}`),
  ...["/projects", `/projects/${ids.project}`],
  ...["symbols&q=total", "symbols&symbol=withTax", "map", "map&find=tax", "changes", "clusters", "flows", "ask"].map(
    (tab) => `/projects/${ids.project}/graph?tab=${tab}`,
  ),
  ...["/pipelines", "/pipelines/change", "/pipelines/+new", "/agents"],
  ...["prompt", "config", "tools", "runs", "secrets", "voice"].map((tab) => `/agents/engineer?tab=${tab}`),
  ...[
    "/skills",
    "/skills/debugging",
    "/usage",
    "/providers",
    "/providers?provider=anthropic",
    "/secrets",
    "/users",
    "/users?tab=sign-on&provider=%2Bnew",
  ],
  ...["models", "budgets", "limits", "sandbox", "retention", "updates"].map((tab) => `/settings?tab=${tab}`),
  ...["health", "backups", "containers", "audit", "requests"].map((tab) => `/system?tab=${tab}`),
  ...["/chat", "/chat?status=ended", "/chat?new=scribe", `/chat/${ids.chat}`],
  ...["/board", `/projects/${ids.project}/tasks/${ids.task}`, `/projects/${ids.project}/policy`],
  ...["/routines", "/routines?tab=calendar", "/routines?new=lead"],
  ...[`/routines/lead/${ids.routine}`, "/swarms", "/swarms?new=1", `/swarms/${ids.swarm}`],
  ...[
    "/documents",
    "/documents?q=quote",
    "/documents?new=1",
    "/documents?new=transcript",
    `/documents/${ids.document}`,
  ],
  ...["/tool-servers", "/tool-servers?new=1", "/tool-servers?new=import", "/tool-servers/odd"],
  ...[
    "/memory",
    "/memory?q=exports",
    "/memory/engineer",
    "/memory/engineer?tab=links",
    "/memory/engineer?tab=contradictions",
  ],
  ...["fact/exports-quote-every-name", "lesson/commas-are-forbidden"].map(
    (entry) => `/memory/engineer?entry=${encodeURIComponent(entry)}`,
  ),
  ...["/activity", "/activity?tab=now", "/activity?tab=handed", `/activity?tab=handed&work=${ids.handed}`],
  ...["/cookies", `/cookies?set=${ids.cookies}`, "/voice"],
  ...["/code-host", "/code-host?tab=rules", "/code-host?tab=rules&rule=new", "/code-host?tab=deliveries"],
  ...["/onboarding", "/onboarding?new=1", `/onboarding/${ids.onboarding}`],
  ...["/notifications", "/notifications?tab=notices", "/notifications?channel=new"],
  ...["/jobs", "/account", "/setup", "/no-such-page"],
];

/** How a page is looked at once it is there; what is asked of the later looks is what they can change. */
const LOOKS = [
  { name: "light", about: "all" as const, scheme: "light" as const, size: WINDOW },
  { name: "dark", about: "theme" as const, scheme: "dark" as const, size: WINDOW },
  { name: "on a phone", about: "layout" as const, scheme: "light" as const, size: PHONE },
];
/** Pages looked at side by side. */
const VISITORS = 3;

describe.skipIf(!hasBrowser())("the dashboard", () => {
  const dashboard = withDashboard();

  test("light, dark and on a phone no page breaks, breaks a rule of accessibility, asks elsewhere or scrolls sideways", async () => {
    const { server, browser, ids } = dashboard();
    const paths = PATHS(ids);
    const found: string[] = [];
    const look = async () => {
      const visitor = await visit(browser, server.url, { hasTouch: true });
      for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
        await visitor.open(path);
        for (const { name, about, scheme, size } of LOOKS) {
          await visitor.page.emulateMedia({ colorScheme: scheme });
          await visitor.page.setViewportSize(size);
          const wide = await visitor.overflow();
          if (wide > 0) found.push(`${path} ${name} is ${wide} px too wide`);
          for (const broken of await visitor.axe(about)) found.push(`${path} ${name} ${broken}`);
        }
        await visitor.page.setViewportSize(WINDOW);
      }
      await visitor.close();
      // A page that asks for what does not exist gets a 404, which browsers write down.
      found.push(...visitor.faults.filter((fault) => !/50[0-9]|404/.test(fault)));
    };
    await Promise.all(Array.from({ length: VISITORS }, look));
    expect(found).toEqual([]);
  });

  test("what a first view loads is at most 150 kB, by the bundler's own account", () => {
    const path = resolve(import.meta.dir, "../../../dist/web/sizes.json");
    const { first } = JSON.parse(readFileSync(path, "utf8")) as { first: { name: string; gzip: number }[] };
    expect(first.length).toBeGreaterThan(2);
    expect(first.reduce((sum, { gzip }) => sum + gzip, 0)).toBeLessThan(150_000);
  });
});
