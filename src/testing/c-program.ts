/** Small C programs and libraries for tests, compiled on demand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Compiled {
  path: string;
  /** The folder of the compiled file, where further files can be put. */
  folder: string;
  remove(): void;
}

/**
 * @param source path of the source file. @returns undefined without a compiler. @throws Error if it does not compile.
 */
export function compileC(source: string, flags: readonly string[]): Compiled | undefined {
  const compiler = Bun.which("gcc") ?? Bun.which("cc");
  if (!compiler) return undefined;
  const folder = mkdtempSync(join(tmpdir(), "skep-c-"));
  const path = join(folder, "made");
  const made = Bun.spawnSync([compiler, "-O1", ...flags, "-o", path, source, "-ldl"]);
  if (made.exitCode !== 0) throw new Error(`${source} does not compile: ${made.stderr}`);
  return { path, folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Compiler flags for a library that `LD_PRELOAD` can load. */
export const LIBRARY = ["-shared", "-fPIC"] as const;
