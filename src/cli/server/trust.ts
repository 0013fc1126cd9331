/**
 * Decides whether a `server.json` can be trusted. Commands send tokens and secrets to the server that it names, so a
 * file that somebody else could have written is ignored.
 */

import { lookup } from "node:dns/promises";
import { lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { attempt } from "../../core/attempt.ts";

const OTHERS = 0o077;

/** Whether a file or folder belongs to this user, is closed to others, and is no link. False if it cannot be seen. */
export function isPrivate(path: string, kind: "file" | "folder"): boolean {
  const found = attempt(() => lstatSync(path, { throwIfNoEntry: false }));
  if (!found || !(kind === "file" ? found.isFile() : found.isDirectory())) return false;
  return found.uid === process.getuid?.() && (found.mode & OTHERS) === 0;
}

/** Whether this process belongs to the user and holds the lock on a data folder, as only the folder's server does. */
export async function holdsFolder(pid: number, folder: string): Promise<boolean> {
  return process.platform === "darwin" ? hasOpen(pid, folder) : hasLocked(pid, folder);
}

/** Reads the kernel's list of the process's file descriptors and their locks, which only its user can read. */
function hasLocked(pid: number, folder: string): boolean {
  try {
    const { dev, ino } = statSync(folder, { bigint: true });
    return readdirSync(`/proc/${pid}/fd`).some((descriptor) => {
      const open = statSync(`/proc/${pid}/fd/${descriptor}`, { bigint: true, throwIfNoEntry: false });
      if (open?.dev !== dev || open.ino !== ino) return false;
      const facts = readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, "utf8").split("\n");
      return facts.some((line) => line.startsWith("lock:") && line.includes("FLOCK") && line.includes("WRITE"));
    });
  } catch {
    return false;
  }
}

/** macOS shows which files a process has open, but not its locks. A server opens its data folder only to lock it. */
async function hasOpen(pid: number, folder: string): Promise<boolean> {
  const command = ["/usr/sbin/lsof", "-a", "-p", String(pid), "-u", String(process.getuid?.()), "-Fn", "--", folder];
  try {
    const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "ignore" });
    return (await child.stdout.text()).includes("\nn");
  } catch {
    return false;
  }
}

/** Whether an address leads to this machine, under any name. */
export async function leadsHere(url: string): Promise<boolean> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  const own = new Set(Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)));
  const isOwn = (address: string): boolean => /^(127\.|::1$|0\.0\.0\.0$|::$)/.test(address) || own.has(address);
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.length > 0 && found.every(({ address }) => isOwn(address));
}
