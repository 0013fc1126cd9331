/**
 * A browser on the dashboard that records what must not happen: errors, blocked scripts and styles, requests to other
 * sites.
 */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContextOptions, Page, Request } from "playwright-core";
import { NETWORK_CHANGED, PATIENCE_MS } from "../browser.ts";

export interface Visitor {
  page: Page;
  /** What was wrong so far, with the address where it happened. */
  faults: string[];
  /** Opens a path of the site and waits until its heading and the answers to its requests are there. */
  open(path: string): Promise<void>;
  /** Navigates to a path as a link does, without loading the whole page again, and waits as `open` does. */
  go(path: string): Promise<void>;
  /** Waits until every request of the page is answered and rendered. Streams may continue. */
  waitUntilSettled(): Promise<void>;
  /**
   * The accessibility rules that the page violates, with the elements.
   * @param about which set of `RULES` is checked. @param without selector of an element that is checked elsewhere.
   */
  axe(about?: keyof typeof RULES, without?: string): Promise<string[]>;
  /** How many px the page is wider than its window, after it was laid out. */
  overflow(): Promise<number>;
  close(): Promise<void>;
}

/** Sets of rules to check: all, or those whose result depends on the theme, or on the width. */
const RULES = {
  all: null,
  theme: ["color-contrast"],
  layout: [
    "aria-hidden-focus",
    "button-name",
    "heading-order",
    "label",
    "landmark-one-main",
    "link-name",
    "nested-interactive",
    "page-has-heading-one",
    "region",
    "scrollable-region-focusable",
  ],
};

/** The minified script of the axe version that the builder depends on. */
const axeScript = (): string => {
  const builder = Bun.resolveSync("@axe-core/playwright", import.meta.dir);
  return readFileSync(Bun.resolveSync("axe-core/axe.min.js", dirname(builder)), "utf8");
};

interface Broken {
  any: { message: string }[];
  all: { message: string }[];
  none: { message: string }[];
}

/** Waits for two frames. A page for which the browser currently draws no frames is taken as it is. */
const DRAWN = `new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20)));
  setTimeout(done, 2000);
})`;
/** A page that has sent requests in this many rounds does not come to rest. */
const ROUNDS_MOST = 500;

export const PHONE = { width: 390, height: 844 };
export const WINDOW = { width: 1280, height: 800 };

export async function visit(browser: Browser, base: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ viewport: WINDOW, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  /**
   * Pending requests, each with a promise for its end. Playwright's own `finished()` never ends for an aborted request.
   */
  const asked = new Map<Request, PromiseWithResolvers<void>>();
  const note = (what: string) => faults.push(`${new URL(page.url()).pathname}: ${what}`);
  page.on("pageerror", (error) => note(`throws ${error.message}`));
  page.on("console", (message) => {
    // Other tests start containers meanwhile, which makes the browser drop requests. The page repeats them by itself.
    if (message.text() === `Failed to load resource: ${NETWORK_CHANGED}`) return;
    if (message.type() === "error" || /violat|Trusted/i.test(message.text())) note(message.text().slice(0, 300));
  });
  page.on("request", (request) => {
    const address = request.url();
    if (!/stream|\/logs/.test(address)) asked.set(request, Promise.withResolvers());
    if (!address.startsWith(base) && !/^(data|blob):/.test(address)) note(`asks ${address}`);
  });
  const onRequestEnd = (request: Request) => {
    asked.get(request)?.resolve();
    asked.delete(request);
  };
  page.on("requestfinished", onRequestEnd);
  page.on("requestfailed", onRequestEnd);
  const waitForDraw = () => page.evaluate(DRAWN);
  const there = async () => {
    await page.locator("main h1").first().waitFor();
    await page.locator('[role="status"]:has-text("Loading")').first().waitFor({ state: "detached" });
  };
  return {
    page,
    faults,
    async open(path) {
      await page.goto(base + path);
      await there();
    },
    async go(path) {
      await page.evaluate(`history.pushState(null, "", ${JSON.stringify(base + path)})`);
      await there();
    },
    async waitUntilSettled() {
      let rounds = 0;
      do {
        await asked.values().next().value?.promise;
        await waitForDraw();
        if (++rounds > ROUNDS_MOST)
          throw new Error(
            `${page.url()} goes on asking: ${[...asked.keys()].map((request) => request.url()).join(", ")}`,
          );
      } while (asked.size > 0);
    },
    async axe(about = "all", without) {
      // Our pages contain no frames, so no second page is needed to merge their findings. The builder would run the
      // long form of the script twice, which takes longer than the rules themselves.
      if (!(await page.evaluate("'axe' in window"))) await page.evaluate(`${axeScript()};0`);
      const builder = new AxeBuilder({ page, axeSource: "0" });
      // The other reporters also describe passed checks, which takes a third of the time of all rules.
      builder.setLegacyMode().options({ reporter: "no-passes" });
      if (without) builder.exclude(without);
      const rules = RULES[about];
      if (rules) builder.withRules(rules);
      const { violations } = await builder.analyze();
      const why = ({ any, all, none }: Broken) => [...any, ...all, ...none].map(({ message }) => message).join("; ");
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id}: ${node.html.slice(0, 160)} (${why(node)})`),
      );
    },
    async overflow() {
      const wide = () => page.evaluate("document.documentElement.scrollWidth - innerWidth") as Promise<number>;
      if ((await wide()) <= 0) return 0;
      await waitForDraw();
      return wide();
    },
    close: () => context.close(),
  };
}
