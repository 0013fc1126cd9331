/**
 * Records the functions that a server needs to start in scripts/start.order. build.ts places their code together, so
 * that a start reads less of the executable. The order stays useful while the code changes; record it again after large
 * changes.
 * Run this where a Docker engine answers, as on most servers:
 *
 *   scripts/build && bun scripts/start-order.ts && scripts/build
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../src/testing/server.ts";

process.env["SKEP_BINARY"] ??= join(import.meta.dir, "../dist/skep");
const folder = mkdtempSync(join(tmpdir(), "skep-order-"));
/** The first periodic work comes after two seconds; wait for it. */
const SETTLED_MS = 4_000;
try {
  const recorded = join(folder, "order");
  const env = { BUN_BYTECODE_ORDER_OUT: recorded, SANDBOX: "auto" };
  const server = await startServer({ data: join(folder, "data"), env });
  await server.request("GET", "/healthz");
  await Bun.sleep(SETTLED_MS);
  await server.request("GET", "/v1/runs");
  await server.stop();
  // Keep the order of functions and modules. There are twenty times as many constants, and these make no difference.
  const lines = readFileSync(recorded, "utf8").split("\n");
  const kept = lines.filter((line) => /^(v\d|[FMN] )/.test(line));
  writeFileSync(join(import.meta.dir, "start.order"), `${kept.join("\n")}\n`);
  console.log(`${kept.length} of ${lines.length} lines`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
