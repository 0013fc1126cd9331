/**
 * Files in which running servers say how to reach them. Each server writes one in its data folder (`server.json`) and
 * may write one in the user's state folder, so that commands find it from anywhere. Only the owner can read them.
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
  /** Name of the machine or container in which process `pid` runs. */
  host: string;
  /** Path of the data folder. */
  data: string;
}

/** How long a server may take to answer. An ended server refuses at once, but a busy one may take a while. */
const ANSWER_MS = 10_000;

const fileIn = (data: string): string => join(resolve(data), "server.json");
const listFolder = (): string =>
  join(process.env["XDG_STATE_HOME"] || join(homedir(), ".local", "state"), "skep", "servers");
const listedAs = (data: string): string =>
  join(listFolder(), `${createHash("sha256").update(resolve(data)).digest("hex").slice(0, 16)}.json`);

/** Writes a new file and renames it over the old one, so that it is never incomplete and never readable by others. */
export function writePrivately(path: string, value: unknown): void {
  const draft = `${path}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, path);
}

/** Writes where this process's server listens. @throws when the data folder cannot be written. */
export function publishServer(url: string, data: string): void {
  writePrivately(fileIn(data), { url, pid: process.pid, host: hostname(), data: resolve(data) } satisfies ServerFile);
}

/**
 * Adds the server to the user's list. Without a place for the list (no home), commands need --data or --url, which is
 * no error.
 */
export function listServer(url: string, data: string): void {
  const path = listedAs(data);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // Resolve links: a link may later point to another folder.
    const entry: ServerFile = { url, pid: process.pid, host: hostname(), data: realpathSync(data) };
    writePrivately(path, entry);
  } catch {
    // The list is optional.
  }
}

/** Removes the server's file and its entry in the user's list. */
export function withdrawServer(data: string): void {
  rmSync(fileIn(data), { force: true });
  try {
    rmSync(listedAs(data), { force: true });
  } catch {
    // If the list cannot be written, it has no entry of this process.
  }
}

/**
 * Finds the server on a data folder that a person named, if one answers. The path may contain links, and the folder may
 * belong to somebody else, as a container's volume does. The file and the process must still be this user's.
 */
export function serverOfNamed(data: string): Promise<ServerFile | undefined> {
  let folder = resolve(data);
  try {
    folder = realpathSync(folder);
  } catch {
    // The folder does not exist, so no server runs on it.
  }
  return serverOn(folder);
}

/**
 * Finds the server on this data folder, if one answers. Any folder can contain a file with this name, for example a
 * cloned repository. The file counts only if this user wrote it and its process works on the folder right now.
 */
export async function runningServer(data: string): Promise<ServerFile | undefined> {
  const folder = resolve(data);
  return isPrivate(folder, "folder") ? serverOn(folder) : undefined;
}

async function serverOn(folder: string): Promise<ServerFile | undefined> {
  const file = readServerFile(fileIn(folder));
  if (!file || !(await holdsFolder(file.pid, folder)) || !(await leadsHere(file.url))) return undefined;
  return (await isAnswering(file.url)) ? { ...file, data: folder } : undefined;
}

/**
 * The servers on the user's list that run on this machine and answer. Entries of others on this machine are removed. A
 * home folder may be shared, so entries of other machines stay; their addresses are not valid here.
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

/** @returns undefined for a file that is missing, damaged, or accessible to other users. */
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

/** Whether a server answers at this address. It sends no credentials. */
export async function isAnswering(url: string): Promise<boolean> {
  return fetch(`${url}/healthz`, { signal: AbortSignal.timeout(ANSWER_MS), redirect: "manual" }).then(
    ({ ok }) => ok,
    () => false,
  );
}
