/**
 * The data folder: its parts, and the keys in it, which are created when first needed. Only its owner can access it.
 */
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { attempt } from "../core/attempt.ts";
import { codeOf, isDiskFull, isProblem, messageOf, Problem } from "../core/errors.ts";
import { closeToOthers } from "./private-folder.ts";

export type DataFolder = ReturnType<typeof openDataFolder>;

const PARTS = ["agents", "projects", "workspaces", "vaults", "uploads", "backups", "keys", "cache", "mcp"];
/** Names that may exist besides the parts before the first start: files of ours, of the file system, of people. */
const HARMLESS = /^(\..*|README.*|lost\+found|setup-token|server\.json.*|skep\..*)$/i;

const badFolder = (detail: string) => new Problem(422, "bad_data_folder", `${detail} Name another with --data.`);

/** @throws Problem 422 when the folder is not ours: somebody else's database, or other content that is not Skep's. */
function assertOurs(root: string): void {
  if (!existsSync(root)) return;
  const found = statSync(join(root, "skep.db"), { throwIfNoEntry: false });
  const uid = process.getuid?.();
  if (found && uid !== undefined && found.uid !== uid)
    throw badFolder(`The data folder ${root} belongs to another user (${found.uid}). Run Skep as that user.`);
  if (found) return;
  const strange = readdirSync(root).find((name) => !PARTS.includes(name) && !HARMLESS.test(name));
  if (strange !== undefined)
    throw badFolder(`${root} is not a data folder of Skep: it holds other things, for example ${strange}.`);
}

/**
 * Creates what is missing, and removes other users' rights to the rest. Later files are protected by the process's
 * umask.
 * @throws Problem 422 `bad_data_folder` when it cannot be written, or belongs to somebody else.
 */
export function openDataFolder(root: string) {
  const isNew = !existsSync(join(root, "skep.db"));
  const joinRoot = (name: string) => join(root, name);
  try {
    assertOurs(root);
    mkdirSync(root, { recursive: true, mode: 0o700 });
    for (const name of PARTS) mkdirSync(joinRoot(name), { recursive: true, mode: 0o700 });
  } catch (error) {
    if (isProblem(error) || isDiskFull(error)) throw error;
    const why = codeOf(error) ?? messageOf(error);
    const owner = why === "EACCES" ? attempt(() => statSync(root).uid) : undefined;
    if (owner !== undefined && owner !== process.getuid?.())
      throw badFolder(`The data folder ${root} belongs to another user (${owner}). Run Skep as that user.`);
    throw badFolder(`Cannot write the data folder ${root} (${why}).`);
  }
  return {
    root,
    agents: joinRoot("agents"),
    projects: joinRoot("projects"),
    workspaces: joinRoot("workspaces"),
    vaults: joinRoot("vaults"),
    uploads: joinRoot("uploads"),
    backups: joinRoot("backups"),
    cache: joinRoot("cache"),
    /** Holds a folder for each tool server that runs here. */
    mcp: joinRoot("mcp"),
    /** True when there was no database yet. */
    isNew,
    /**
     * Paths from the root to which other users had rights when it was opened; `failed`: those that could not be closed
     * to them.
     */
    exposed: closeToOthers(root),
    hasKey: (name: string): boolean => existsSync(join(root, "keys", name)),
    /**
     * 32 random bytes stored in keys/NAME, created at the first call. @throws Problem 422 `bad_key` when the file holds
     * no key.
     */
    key(name: string): Uint8Array {
      const path = join(root, "keys", name);
      if (!existsSync(path)) makeKey(path);
      const text = readFileSync(path, "utf8").trim();
      if (!/^[0-9a-f]{64}$/i.test(text))
        throw new Problem(
          422,
          "bad_key",
          `${path} does not hold a key of 64 hexadecimal digits. Put it back from a copy; without one remove it, and ${LOST[name] ?? "what it protected is lost"}.`,
        );
      return Buffer.from(text, "hex");
    },
  };
}

/** What the loss of each key means. */
const LOST: Readonly<Record<string, string>> = {
  "signing.key": "everybody logs in again",
  "secrets.key": "stored secrets and provider keys must be entered again",
  "engine-token.key": "a new engine token is made",
};

/** Creates a key file. It exists completely or not at all, even if the machine stops. */
function makeKey(path: string): void {
  const draft = `${path}.${process.pid}`;
  const file = openSync(draft, "w", 0o600);
  try {
    writeSync(file, `${randomBytes(32).toString("hex")}\n`);
    fsyncSync(file);
    // Unlike a rename, a link fails when another process has created the key meanwhile.
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}
