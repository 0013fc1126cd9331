/** A real browser for tests: this machine's Chromium, headless, each time with an empty profile. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { compileC, LIBRARY } from "./c-program.ts";
import { lacks } from "./parts.ts";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
/** The same engine without the browser's own windows. It saves a sixth of a test's processor time. */
const SHELL = "/usr/bin/chromium-headless-shell";

/** Timeout of a start and of each action on a page, in ms. It ends what hangs, but a busy machine is only slow. */
export const PATIENCE_MS = 120_000;

/** Whether a browser is installed, for `skipIf`; if not, it says so. */
export const hasBrowser = (): boolean => !lacks("Chromium", PATHS.some(existsSync));

/**
 * Chromium's error for requests that it drops because a network interface, for example of a container, came or went.
 */
export const NETWORK_CHANGED = "net::ERR_NETWORK_CHANGED";

/**
 * That error, or the form it takes while the browser is still showing its own error page or reloading the address by
 * itself.
 */
const DROPPED =
  /net::ERR_NETWORK_CHANGED|interrupted by another navigation to "chrome-error:|to "([^"]+)" is interrupted by another navigation to "\1"/;
const LOADS = 5;

/** Makes the page repeat navigations that were dropped for this reason, as a person would. */
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
 * Features to switch off: the lists below the address bar, which cost two processes for each window and 40 % of a short
 * page's time. Of two feature lists only the last counts, so those that the library switches off are included.
 */
const OFF = `
  WebUIOmniboxPopup WebUIOmniboxAimPopup WebUIOmniboxFullPopup
  AvoidUnnecessaryBeforeUnloadCheckSync DestroyProfileOnBrowserClose HttpsUpgrades HttpsFirstBalancedModeAutoEnable
  LensOverlay MediaRouter PaintHolding ThirdPartyStoragePartitioning AvoidCorsURLLoaderRestartOnRedirect
  OptimizationHints NetworkTimeServiceQuerying AimEnabled PreconnectToSearch`;

/**
 * Opens a browser that can reach only this machine. Close it when done.
 * @param options.asPeopleHave use the complete browser with all compilers, to measure how long people wait. Otherwise
 * the two optimizing compilers are switched off: a test's scripts run too briefly for them, and this saves a tenth.
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
  // Until the browser has disconnected, more of its processes may start.
  browser.on("disconnected", () => still?.remove());
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => (await newContext(options)).on("page", loadAgain);
  return browser;
}
