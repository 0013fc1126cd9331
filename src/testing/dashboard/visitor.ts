/** A browser at the dashboard that writes down what must not happen: errors, refused scripts and styles, requests elsewhere. */
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import AxeBuilder from "@axe-core/playwright";
import type { Browser, BrowserContextOptions, Page, Request } from "playwright-core";
import { NETWORK_CHANGED, PATIENCE_MS } from "../browser.ts";

export interface Visitor {
  page: Page;
  /** What was wrong so far, with the address it was wrong at. */
  faults: string[];
  /** Opens a path of the site and waits until its heading and its questions' answers are there. */
  open(path: string): Promise<void>;
  /** Goes to a path as a link of the page does, without loading it all again, and waits as `open` does. */
  go(path: string): Promise<void>;
  /** Waits until every question of the page is answered and drawn; streams go on. */
  settled(): Promise<void>;
  /**
   * Rules of accessibility that the page breaks, with the elements; `RULES` says of which kind.
   * @param without selector of what is looked at elsewhere.
   */
  axe(about?: keyof typeof RULES, without?: string): Promise<string[]>;
  /** Pixels by which the page is wider than its window, once it is laid out for it. */
  overflow(): Promise<number>;
  close(): Promise<void>;
}

/** Rules that are looked at: all, or those whose answer depends on the theme, or on the width. */
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

/** The script of axe that the builder brings with it, without its comments and spaces. */
const axeScript = (): string => {
  const builder = Bun.resolveSync("@axe-core/playwright", import.meta.dir);
  return readFileSync(Bun.resolveSync("axe-core/axe.min.js", dirname(builder)), "utf8");
};

interface Broken {
  any: { message: string }[];
  all: { message: string }[];
  none: { message: string }[];
}

/** Two frames of the page; a page that the browser draws no frames for at the moment is as it is. */
const DRAWN = `new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 20)));
  setTimeout(done, 2000);
})`;
/** A page that has asked again so often does not come to rest. */
const ROUNDS_MOST = 500;

export const PHONE = { width: 390, height: 844 };
export const WINDOW = { width: 1280, height: 800 };

export async function visit(browser: Browser, base: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const context = await browser.newContext({ viewport: WINDOW, ...options });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  const faults: string[] = [];
  /** Requests under way, each with what its end resolves; playwright's own `finished()` never ends for an aborted one. */
  const asked = new Map<Request, PromiseWithResolvers<void>>();
  const note = (what: string) => faults.push(`${new URL(page.url()).pathname}: ${what}`);
  page.on("pageerror", (error) => note(`throws ${error.message}`));
  page.on("console", (message) => {
    // Tests beside this one start containers; the page asks again by itself.
    if (message.text() === `Failed to load resource: ${NETWORK_CHANGED}`) return;
    if (message.type() === "error" || /violat|Trusted/i.test(message.text())) note(message.text().slice(0, 300));
  });
  page.on("request", (request) => {
    const address = request.url();
    if (!/stream|\/logs/.test(address)) asked.set(request, Promise.withResolvers());
    if (!address.startsWith(base) && !/^(data|blob):/.test(address)) note(`asks ${address}`);
  });
  const ended = (request: Request) => {
    asked.get(request)?.resolve();
    asked.delete(request);
  };
  page.on("requestfinished", ended);
  page.on("requestfailed", ended);
  const drawn = () => page.evaluate(DRAWN);
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
    async settled() {
      let rounds = 0;
      do {
        await asked.values().next().value?.promise;
        await drawn();
        if (++rounds > ROUNDS_MOST)
          throw new Error(
            `${page.url()} goes on asking: ${[...asked.keys()].map((request) => request.url()).join(", ")}`,
          );
      } while (asked.size > 0);
    },
    async axe(about = "all", without) {
      // Our pages hold no frames, so that no second page is needed to bring their findings together.
      // The builder would run the long form of the script twice, which takes longer than the rules do.
      if (!(await page.evaluate("'axe' in window"))) await page.evaluate(`${axeScript()};0`);
      const builder = new AxeBuilder({ page, axeSource: "0" });
      // The other reporters also describe what holds, which takes a third of the time of all rules.
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
      await drawn();
      return wide();
    },
    close: () => context.close(),
  };
}
