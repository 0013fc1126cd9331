/**
 * Records which functions a server needs to start: scripts/start.order, by which build.ts lays out their code together,
 * so that a start reads less of the executable. It stays useful while the code changes; record it again when much has.
 *
 * Where a Docker engine answers, as on most servers:
 *
 *   scripts/build && bun scripts/start-order.ts && scripts/build
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../src/testing/server.ts";

process.env["SKEP_BINARY"] ??= join(import.meta.dir, "../dist/skep");
const folder = mkdtempSync(join(tmpdir(), "skep-order-"));
/** The first periodic work comes after two seconds. */
const SETTLED_MS = 4_000;
try {
  const recorded = join(folder, "order");
  const env = { BUN_BYTECODE_ORDER_OUT: recorded, SANDBOX: "auto" };
  const server = await startServer({ data: join(folder, "data"), env });
  await server.request("GET", "/healthz");
  await Bun.sleep(SETTLED_MS);
  await server.request("GET", "/v1/runs");
  await server.stop();
  // Functions and modules in their order. Of constants there are twenty times as many, and they change nothing.
  const lines = readFileSync(recorded, "utf8").split("\n");
  const kept = lines.filter((line) => /^(v\d|[FMN] )/.test(line));
  writeFileSync(join(import.meta.dir, "start.order"), `${kept.join("\n")}\n`);
  console.log(`${kept.length} of ${lines.length} lines`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
