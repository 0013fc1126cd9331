/**
 * Locates the dashboard's files. A server that runs from the sources finds them in dist/web, where scripts/build puts
 * them. In the executable, the build replaces this module by one that names the embedded files.
 */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** Paths on disk by file name; empty when the dashboard was not built. */
export function dashboardFiles(): Record<string, string> {
  const folder = resolve(import.meta.dir, "../../../dist/web");
  if (!existsSync(join(folder, "inputs.key"))) return {};
  const assets = readdirSync(join(folder, "assets")).map((name) => `assets/${name}`);
  return Object.fromEntries(["index.html", ...assets].map((name) => [name, join(folder, name)]));
}
