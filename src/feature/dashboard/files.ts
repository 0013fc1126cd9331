/**
 * Where the dashboard's files are. Run from the sources: in dist/web, where scripts/build puts them. In the executable
 * this module is another one, written by the build, that names the embedded files.
 */
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";

/** Paths on disk by the files' names; empty when nothing was built. */
export function dashboardFiles(): Record<string, string> {
  const folder = resolve(import.meta.dir, "../../../dist/web");
  if (!existsSync(join(folder, "inputs.key"))) return {};
  const assets = readdirSync(join(folder, "assets")).map((name) => `assets/${name}`);
  return Object.fromEntries(["index.html", ...assets].map((name) => [name, join(folder, name)]));
}
