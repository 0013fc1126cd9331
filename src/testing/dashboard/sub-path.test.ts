/** The dashboard below a path of a real proxy, configured as in docs/reverse-proxy.md. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PASSWORD } from "../accounts.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { freePort, hasProgram, type RealProxy, startCaddy, startNginx } from "../proxies.ts";
import { startServer, type TestServer } from "../server.ts";
import { typeInto } from "./keyboard.ts";
import { pathsOf } from "./page-paths.ts";
import { seed, seedEnvironment } from "./seed.ts";
import { type Visitor, visit } from "./visitor.ts";

// Five dozen pages. A busy machine makes that slow, not wrong.
setDefaultTimeout(600_000);

const ADMIN = "admin@example.test";
/** Whether a fault is the expected one of a missing invitation. */
const isOver = (fault: string): boolean => /^\/skep\/join\/.*\b404\b/.test(fault);
const folder = mkdtempSync(join(tmpdir(), "skep-below-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The configuration that the page shows under "Below a path", for this server. */
function fromThePage(pattern: RegExp, server: string): string {
  const page = readFileSync(resolve(import.meta.dir, "../../../docs/reverse-proxy.md"), "utf8");
  const found = pattern.exec(page)?.[1];
  if (!found) throw new Error(`docs/reverse-proxy.md has no ${pattern} any more.`);
  return found.replaceAll("http://127.0.0.1:8000", server).replaceAll("127.0.0.1:8000", server.slice(7));
}

function nginx(server: string, port: number): Promise<RealProxy> {
  const others = fromThePage(/location \/ \{\n\s*proxy_pass[^\n]*\n([\s\S]*?)\n\s*\}/, server);
  const below = fromThePage(/(location = \/skep [\s\S]*?\n)\s*# and the other lines/, server);
  return startNginx(folder, `${below}\n${others.replace("$host", "$http_host")}\n}`, port);
}

const caddy = (server: string, port: number): Promise<RealProxy> =>
  startCaddy(folder, fromThePage(/(redir \/skep \/skep\/[\s\S]*?\n\t\})/, server), port);

const PROXIES = [
  { name: "nginx", start: nginx, paths: everyPage },
  { name: "caddy", start: caddy, paths: async () => ["/usage"] },
];

/** All pages with some content, including names with a slash, for the administrator who was created in the browser. */
async function everyPage(server: TestServer): Promise<string[]> {
  const body = { email: ADMIN, password: PASSWORD };
  const { access_token } = (await server.request<{ access_token: string }>("POST", "/v1/auth/login", { body })).body;
  const seen = new Set<string>();
  return pathsOf(await seed(server, access_token)).filter((path) => {
    const page = path.replace(/\?.*/, "");
    const isNew = !seen.has(page) || path.includes("%2F");
    seen.add(page);
    return isNew;
  });
}

/** Whether a fault is the answer that nobody is logged in. */
const isNobodyAt = (path: string, fault: string): boolean =>
  fault.startsWith(`${path}: Failed to load resource: the server responded with a status of 401 `);

/** What the page links to, sends to or shows from this origin, but not from below `site`. */
const OUTSIDE = (site: string) => `[...document.querySelectorAll("[href], [src], [action]")]
  .map((one) => String(one.href ?? one.src ?? one.action))
  .filter((address) => address.startsWith(location.origin) && !address.startsWith(${JSON.stringify(`${site}/`)}))`;

/**
 * Opens the pages one after another as the navigation does, without loading each completely. @returns links and
 * requests that leave the path.
 */
async function walk({ page, waitUntilSettled }: Visitor, site: string, paths: string[]): Promise<string[]> {
  const found: string[] = [];
  const { pathname } = new URL(site);
  for (const path of paths) {
    await page.evaluate(`history.pushState(null, "", ${JSON.stringify(pathname + path)})`);
    await page.locator("main h1:visible, main [role=alert]:visible").first().waitFor();
    // A later answer would count as a fault of the next page.
    await waitUntilSettled();
    if ((await page.locator("main h1").count()) === 0)
      found.push(`${path}: ${await page.locator("main").textContent()}`);
    for (const address of (await page.evaluate(OUTSIDE(site))) as string[]) found.push(`${path}: ${address}`);
  }
  return found;
}

for (const { name, start, paths } of PROXIES)
  describe.skipIf(!hasBrowser() || !hasProgram(name))(`below a path behind ${name}`, () => {
    test("the server is set up and used, live as well, and no request and no link leaves the path", async () => {
      const port = freePort();
      const env = {
        PUBLIC_URL: `http://127.0.0.1:${port}/skep`,
        TRUSTED_PROXIES: "127.0.0.1",
        RATE_LIMIT: "0",
        ...seedEnvironment(folder),
      };
      const [server, browser] = await Promise.all([startServer({ env }), openBrowser()]);
      const proxy = await start(server.url, port);
      const site = `${proxy.url}/skep`;
      const visitor = await visit(browser, site);
      const { page, faults, open } = visitor;
      let outside: string[] = [];
      let last = "";
      try {
        await page.goto(site);
        await typeInto(page.getByLabel("E-mail"), ADMIN);
        await typeInto(page.getByLabel("Password"), PASSWORD);
        await typeInto(page.getByLabel("Setup token"), readFileSync(join(server.data, "setup-token"), "utf8").trim());
        await page.getByRole("button", { name: "Make the account" }).click();
        await page.getByRole("heading", { name: "Set up", level: 1 }).waitFor();
        await page.getByRole("button", { name: "Start the example" }).click();
        const example = page.getByRole("region", { name: "The example" });
        await example.getByText("It is done.").waitFor();
        await example.getByRole("link", { name: "Open the run" }).click();
        await page.waitForURL(/\/skep\/runs\/run_/);
        await page.reload();
        await page.getByRole("heading", { name: "Greet me" }).waitFor();
        await open(`${new URL(page.url()).pathname.slice("/skep".length)}?tab=graph`);
        await page.getByRole("link", { name: "Graph" }).click();
        await page.waitForURL(/\/skep\/runs\/run_.*tab=graph/);
        await page.keyboard.press("Control+k");
        await typeInto(page.getByPlaceholder("Where to"), "engineer");
        await page
          .getByRole("option", { name: /engineer/i })
          .first()
          .click();
        await page.waitForURL(/\/skep\/agents\/engineer/);
        for (const path of ["/chat?new=engineer", "/pipelines/hello", "/usage", "/system"]) await open(path);
        outside = await walk(visitor, site, await paths(server));
        last = new URL(page.url()).pathname;
        await page.getByRole("button", { name: /^A? ?admin/ }).click();
        await page.getByRole("menuitem", { name: "Log out" }).click();
        await page.getByRole("heading", { name: "Log in" }).waitFor();
        expect(new URL(page.url()).pathname).toBe("/skep/");
      } finally {
        await browser.close();
        await Promise.all([proxy.stop(), server.remove()]);
      }
      // Before the account is created, after the log-out, and where the stream ends with it.
      const nobodyAt = ["/skep/", last];
      const others = faults.filter((fault) => !nobodyAt.some((path) => isNobodyAt(path, fault)) && !isOver(fault));
      expect([...outside, ...others]).toEqual([]);
    });
  });
