/** scripts/screenshots: the pictures of docs/dashboard.md, or only those that are named. */
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { openBrowser } from "../../src/testing/browser.ts";
import { startCodeHost } from "../../src/testing/code-host.ts";
import { type Seeded, seed, seedEnvironment } from "../../src/testing/dashboard/seed.ts";
import { furnishCodeHost, HOST_ENVIRONMENT } from "../../src/testing/dashboard/seed-host.ts";
import { PHONE, visit } from "../../src/testing/dashboard/visitor.ts";
import { startServer } from "../../src/testing/server.ts";

const OUT = resolve(import.meta.dir, "../../docs/images");
const WIDE = { width: 1060, height: 620 };

interface Picture {
  name: string;
  path(ids: Seeded): string;
  dark?: boolean;
  phone?: boolean;
}

const PICTURES: Picture[] = [
  { name: "setup", path: () => "/setup" },
  { name: "home", path: () => "/" },
  { name: "run", path: ({ failed }) => `/runs/${failed}`, dark: true },
  { name: "run-graph", path: ({ succeeded }) => `/runs/${succeeded}?tab=graph` },
  { name: "changes", path: ({ changed }) => `/runs/${changed}?tab=changes&view=split` },
  { name: "chat", path: ({ chat }) => `/chat/${chat}` },
  { name: "board", path: ({ project }) => `/board?project=${project}` },
  { name: "routine", path: ({ routine }) => `/routines/lead/${routine}` },
  { name: "calendar", path: () => "/routines?tab=calendar" },
  { name: "document", path: ({ document }) => `/documents/${document}` },
  { name: "tool-server", path: () => "/tool-servers?new=1", dark: true },
  { name: "onboarding", path: ({ onboarding }) => `/onboarding/${onboarding}` },
  { name: "code-host", path: () => "/code-host?tab=rules" },
  { name: "notifications", path: () => "/notifications?channel=new" },
  { name: "activity", path: () => "/activity" },
  { name: "cookies", path: ({ cookies }) => `/cookies?set=${cookies}` },
  { name: "voice", path: () => "/voice" },
  { name: "swarm", path: ({ swarm }) => `/swarms/${swarm}`, dark: true },
  { name: "memory", path: () => "/memory/engineer?entry=lesson%2Fcommas-are-forbidden" },
  { name: "pipeline", path: () => "/pipelines/change" },
  { name: "agent", path: () => "/agents/engineer" },
  { name: "provider", path: () => "/providers?provider=anthropic" },
  { name: "code-graph", path: ({ project }) => `/projects/${project}/graph?symbol=withTax` },
  { name: "code-map", path: ({ project }) => `/projects/${project}/graph?tab=map` },
  { name: "usage", path: () => "/usage" },
  { name: "phone", path: () => "/", phone: true },
];

const folder = mkdtempSync(join(tmpdir(), "skep-screenshots-"));
const named = process.argv.slice(2);
const host = await startCodeHost({ kind: "gitea" });
const env = { ...seedEnvironment(folder), ...HOST_ENVIRONMENT };
const [server, browser] = await Promise.all([startServer({ env }), openBrowser()]);
try {
  const ids = await seed(server);
  await furnishCodeHost(server, host);
  mkdirSync(OUT, { recursive: true });
  let bytes = 0;
  const wanted = PICTURES.filter(({ name }) => named.length === 0 || named.includes(name));
  for (const { name, path, dark = false, phone = false } of wanted) {
    const look = { colorScheme: dark ? ("dark" as const) : ("light" as const), viewport: phone ? PHONE : WIDE };
    const { page, open, close } = await visit(browser, server.url, look);
    await open(path(ids));
    await page.evaluate("document.fonts.ready.then(() => new Promise((done) => setTimeout(done, 600)))");
    const file = join(OUT, `${name}.png`);
    await page.screenshot({ path: file, animations: "disabled" });
    bytes += statSync(file).size;
    await close();
  }
  console.log(`docs/images  ${wanted.length} pictures, ${Math.round(bytes / 1_000)} kB`);
} finally {
  await browser.close();
  await server.remove();
  await host.stop();
  rmSync(folder, { recursive: true, force: true });
}
