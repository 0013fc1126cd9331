/**
 * Every page of the dashboard in a real browser: complete, accessible, within its policy, in light and dark themes and
 * on a phone.
 */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Page } from "playwright-core";
import { hasBrowser } from "../browser.ts";
import { pressAll, watchButtons } from "./buttons.ts";
import { motion, smallTargets } from "./layout-rules.ts";
import { MISSING, pathsOf } from "./page-paths.ts";
import { PHONE, visit, WINDOW } from "./visitor.ts";
import { withDashboard } from "./with-dashboard.ts";

// A hundred pages, each checked completely. A busy machine makes that slow, not wrong.
setDefaultTimeout(1_200_000);

/**
 * How each page is checked: in its first theme, in the other one, and on a phone. The later checks cover only what can
 * differ.
 */
const LOOKS = [
  { about: "all", size: WINDOW, target: 24 },
  { about: "theme", size: WINDOW, target: 24 },
  { about: "layout", size: PHONE, target: 44 },
] as const;
/** The navigation around every page; the open page unfolds its own part of it. */
const NAVIGATION = "nav[aria-label=Main]";
/** How many pages are checked in parallel. */
const VISITORS = 3;

const isMissing = (page: Page, selector: string): Promise<boolean> =>
  page
    .locator(selector)
    .first()
    .waitFor()
    .then(
      () => false,
      () => true,
    );

/** Ids in text for people. They may appear where they can be copied or looked up: in code, a branch, an error. */
const rawIds = (page: Page): Promise<string[]> =>
  page.evaluate(`(() => {
    const found = [];
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      if (parentElement.closest("code, pre, textarea, .font-mono")) continue;
      if (/\\b[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}\\b/.test(data)) found.push(data.slice(0, 100));
    }
    return found;
  })()`) as Promise<string[]>;

/** What the navigation shows, and how it marks the open page. */
const navigationOf = (page: Page): Promise<string> =>
  page.evaluate(`(() => {
    const navigation = document.querySelector("${NAVIGATION}");
    return navigation?.innerText + navigation?.querySelector("[aria-current]")?.className;
  })()`) as Promise<string>;

describe.skipIf(!hasBrowser())("the dashboard", () => {
  const dashboard = withDashboard();

  test("light, dark and on a phone no page breaks, breaks a rule of accessibility, asks elsewhere or scrolls sideways; a navigation leads the focus to its heading, and what streams is a log", async () => {
    const { server, browser, ids } = dashboard();
    const paths = pathsOf(ids);
    const streams = [`/runs/${ids.running}`, `/chat/${ids.chat}`, `/onboarding/${ids.onboarding}`];
    const found: string[] = [];
    /** Checks that included the navigation, by what it showed. */
    const seen = new Set<string>();
    const look = async () => {
      const visitor = await visit(browser, server.url, { hasTouch: true, reducedMotion: "reduce" });
      const { page } = visitor;
      // A page that is not among the paths below, so that each of them is reached from another page.
      await visitor.open("/agents/scribe");
      let scheme: "light" | "dark" = "light";
      for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
        await page.evaluate("document.activeElement.blur()");
        await visitor.go(path);
        // A dialog that opens with its page takes the focus itself, as does the first field of a form page.
        const takesFocus = path !== "/runs/new" && !path.includes("?");
        if (takesFocus && (await isMissing(page, "main h1:focus"))) found.push(`${path} leaves the focus elsewhere`);
        found.push(...(await rawIds(page)).map((one) => `${path} shows an id: ${one}`));
        if (streams.includes(path) && (await isMissing(page, "main [role=log]"))) found.push(`${path} has no log`);
        for (const { about, size, target } of LOOKS) {
          // Changing the theme repaints the whole page, so the next page starts in the theme in which this one ended.
          if (about === "theme") scheme = scheme === "light" ? "dark" : "light";
          const name = about === "layout" ? "on a phone" : scheme;
          await page.emulateMedia({ colorScheme: scheme });
          await page.setViewportSize(size);
          // A busy browser needs a frame to lay out the page for its new size, or to paint it in its new colors.
          await visitor.waitUntilSettled();
          const wide = await visitor.overflow();
          if (wide > 0) found.push(`${path} ${name} is ${wide} px too wide`);
          // The navigation makes up half of most pages, so axe checks it only once for each state.
          const navigation = `${name}: ${await navigationOf(page)}`;
          const without = seen.has(navigation) ? NAVIGATION : undefined;
          seen.add(navigation);
          for (const broken of await visitor.axe(about, without)) found.push(`${path} ${name} ${broken}`);
          const small = about === "theme" ? [] : await smallTargets(page, target);
          for (const one of small) found.push(`${path} ${name}: ${one}`);
          for (const one of await motion(page)) found.push(`${path} ${name}: ${one}`);
        }
        await page.setViewportSize(WINDOW);
      }
      await visitor.close();
      // A request for something missing gets a 404, which browsers record; one for an expired invitation a 409.
      found.push(...visitor.faults.filter((fault) => !/50[0-9]|404|^\/join\/.*409/.test(fault)));
    };
    await Promise.all(Array.from({ length: VISITORS }, look));
    expect(found).toEqual([]);
  });

  test("every page is loaded by its address; every button does something, and says so when the server refuses", async () => {
    const { server, browser, ids } = dashboard();
    const paths = pathsOf(ids);
    // A page with ongoing work gets buttons that do nothing; they must be found. What the work renders at the moment of
    // a press counts as the press's effect, so one of them may be missed.
    const running = `/runs/${ids.running}`;
    const dead = ["Not wired", "Leads nowhere", "Does nothing"];
    const done: Record<string, Set<string>> = {};
    const found: string[] = [];
    let count = 0;
    let sent = 0;
    const pressPages = async () => {
      const visitor = await visit(browser, server.url, { reducedMotion: "reduce" });
      await watchButtons(visitor.page);
      for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
        // Pages of the same kind of object count as one page.
        const name = new URL(path, server.url).pathname.replace(/[a-z]+_[a-z0-9]{26}/, ":id");
        done[name] ??= new Set();
        // Loaded by address, like a bookmark; the pages above are reached from each other.
        await visitor.open(path);
        const heading = await visitor.page.locator("main h1").first().textContent();
        if ((heading === "Not found") !== (path === MISSING)) found.push(`${path} loads "${heading}"`);
        if (path === running) {
          await visitor.page.evaluate(`for (const name of ${JSON.stringify(dead)}) {
            const one = document.createElement("button");
            one.className = "not-wired";
            one.textContent = name;
            document.querySelector("main").prepend(one);
          }`);
        }
        const pressed = await pressAll(visitor, server.url, path, done[name]);
        await visitor.page.evaluate(`for (const one of document.querySelectorAll(".not-wired")) one.remove()`);
        found.push(...pressed.found);
        count += pressed.count;
        sent += pressed.sent;
      }
      await visitor.close();
      found.push(...visitor.faults.filter((fault) => !/: Failed to load resource/.test(fault)));
    };
    await Promise.all(Array.from({ length: VISITORS }, pressPages));
    console.log(`pressed ${count} buttons, of which ${sent} sent something`);
    const missing = new Set(dead.map((name) => `nothing follows from ${running}:  › ${name}`));
    expect(found.filter((one) => !missing.has(one))).toEqual([]);
    expect(found.length).toBeGreaterThan(0);
    expect(count).toBeGreaterThan(450);
    expect(sent).toBeGreaterThan(100);
  });

  test("what is copied reaches the clipboard on plain http as well, where pages may not write to it", async () => {
    const { server, browser } = dashboard();
    const { page, open, close, faults } = await visit(browser, server.url);
    await page.addInitScript(`Object.defineProperty(navigator, "clipboard", { value: undefined });
      addEventListener("copy", ({ clipboardData }) => { window.copied = clipboardData.getData("text/plain"); });`);
    await open("/runs");
    // The button says so for a second and a half.
    const copied = page.getByRole("button", { name: "Copied" }).waitFor();
    await page.locator("main").getByRole("button", { name: "Copy the command" }).click();
    await copied;
    expect(await page.evaluate("window.copied")).toBe("skep runs");
    await close();
    expect(faults).toEqual([]);
  });

  test("what a first view loads is at most 150 kB, by the bundler's own account", () => {
    const path = resolve(import.meta.dir, "../../../dist/web/sizes.json");
    const { first } = JSON.parse(readFileSync(path, "utf8")) as { first: { name: string; gzip: number }[] };
    expect(first.length).toBeGreaterThan(2);
    expect(first.reduce((sum, { gzip }) => sum + gzip, 0)).toBeLessThan(150_000);
  });
});
