/** Runs the command line once for a test, from the executable or the sources, without the test run's environment. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { skepCommand } from "./server.ts";

interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  stdin?: string | Uint8Array;
  cwd?: string;
  /** The command is killed after this many ms; the exit code is then that of the signal. */
  timeoutMs?: number;
}

/** Runs `skep ARGS…` and waits for its end. */
export async function skep(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const { env = {}, stdin = "", cwd, timeoutMs = 240_000 } = options;
  const child = Bun.spawn(skepCommand(...args), {
    env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...env },
    stdin: typeof stdin === "string" ? Buffer.from(stdin) : stdin,
    stdout: "pipe",
    stderr: "pipe",
    timeout: timeoutMs,
    ...(cwd ? { cwd } : {}),
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** A temporary folder, which `remove` deletes. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "skep-cli-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
