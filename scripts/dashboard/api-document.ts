/** Starts a server on an empty folder and writes its OpenAPI document to standard output. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApp } from "../../src/app.ts";
import { readConfig } from "../../src/core/config.ts";

const folder = mkdtempSync(join(tmpdir(), "skep-document-"));
const { PATH = "" } = process.env;
const app = await createApp(readConfig({ PATH, DATA: folder, PORT: "0", SANDBOX: "process", LOG_LEVEL: "silent" }));
try {
  process.stdout.write(await (await fetch(new URL("/openapi.json", app.url))).text());
} finally {
  await app.stop();
  rmSync(folder, { recursive: true, force: true });
}
