/** A real browser for a test: Chromium of this machine, without a window, each time with an empty profile. */
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const PATHS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** For a start, and for each action of a page: what hangs ends, and a busy machine is only slow. */
export const PATIENCE_MS = 120_000;

/** Whether there is one; with CI set, tests fail rather than be skipped without it. */
export const hasBrowser = (): boolean => process.env["CI"] === "true" || PATHS.some((path) => existsSync(path));

/** Close it when done. It reaches this machine and nothing else. */
export async function openBrowser(): Promise<Browser> {
  const executablePath = PATHS.find((path) => existsSync(path));
  if (!executablePath) throw new Error(`no Chromium at ${PATHS.join(", ")}`);
  return chromium.launch({
    executablePath,
    headless: true,
    timeout: PATIENCE_MS,
    args: [
      ...["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"],
      "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
    ],
  });
}
