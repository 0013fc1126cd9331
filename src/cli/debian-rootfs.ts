/**
 * A Debian root file system with the tools for work on code, made by this machine's mmdebstrap or debootstrap. Packages
 * come from the Debian mirror; no container registry is used.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import { badUsage, Problem } from "../core/errors.ts";

/** Packages besides Debian's minimal set. */
const DEBIAN_PACKAGES: readonly string[] = [
  "ca-certificates",
  "curl",
  "file",
  "gcc",
  "git",
  "libc6-dev",
  "make",
  "patch",
  "python3",
  "ripgrep",
];

interface DebianOptions {
  /** Debian release, e.g. `stable`. */
  suite: string;
  /** Packages to add. */
  packages: readonly string[];
  mirror?: string | undefined;
  /** Path of a tar archive that is extracted over the root of the file system. */
  over?: string | undefined;
  /** Receives the tool's output, line by line. */
  onLine(line: string): void;
}

const TAIL = 5;
const createProblem = (detail: string) => new Problem(422, "debian_failed", detail);

/**
 * Creates a tar stream of the file system while it is read.
 * @returns `done` rejects when the tool fails; what was read until then is incomplete.
 * @throws Problem 422 with what to install.
 */
export async function debianRootfs(options: DebianOptions): Promise<{ tar: Readable; done: Promise<void> }> {
  const { suite, packages, mirror, over } = options;
  for (const word of [suite, ...packages])
    if (!/^[a-z0-9][a-z0-9.+-]*$/.test(word)) throw badUsage(`${word} is not a name of a package or release.`);
  const include = `--include=${[...DEBIAN_PACKAGES, ...packages].join(",")}`;
  const from = mirror === undefined ? [] : [mirror];
  const hooks = over === undefined ? [] : [`--customize-hook=tar-in ${over} /`];
  if (Bun.which("mmdebstrap"))
    return run(["mmdebstrap", "--variant=minbase", include, ...hooks, suite, "-", ...from], options);
  if (!Bun.which("debootstrap"))
    throw new Problem(
      422,
      "debian_missing",
      "Neither mmdebstrap nor debootstrap is on this machine: apt install mmdebstrap. Or take a ready image: AGENT_IMAGE=debian:stable, or one that you built with docker build.",
    );
  if (process.getuid?.() !== 0)
    throw createProblem("debootstrap works only for root: use sudo, or apt install mmdebstrap.");
  const folder = mkdtempSync(join(tmpdir(), "skep-debian-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const made = run(["debootstrap", "--variant=minbase", include, suite, folder, ...from], options);
    // Drain standard output, to which debootstrap writes its progress.
    made.tar.on("data", () => {});
    await made.done;
    if (over !== undefined) await drain(run(["tar", "-C", folder, "-xf", over], options));
  } catch (error) {
    remove();
    throw error;
  }
  const { tar, done } = run(["tar", "-C", folder, "--numeric-owner", "-c", "."], options);
  return { tar, done: done.finally(remove) };
}

async function drain({ tar, done }: { tar: Readable; done: Promise<void> }): Promise<void> {
  tar.resume();
  await done;
}

function run([program = "", ...args]: string[], { onLine }: DebianOptions): { tar: Readable; done: Promise<void> } {
  const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
  const said: string[] = [];
  let held = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    const lines = (held + text).split(/[\r\n]+/);
    held = lines.pop() ?? "";
    for (const line of lines.filter((one) => one.trim() !== "")) {
      said.push(line);
      if (said.length > TAIL) said.shift();
      onLine(line);
    }
  });
  const done = new Promise<void>((resolve, reject) => {
    child.on("error", (error) => reject(createProblem(`${program} cannot be run: ${error.message}`)));
    child.on("close", (code) =>
      code === 0 ? resolve() : reject(createProblem(`${program} ended with ${code}: ${said.join(" ").slice(-600)}`)),
    );
  });
  // Output of an ended process is lost unless somebody reads it by then, so it is piped into a stream that keeps it.
  return { tar: child.stdout.pipe(new PassThrough()), done };
}
