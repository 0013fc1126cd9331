/**
 * Where running servers say how to reach them: each in its data folder (`server.json`), and those of this user in a list
 * in the user's state folder, so that commands find them from anywhere. Readable for the owner alone.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { codeOf } from "../../core/errors.ts";
import { ownJson } from "../../core/own-json.ts";

export interface ServerFile {
  url: string;
  pid: number;
  /** The machine or container that `pid` is a process of. */
  host: string;
  /** The data folder. */
  data: string;
}

/** One that has ended refuses at once; one that is busy may take a while. */
export const ANSWER_MS = 10_000;

const fileIn = (data: string): string => join(resolve(data), "server.json");
const listFolder = (): string =>
  join(process.env["XDG_STATE_HOME"] || join(homedir(), ".local", "state"), "skep", "servers");
const listedAs = (data: string): string =>
  join(listFolder(), `${createHash("sha256").update(resolve(data)).digest("hex").slice(0, 16)}.json`);

/** Written whole to a new file that takes the old one's place: never half, never readable by others. */
export function writePrivately(path: string, value: unknown): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/** Says where this process's server listens. @throws when the data folder cannot be written. */
export function publishServer(url: string, data: string): void {
  writePrivately(fileIn(data), { url, pid: process.pid, host: hostname(), data: resolve(data) } satisfies ServerFile);
}

/** Puts it on the user's list. Without a place for it (no home), commands need --data or --url; that is not an error. */
export function listServer(url: string, data: string): void {
  const path = listedAs(data);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writePrivately(path, { url, pid: process.pid, host: hostname(), data: resolve(data) } satisfies ServerFile);
  } catch {
    // See above.
  }
}

/** Removes what the two functions above wrote. */
export function withdrawServer(data: string): void {
  rmSync(fileIn(data), { force: true });
  try {
    rmSync(listedAs(data), { force: true });
  } catch {
    // A list that cannot be written has no entry of this process.
  }
}

/** The server that works on this data folder, if one answers. */
export async function runningServer(data: string): Promise<ServerFile | undefined> {
  const file = read(fileIn(data));
  return file && (await isAlive(file)) ? file : undefined;
}

/**
 * Servers on the user's list that run on this machine and answer; entries of those that do not are removed. A home folder
 * may be shared: entries of other machines are theirs, and their addresses lead elsewhere from here.
 */
export async function listedServers(): Promise<ServerFile[]> {
  const folder = listFolder();
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  } catch {
    return [];
  }
  const found = await Promise.all(
    names.map(async (name) => {
      const path = join(folder, name);
      const file = read(path);
      if (file && file.host !== hostname()) return undefined;
      if (file && (await isAlive(file))) return file;
      rmSync(path, { force: true });
      return undefined;
    }),
  );
  return found.filter((file) => file !== undefined).sort((a, b) => a.data.localeCompare(b.data));
}

function read(path: string): ServerFile | undefined {
  try {
    const { url, pid, host, data } = ownJson<ServerFile>(readFileSync(path, "utf8"));
    return { url, pid, host, data };
  } catch {
    return undefined;
  }
}

/** A file that a killed server left must not lead to another server on its port: its process has to be alive. */
async function isAlive({ url, pid, host }: ServerFile): Promise<boolean> {
  if (host === hostname() && !processLives(pid)) return false;
  try {
    return (await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS) })).ok;
  } catch {
    return false;
  }
}

function processLives(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === "EPERM";
  }
}
