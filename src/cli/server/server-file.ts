/**
 * Where running servers say how to reach them: each in its data folder (`server.json`), and those of this user in a list
 * in the user's state folder, so that commands find them from anywhere. Readable for the owner alone.
 */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ownJson } from "../../core/own-json.ts";
import { holdsFolder, isPrivate, leadsHere } from "./trust.ts";

export interface ServerFile {
  url: string;
  pid: number;
  /** The machine or container that `pid` is a process of. */
  host: string;
  /** The data folder. */
  data: string;
}

/** One that has ended refuses at once; one that is busy may take a while. */
const ANSWER_MS = 10_000;

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
    // Without links: the folder behind a link that changes would be another one.
    const entry: ServerFile = { url, pid: process.pid, host: hostname(), data: realpathSync(data) };
    writePrivately(path, entry);
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

/**
 * The server that works on a folder that a person named, if one answers. It may be reached over links and belong to somebody
 * else, as the volume of a container does; file and process still have to be this user's.
 */
export function serverOfNamed(data: string): Promise<ServerFile | undefined> {
  let folder = resolve(data);
  try {
    folder = realpathSync(folder);
  } catch {
    // Nothing is there, so nothing runs on it.
  }
  return serverOn(folder);
}

/**
 * The server that works on this data folder, if one answers. Any folder can hold a file with this name, for example a
 * cloned repository. The file counts only if this user wrote it and its process works on the folder right now.
 */
export async function runningServer(data: string): Promise<ServerFile | undefined> {
  const folder = resolve(data);
  return isPrivate(folder, "folder") ? serverOn(folder) : undefined;
}

async function serverOn(folder: string): Promise<ServerFile | undefined> {
  const file = readServerFile(fileIn(folder));
  if (!file || !(await holdsFolder(file.pid, folder)) || !(await leadsHere(file.url))) return undefined;
  return (await answers(file.url)) ? { ...file, data: folder } : undefined;
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
      const file = readServerFile(path);
      if (file?.host !== hostname()) return undefined;
      const running = await runningServer(file.data);
      if (!running) rmSync(path, { force: true });
      return running;
    }),
  );
  return found.filter((file) => file !== undefined).sort((a, b) => a.data.localeCompare(b.data));
}

/** @returns undefined for a file that is missing, damaged, or not this user's alone. */
function readServerFile(path: string): ServerFile | undefined {
  if (!isPrivate(path, "file")) return undefined;
  try {
    const { url, pid, host, data } = ownJson<ServerFile>(readFileSync(path, "utf8"));
    if (!Number.isSafeInteger(pid) || pid < 1 || !URL.canParse(url)) return undefined;
    return { url, pid, host, data };
  } catch {
    return undefined;
  }
}

/** Whether a server answers at this address. Sends no credential. */
export async function answers(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: "manual" }).then(
    ({ ok }) => ok,
    () => false,
  );
}
