/** The product itself inside the test's process, with its own data folder. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, type AppOptions, createApp } from "../app.ts";
import { readConfig } from "../core/config.ts";

export interface TestApp extends App {
  /** Stops the app and removes its folder. */
  remove(): Promise<void>;
}

/** @param env configuration besides the defaults: a free port, no containers, a silent log. */
export async function openTestApp(env: Record<string, string> = {}, options: AppOptions = {}): Promise<TestApp> {
  const data = mkdtempSync(join(tmpdir(), "skep-app-"));
  const fixed = { DATA: data, PORT: "0", SANDBOX: "process", LOG_LEVEL: "silent" };
  const app = await createApp(readConfig({ ...fixed, ...env }), options);
  await app.resumed;
  return {
    ...app,
    async remove() {
      await app.stop();
      rmSync(data, { recursive: true, force: true });
    },
  };
}
