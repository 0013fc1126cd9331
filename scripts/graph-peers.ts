/**
 * Other programs that make a graph of code, for `scripts/bench graph --peers`: their commands alone, each in a home of
 * its own, on a copy of its own. @colbymchenry/codegraph (MIT) is taken from the PATH, else installed into a temporary
 * folder from the package registry; gitnexus, whose licence is not free, is run only where somebody installed it.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Command, run } from "./measured-run.ts";

export interface Peer {
  name: string;
  /** Removes what it made of a folder, so that the next index is from nothing. */
  forget(copy: string): void;
  index(copy: string): Command;
  /** Brings an index up to date. */
  update(copy: string): Command;
}

const CODEGRAPH = "@colbymchenry/codegraph";

/** The peers that can run here; why another cannot is said in `missing`. */
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

/** @returns the path of its command. @throws Error when the registry cannot be reached. */
async function install(home: string): Promise<string> {
  // With the user's own settings: they say which registry there is.
  const flags = ["--no-save", "--no-audit", "--no-fund", "--prefix", home];
  await run({ command: ["npm", "install", ...flags, CODEGRAPH], cwd: home });
  return join(home, "node_modules/.bin/codegraph");
}

/** One line of what went wrong. */
export const oneLine = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).replace(/\s+/g, " ").slice(0, 200);
