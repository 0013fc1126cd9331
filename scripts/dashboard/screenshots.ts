/**
 * scripts/screenshots: takes a picture of every page for docs/dashboard.md and docs/first-project.md, or only of the
 * named ones.
 */
import { mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { openBrowser } from "../../src/testing/browser.ts";
import { startCodeHost } from "../../src/testing/code-host.ts";
import { typeInto } from "../../src/testing/dashboard/keyboard.ts";
import { type Seeded, seed, seedEnvironment } from "../../src/testing/dashboard/seed.ts";
import { furnishCodeHost, HOST_ENVIRONMENT } from "../../src/testing/dashboard/seed-host.ts";
import { PHONE, visit } from "../../src/testing/dashboard/visitor.ts";
import { startServer } from "../../src/testing/server.ts";

const OUT = resolve(import.meta.dir, "../../docs/images");
const WIDE = { width: 1280, height: 760 };

interface Picture {
  name: string;
  path(ids: Seeded): string;
  dark?: boolean;
  phone?: boolean;
  /** What is clicked and typed before the picture is taken. */
  act?(page: Page): Promise<unknown>;
}

/** Replaces what is specific to this machine: the folder of the sample repository, and a port. */
const PLAIN = `{
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode())
    texts.currentNode.data = texts.currentNode.data
      .replace(/\\S*skep-source-\\w+\\/repository/g, "https://git.example.org/team/shop.git")
      .replace(/http:\\/\\/127\\.0\\.0\\.1:\\d+/g, "https://skep.example.org");
}`;

const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).first().click();
const TRANSCRIPT = 'role=log[name="Log of the step"]';

/** Pictures that only docs/first-project.md shows. */
const STEPS: Picture[] = [
  { name: "project", path: ({ project }) => `/projects/${project}` },
  {
    name: "start",
    path: () => "/runs/new?pipeline=feature&project=shop",
    act: (page) => typeInto(page.getByLabel("Task"), "Let a cart have a discount in per cent, with a test."),
  },
  {
    name: "run-live",
    path: ({ running }: Seeded) => `/runs/${running}`,
    act: (page) => page.locator(TRANSCRIPT).getByText("This takes a while").waitFor(),
  },
  { name: "approval", path: ({ waiting }) => `/runs/${waiting}` },
  {
    name: "comment",
    path: ({ changed }: Seeded) => `/runs/${changed}?tab=changes&view=split`,
    async act(page) {
      await page.getByRole("button", { name: "Comment on line 6" }).first().click();
      await typeInto(page.getByRole("textbox", { name: "Comment" }), "Start with a hundredth, not with a float.");
      await page.getByRole("textbox", { name: "Comment" }).scrollIntoViewIfNeeded();
    },
  },
  {
    name: "send-back",
    path: ({ changed }: Seeded) => `/runs/${changed}?tab=changes`,
    async act(page) {
      await press(page, "Send back");
      await typeInto(page.getByLabel("Message"), "Nearly there: add a test for 100 per cent.");
    },
  },
  {
    name: "merge",
    path: ({ changed }: Seeded) => `/runs/${changed}?tab=changes`,
    act: (page) => press(page, "Merge another way"),
  },
  {
    name: "task-start",
    path: ({ project }: Seeded) => `/board?project=${project}`,
    async act(page) {
      await page.getByRole("button", { name: "Move Quote names in every export the same way" }).click();
      await page.getByRole("menuitem", { name: "Start agents on it" }).click();
      await page.getByText("A run starts at once").waitFor();
    },
  },
  {
    name: "budget",
    path: () => "/settings?tab=budgets",
    act: (page) => typeInto(page.getByLabel("Everybody, a month, USD"), "20"),
  },
  {
    name: "impact",
    path: ({ project }: Seeded) => `/projects/${project}/graph?symbol=round`,
    act: (page) =>
      page
        .getByRole("heading", { name: "What a change reaches" })
        .evaluate((one) => (one as unknown as { scrollIntoView(): void }).scrollIntoView()),
  },
  {
    name: "memory-edit",
    path: () => "/memory/engineer?entry=decision%2Fone-writer",
    act: (page) => press(page, "Edit"),
  },
  {
    name: "tool-server-tools",
    path: () => "/tool-servers/odd",
    act: (page) => page.locator("main summary").filter({ hasText: /^say/ }).click(),
  },
  {
    name: "invite",
    path: () => "/users",
    async act(page) {
      await press(page, "Add a user");
      await typeInto(page.getByLabel("E-mail"), "ben@example.org");
      await typeInto(page.getByLabel("Name"), "Ben");
      await typeInto(page.getByLabel("Password"), "a-long-pass-phrase");
      await press(page, "Add");
      await page.getByText("They can log in now.").waitFor();
    },
  },
];

/** Pages that the text does not show; docs/dashboard.md links them at its end. */
const OTHERS: Picture[] = [
  { name: "inbox", path: () => "/inbox" },
  { name: "runs", path: () => "/runs" },
  { name: "chats", path: () => "/chat" },
  { name: "work-changes", path: ({ changed }) => `/changes/${changed}` },
  { name: "projects", path: () => "/projects" },
  { name: "task", path: ({ project, task }) => `/projects/${project}/tasks/${task}` },
  { name: "policy", path: ({ project }) => `/projects/${project}/policy` },
  { name: "members", path: ({ project }) => `/projects/${project}/members` },
  { name: "onboardings", path: () => "/onboarding" },
  { name: "pipelines", path: () => "/pipelines" },
  { name: "agents", path: () => "/agents" },
  { name: "skills", path: () => "/skills" },
  { name: "skill", path: () => "/skills/debugging" },
  { name: "vaults", path: () => "/memory" },
  { name: "routines", path: () => "/routines" },
  { name: "swarms", path: () => "/swarms" },
  { name: "evals", path: () => "/evals" },
  { name: "documents", path: () => "/documents" },
  { name: "providers", path: () => "/providers" },
  { name: "secrets", path: () => "/secrets" },
  { name: "tool-servers", path: () => "/tool-servers" },
  { name: "users", path: () => "/users" },
  { name: "settings", path: () => "/settings" },
  { name: "system", path: () => "/system" },
  { name: "disk", path: () => "/system?tab=disk" },
  { name: "audit", path: () => "/system?tab=audit" },
  { name: "jobs", path: () => "/jobs" },
  { name: "account", path: () => "/account" },
];

const PICTURES: Picture[] = [
  { name: "setup", path: () => "/setup" },
  { name: "home", path: () => "/" },
  { name: "run", path: ({ failed }) => `/runs/${failed}`, dark: true },
  { name: "run-graph", path: ({ succeeded }) => `/runs/${succeeded}?tab=graph` },
  { name: "result", path: ({ changed }) => `/runs/${changed}?tab=result` },
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
  ...STEPS,
  ...OTHERS,
];

const folder = mkdtempSync(join(tmpdir(), "skep-screenshots-"));
const named = process.argv.slice(2);
const host = await startCodeHost({ kind: "gitea" });
const env = { ...seedEnvironment(folder), ...HOST_ENVIRONMENT };
const [server, browser] = await Promise.all([startServer({ env }), openBrowser({ asPeopleHave: true })]);
try {
  const ids = await seed(server);
  await furnishCodeHost(server, host);
  mkdirSync(OUT, { recursive: true });
  let bytes = 0;
  const wanted = PICTURES.filter(({ name }) => named.length === 0 || named.includes(name));
  for (const { name, path, act, dark = false, phone = false } of wanted) {
    const look = { colorScheme: dark ? ("dark" as const) : ("light" as const), viewport: phone ? PHONE : WIDE };
    const { page, open, close } = await visit(browser, server.url, look);
    await open(path(ids));
    await act?.(page);
    await page.evaluate(PLAIN);
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
