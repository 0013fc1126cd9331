/** The dashboard below a path of a real proxy, set up as docs/reverse-proxy.md says. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { PASSWORD } from "../accounts.ts";
import { hasBrowser, openBrowser } from "../browser.ts";
import { freePort, hasProgram, type RealProxy, startCaddy, startNginx } from "../proxies.ts";
import { startServer } from "../server.ts";
import { visit } from "./visitor.ts";

setDefaultTimeout(300_000);

const folder = mkdtempSync(join(tmpdir(), "skep-below-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the page says under "Below a path", for this server. */
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
  { name: "nginx", start: nginx },
  { name: "caddy", start: caddy },
];

for (const { name, start } of PROXIES)
  describe.skipIf(!hasBrowser() || !hasProgram(name))(`below a path behind ${name}`, () => {
    test("the server is set up and used, live as well, and no request leaves the path", async () => {
      const port = freePort();
      const env = {
        PUBLIC_URL: `http://127.0.0.1:${port}/skep`,
        TRUSTED_PROXIES: "127.0.0.1",
        ALLOW_HOST_SHELL: "true",
      };
      const [server, browser] = await Promise.all([startServer({ env }), openBrowser()]);
      const proxy = await start(server.url, port);
      const site = `${proxy.url}/skep`;
      const { page, faults, open } = await visit(browser, site);
      try {
        await page.goto(site);
        await page.getByLabel("E-mail").fill("admin@example.test");
        await page.getByLabel("Password").fill(PASSWORD);
        await page.getByLabel("Setup token").fill(readFileSync(join(server.data, "setup-token"), "utf8").trim());
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
        await page.keyboard.press("Control+k");
        await page.getByPlaceholder("Where to").fill("engineer");
        await page
          .getByRole("option", { name: /engineer/i })
          .first()
          .click();
        await page.waitForURL(/\/skep\/agents\/engineer/);
        for (const path of ["/chat?new=engineer", "/pipelines/hello", "/usage", "/system"]) await open(path);
        await page.getByRole("button", { name: /^A? ?admin/ }).click();
        await page.getByRole("menuitem", { name: "Log out" }).click();
        await page.getByRole("heading", { name: "Log in" }).waitFor();
        expect(new URL(page.url()).pathname).toBe("/skep/");
      } finally {
        await browser.close();
        await Promise.all([proxy.stop(), server.remove()]);
      }
      // The first question of all is who is there; nobody is, until the account is made.
      expect(faults.filter((fault) => !/401/.test(fault))).toEqual([]);
    });
  });
