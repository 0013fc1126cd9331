/** Runs commands to their end for benchmarks: wall time, and the memory of the whole process tree. */
import { readdirSync, readFileSync } from "node:fs";

export interface Ran {
  /** Wall time of the whole command. */
  seconds: number;
  /**
   * Most resident megabytes of the command and all its children at one moment, looked at every 25 ms; pages they share
   * count once for each. At least what the kernel says the command itself had at its height.
   */
  megabytes: number;
  stdout: string;
}

const SAMPLE_MS = 25;
const PAGE_BYTES = 4096;
const MEGABYTE = 1024 * 1024;

/** @throws Error with the end of its error output when the command fails. */
export async function run(command: readonly string[], cwd: string, env?: Record<string, string>): Promise<Ran> {
  const started = performance.now();
  const child = Bun.spawn([...command], {
    cwd,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(env ? { env } : {}),
  });
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, ownPeak(child.pid), treeBytes(child.pid));
  }, SAMPLE_MS);
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  const code = await child.exited;
  clearInterval(watch);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stderr.slice(-500)}`);
  return { seconds: (performance.now() - started) / 1_000, megabytes: peak / MEGABYTE, stdout };
}

/** Resident bytes of a process and its descendants; 0 for what has just ended. */
function treeBytes(root: number): number {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    // A name may hold spaces and brackets: fields count from the last bracket.
    const fields = Number.isInteger(pid) ? text(`/proc/${pid}/stat`).replace(/^.*\)/s, "").split(" ") : [];
    const parent = Number(fields[2]);
    if (fields.length > 2) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree.reduce((sum, pid) => sum + Number(text(`/proc/${pid}/statm`).split(" ")[1] ?? 0) * PAGE_BYTES, 0);
}

/** The most a process ever had in memory, in bytes. */
const ownPeak = (pid: number): number => Number(/VmHWM:\s+(\d+)/.exec(text(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
