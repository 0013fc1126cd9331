/** The code graph in a browser: a symbol is found, drawn among its neighbors and followed; the map and its list. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { readUntil } from "../attacks/waiting.ts";
import { hasBrowser } from "../browser.ts";
import { typeInto } from "./keyboard.ts";
import { visit } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

setDefaultTimeout(300_000);

describe.skipIf(!hasBrowser())("the code graph", () => {
  const dashboard = withDashboard();

  test("a symbol is found, drawn between both sides, opened a step further, and what a change reaches is listed", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/projects/${ids.project}/graph`);
    await page.keyboard.press("/");
    await page.keyboard.type("withTax");
    await page
      .getByRole("list", { name: "Found symbols" })
      .getByRole("link", { name: /withTax/ })
      .first()
      .click();
    const drawn = page.getByRole("region", { name: "Neighbourhood of the symbol" });
    const readLeft = async (name: string) => (await drawn.getByRole("link", { name }).boundingBox())!.x;
    await drawn.getByRole("link", { name: "total" }).waitFor();
    const [caller, focus, callee] = [
      await readLeft("total Method"),
      await readLeft("withTax"),
      await readLeft("round"),
    ];
    expect([caller < focus, focus < callee]).toEqual([true, true]);
    // By keyboard only: the button beside the symbol also opens what depends on it.
    await drawn.getByRole("button", { name: "Open total" }).focus();
    await page.keyboard.press("Enter");
    await drawn.getByRole("link", { name: /^main Function/ }).waitFor();
    expect((await readLeft("main Function")) < (await readLeft("total Method"))).toBe(true);
    await drawn.getByRole("button", { name: "Close total" }).click();
    await drawn.getByRole("link", { name: /^main Function/ }).waitFor({ state: "detached" });
    await page.getByText("will break").waitFor();
    await drawn.getByRole("link", { name: "round" }).click();
    await page.getByRole("region", { name: "round" }).getByText("src/tax.ts").waitFor();
    expect(page.url()).toContain("symbol=Function%3Asrc%2Ftax.ts%23round");
    await close();
    expect(faults).toEqual([]);
  });

  test("the map is painted, a cluster is chosen from its list, symbols are found on it and lead to their view", async () => {
    const { server, browser, ids } = dashboard();
    const { page, close, open, faults } = await visit(browser, server.url);
    await open(`/projects/${ids.project}/graph?tab=map`);
    await page.getByRole("list", { name: "Clusters" }).waitFor();
    const colours = () =>
      page.evaluate(`(() => {
        const canvas = document.querySelector("canvas");
        const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        return new Set(new Uint32Array(data.buffer)).size;
      })()`) as Promise<number>;
    await page.waitForFunction("document.querySelector('canvas').width > 300");
    expect(await readUntil(colours, (count) => count > 10)).toBeGreaterThan(10);
    const clusters = page.getByRole("list", { name: "Clusters" }).getByRole("button");
    const name = (await clusters.first().locator("span").first().textContent())!;
    await clusters.first().click();
    await page.getByRole("list", { name, exact: true }).getByRole("link").first().waitFor();
    await page.getByRole("button", { name: "All clusters" }).click();
    await typeInto(page.getByRole("searchbox", { name: "Find on the map" }), "withtax");
    await page
      .getByRole("list", { name: "Matches" })
      .getByRole("link", { name: /withTax/ })
      .click();
    await page.getByRole("region", { name: "withTax" }).waitFor();
    await close();
    expect(faults).toEqual([]);
  });

  test("what the pages of the graph load lazily is at most 38 kB", () => {
    const path = resolve(import.meta.dir, "../../../dist/web/sizes.json");
    const { lazy = [] } = JSON.parse(readFileSync(path, "utf8")) as { lazy?: { name: string; gzip: number }[] };
    const own = lazy.filter(({ name }) => /^(graph-page|map)-/.test(name));
    expect(own.length).toBeGreaterThan(0);
    expect(own.reduce((sum, { gzip }) => sum + gzip, 0)).toBeLessThan(38_000);
  });
});
