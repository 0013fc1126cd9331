/** What the package builders share: running programs, digests, and reproducible archives. */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export interface Release {
  version: string;
  /** Time of the release's commit, in seconds since the epoch. Every file in every archive gets this time. */
  epoch: number;
  /** The URL from which the release's files are downloaded, without a trailing slash. */
  url: string;
  /** Folder for the results. */
  out: string;
  /** Folder for temporary files. */
  work: string;
  /** Compresses archives and packages as little as possible, for tests. */
  fast?: boolean;
}

export function fail(message: string): never {
  console.error(`release: ${message}`);
  process.exit(1);
}

/** Runs a program with the release's time in its environment. @returns its standard output. */
export function run(command: string[], options: { epoch?: number; cwd?: string } = {}): string {
  const { epoch, cwd } = options;
  const env = { ...process.env, LC_ALL: "C", TZ: "UTC", ...(epoch ? { SOURCE_DATE_EPOCH: String(epoch) } : {}) };
  const done = Bun.spawnSync(command, { env, stderr: "pipe", ...(cwd ? { cwd } : {}) });
  if (done.exitCode !== 0) fail(`${command.join(" ")} failed: ${done.stderr.toString().trim().slice(-2_000)}`);
  return done.stdout.toString().trim();
}

export const digestOf = (path: string): string => createHash("sha256").update(readFileSync(path)).digest("hex");

/** Writes a file that everybody can read, and creates its folders. */
export function put(root: string, path: string, content: string | Buffer, mode = 0o644): void {
  const whole = join(root, path);
  mkdirSync(dirname(whole), { recursive: true, mode: 0o755 });
  writeFileSync(whole, content);
  chmodSync(whole, mode);
}

/** Archives `names` of `folder`, sorted, with the same time and owner for all. */
export function createTar(folder: string, names: string[], path: string, epoch: number): void {
  const same = ["--sort=name", `--mtime=@${epoch}`, "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"];
  run(["tar", ...same, "-C", folder, "-cf", path, ...names], { epoch });
}

/** Replaces each `@NAME@` by `values.NAME`. @throws Error for a name without a value. */
export function fillTemplate(name: string, values: Record<string, string>): string {
  const text = readFileSync(join(import.meta.dir, "templates", name), "utf8");
  return text.replace(/@([A-Z0-9_]+)@/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`${name}: nothing is known for ${key}`);
    return value;
  });
}
