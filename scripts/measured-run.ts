/** Runs commands to their end for benchmarks and measures the wall time, or the memory of the whole process tree. */
import { readdirSync, readFileSync } from "node:fs";

export interface Command {
  command: readonly string[];
  cwd: string;
  /** Replaces this process's environment. */
  env?: Record<string, string>;
}

export interface Ran {
  /** Wall time of the whole command, in seconds. */
  seconds: number;
  stdout: string;
}

/** The highest memory use of a command and all its children at one moment, in MB. */
export interface Peak {
  /**
   * Resident memory, sampled every 25 ms; shared pages count once for each process. At least the kernel's peak for the
   * command itself.
   */
  megabytes: number;
  /** The same with each shared page counted once (`Pss`), sampled every 100 ms. */
  megabytesOnce: number;
}

const SAMPLE_MS = 25;
/** `Pss` is sampled less often, because the kernel walks through all pages for it. */
const SAMPLES_UNTIL_PAGES = 4;
const PAGE_BYTES = 4096;
const MEGABYTE = 1024 * 1024;

/**
 * Runs a command without watching its memory, since watching takes a tenth of two cores.
 * @throws Error with the end of its error output if the command fails.
 */
export const run = (command: Command): Promise<Ran> => start(command).finished;

/** Runs a command and watches its memory. @throws Error with the end of its error output if the command fails. */
export async function watchMemory(command: Command): Promise<Peak> {
  const { pid, finished } = start(command);
  let [peak, peakOnce, samples] = [0, 0, 0];
  const watch = setInterval(() => {
    const tree = treeOf(pid);
    peak = Math.max(peak, ownPeak(pid), sumOf(tree, residentBytes));
    if (++samples % SAMPLES_UNTIL_PAGES === 0) peakOnce = Math.max(peakOnce, sumOf(tree, proportionalBytes));
  }, SAMPLE_MS);
  try {
    await finished;
    return { megabytes: peak / MEGABYTE, megabytesOnce: peakOnce / MEGABYTE };
  } finally {
    clearInterval(watch);
  }
}

function start({ command, cwd, env }: Command) {
  const started = performance.now();
  const child = Bun.spawn([...command], {
    cwd,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    ...(env ? { env } : {}),
  });
  const finish = async (): Promise<Ran> => {
    const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
    const code = await child.exited;
    const seconds = (performance.now() - started) / 1_000;
    if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${stderr.slice(-500)}`);
    return { seconds, stdout };
  };
  return { pid: child.pid, finished: finish() };
}

/** A process and its descendants. */
function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    // The name may contain spaces and brackets, so count the fields from the last bracket.
    const fields = Number.isInteger(pid) ? readText(`/proc/${pid}/stat`).replace(/^.*\)/s, "").split(" ") : [];
    const parent = Number(fields[2]);
    if (fields.length > 2) children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

const sumOf = (tree: readonly number[], bytesOf: (pid: number) => number): number =>
  tree.reduce((sum, pid) => sum + bytesOf(pid), 0);

/** Resident memory in bytes; 0 for a process that has just ended. */
const residentBytes = (pid: number): number => Number(readText(`/proc/${pid}/statm`).split(" ")[1] ?? 0) * PAGE_BYTES;
const proportionalBytes = (pid: number): number =>
  Number(/^Pss:\s+(\d+)/m.exec(readText(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0) * 1024;

/** The most memory that a process has ever used, in bytes. */
const ownPeak = (pid: number): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readText(`/proc/${pid}/status`))?.[1] ?? 0) * 1024;

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
