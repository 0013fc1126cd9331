/**
 * Other programs that build code graphs, for `scripts/bench graph --peers`: only their commands, each with its own home
 * and its own copy of the folder. @colbymchenry/codegraph (MIT) is taken from the PATH, else installed into a temporary
 * folder from the package registry. gitnexus, whose licence is not free, is used only if it is already installed.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Command, run } from "./measured-run.ts";

export interface Peer {
  name: string;
  /** Removes the program's data about a folder, so that the next index starts from nothing. */
  forget(copy: string): void;
  index(copy: string): Command;
  /** Brings an index up to date. */
  update(copy: string): Command;
}

const CODEGRAPH = "@colbymchenry/codegraph";

/** The peers that can run here; `missing` says why others cannot. */
export async function findPeers(folder: string): Promise<{ peers: Peer[]; missing: string[] }> {
  const home = join(folder, "peers");
  mkdirSync(home, { recursive: true });
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, CI: "1", DO_NOT_TRACK: "1" };
  const missing: string[] = [];
  const peers: Peer[] = [];
  try {
    const command = Bun.which("codegraph") ?? (await install(home));
    const version = (await run({ command: [command, "--version"], cwd: home, env })).stdout.trim();
    await run({ command: [command, "telemetry", "off"], cwd: home, env });
    peers.push({
      name: `codegraph ${version}`,
      forget: (copy) => rmSync(join(copy, ".codegraph"), { recursive: true, force: true }),
      index: (copy) => ({ command: [command, "init", "--yes", copy], cwd: copy, env }),
      update: (copy) => ({ command: [command, "sync", "--quiet", copy], cwd: copy, env }),
    });
  } catch (error) {
    missing.push(`codegraph: cannot run here (${oneLine(error)})`);
  }
  const gitnexus = Bun.which("gitnexus");
  if (gitnexus)
    peers.push({
      name: "gitnexus",
      forget: (copy) => rmSync(join(copy, ".gitnexus"), { recursive: true, force: true }),
      index: (copy) => ({ command: [gitnexus, "analyze", copy], cwd: copy, env }),
      update: (copy) => ({ command: [gitnexus, "analyze", copy], cwd: copy, env }),
    });
  else missing.push("gitnexus: not on the PATH");
  return { peers, missing };
}

/** Installs codegraph. @returns the path of its command. @throws Error when the registry cannot be reached. */
async function install(home: string): Promise<string> {
  // Uses the user's own npm settings, which may name another registry.
  const flags = ["--no-save", "--no-audit", "--no-fund", "--prefix", home];
  await run({ command: ["npm", "install", ...flags, CODEGRAPH], cwd: home });
  return join(home, "node_modules/.bin/codegraph");
}

/** An error as one line. */
export const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ").slice(0, 200);
