/** A copy of another instance says so on every page, and works after an administrator presses the button. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { hasBrowser, openBrowser } from "../browser.ts";
import { temporaryFolder } from "../command.ts";
import { startServer, type TestServer } from "../server.ts";
import { PHONE, visit } from "./visitor.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("a copied instance", () => {
  const folder = temporaryFolder();
  let copy: TestServer;
  let browser: Browser;
  beforeAll(async () => {
    const original = await startServer();
    await original.stop();
    cpSync(original.data, join(folder.path, "copy"), { recursive: true });
    await original.remove();
    [copy, browser] = await Promise.all([startServer({ data: join(folder.path, "copy") }), openBrowser()]);
  });
  afterAll(async () => {
    await browser?.close();
    await copy?.remove();
    folder.remove();
  });

  test("says on each page that it stands by, on a phone too, and works when an administrator activates it", async () => {
    const phone = await visit(browser, copy.url, { viewport: PHONE });
    await phone.open("/runs");
    // The server's status has a separate answer, which arrives after the page's heading.
    await phone.page.getByText("works on a copy of another's data").waitFor();
    expect([await phone.overflow(), await phone.axe(), phone.faults]).toEqual([0, [], []]);
    await phone.close();

    const { page, open, waitUntilSettled, axe, faults, close } = await visit(browser, copy.url);
    await open("/");
    await page.getByText("you activate it: stop the original first").waitFor();
    expect(await axe()).toEqual([]);
    await page.getByRole("button", { name: "Activate" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("The server works from now on.").waitFor();
    await page.getByText("works on a copy of another's data").waitFor({ state: "detached" });
    expect((await copy.request("GET", "/v1/status")).body).toMatchObject({ status: "ok", standby: null });
    await open("/system");
    await waitUntilSettled();
    expect([await page.getByText("works on a copy").count(), faults]).toEqual([0, []]);
    await close();
  });
});
