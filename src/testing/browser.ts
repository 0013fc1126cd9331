/** A real browser for a test: Chromium of this machine, without a window, each time with an empty profile. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { compileC, LIBRARY } from "./c-program.ts";
import { lacks } from "./parts.ts";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** The same engine without the browser's own windows, which nobody sees here: a sixth of the processor time of a test less. */
const SHELL = "/usr/bin/chromium-headless-shell";

/** For a start, and for each action of a page: what hangs ends, and a busy machine is only slow. */
export const PATIENCE_MS = 120_000;

/** Whether there is one; for `skipIf`, which then says so. */
export const hasBrowser = (): boolean => !lacks("Chromium", PATHS.some(existsSync));

/** What Chromium says of requests that it drops because a network interface, such as a container's, came or went. */
export const NETWORK_CHANGED = "net::ERR_NETWORK_CHANGED";

/** So, or so where the browser was still about to show its own page about it, or loads that page's address again by itself. */
const DROPPED =
  /net::ERR_NETWORK_CHANGED|interrupted by another navigation to "chrome-error:|to "([^"]+)" is interrupted by another navigation to "\1"/;
const LOADS = 5;

/** Loads of the page that are dropped for that are made again, as a person would. */
function loadAgain(page: Page): void {
  const again = <A extends unknown[], R>(load: (...args: A) => Promise<R>) => {
    const from = (left: number, args: A): Promise<R> =>
      load(...args).catch((error: Error) => {
        if (left === 0 || !DROPPED.test(error.message)) throw error;
        return from(left - 1, args);
      });
    return (...args: A) => from(LOADS - 1, args);
  };
  page.goto = again(page.goto.bind(page));
  page.reload = again(page.reload.bind(page));
}

/**
 * The lists below the address bar, which nobody opens here: two processes for each window, 40 % of what a short page costs.
 * Of two lists of features the last counts, so those that the library switches off are in it, too.
 */
const OFF = `
  WebUIOmniboxPopup WebUIOmniboxAimPopup WebUIOmniboxFullPopup
  AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades HttpsFirstBalancedModeAutoEnable
  LensOverlay MediaRouter PaintHolding ThirdPartyStoragePartitioning AvoidCorsURLLoaderRestartOnRedirect
  OptimizationHints NetworkTimeServiceQuerying AimEnabled PreconnectToSearch`;

/**
 * Close it when done. It reaches this machine and nothing else.
 * @param options.asPeopleHave the whole browser with all its compilers, for measuring what a person waits for. A test's
 *   scripts run too short for the two that optimize: they are left out, for a tenth less.
 */
export async function openBrowser({ asPeopleHave = false } = {}): Promise<Browser> {
  const executablePath = (asPeopleHave ? PATHS : [SHELL, ...PATHS]).find((path) => existsSync(path));
  if (!executablePath) throw new Error(`no Chromium at ${PATHS.join(", ")}`);
  const still = compileC(join(import.meta.dir, "still-network.c"), LIBRARY);
  const browser = await chromium.launch({
    executablePath,
    env: still ? { ...process.env, LD_PRELOAD: still.path } : process.env,
    headless: true,
    timeout: PATIENCE_MS,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-sync",
      ...(asPeopleHave ? [] : ["--js-flags=--no-opt --no-maglev"]),
      `--disable-features=${OFF.trim().split(/\s+/)}`,
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE *.localhost, EXCLUDE 127.0.0.1",
    ],
  });
  // Until then more processes of it may start.
  browser.on("disconnected", () => still?.remove());
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => (await newContext(options)).on("page", loadAgain);
  return browser;
}
