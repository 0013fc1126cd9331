/** Small programs and libraries in C that tests need, compiled when they are asked for. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Compiled {
  path: string;
  /** The folder that holds it, for files beside it. */
  folder: string;
  remove(): void;
}

/** @param source path of the file. @returns undefined without a compiler. @throws Error where it does not compile. */
export function compileC(source: string, flags: readonly string[]): Compiled | undefined {
  const compiler = Bun.which("gcc") ?? Bun.which("cc");
  if (!compiler) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "skep-c-"));
  const path = join(folder, "made");
  const made = Bun.spawnSync([compiler, "-O1", ...flags, "-o", path, source, "-ldl"]);
  if (made.exitCode !== 0) throw new Error(`${source} does not compile: ${made.stderr}`);
  return { path, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** For `LD_PRELOAD`. */
export const LIBRARY = ["-shared", "-fPIC"] as const;
