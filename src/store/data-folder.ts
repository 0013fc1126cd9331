/** The data folder: its parts, and the keys in it, made at first need. All of it is for its owner alone. */
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
import { codeOf, isDiskFull, isProblem, messageOf, Problem } from "../core/errors.ts";
import { closeToOthers } from "./private-folder.ts";

export type DataFolder = ReturnType<typeof openDataFolder>;

const PARTS = ["agents", "projects", "workspaces", "vaults", "uploads", "backups", "keys", "cache", "mcp"];
/** What may be in a folder before its first start besides its parts: files of ours, of the file system, of people. */
const HARMLESS = /^(\..*|README.*|lost\+found|setup-token|server\.json.*|skep\..*)$/i;

const badFolder = (detail: string) => new Problem(422, "bad_data_folder", `${detail} Name another with --data.`);

/** @throws Problem 422 when the folder is not ours to fill: somebody else's database, or something that is not Skep's. */
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
 * Makes what is missing, and closes the rest to other users. What is made in it later is closed by the process's umask.
 * @throws Problem 422 `bad_data_folder` when it cannot be written or is somebody else's.
 */
export function openDataFolder(root: string) {
  const isNew = !existsSync(join(root, "skep.db"));
  const part = (name: string) => join(root, name);
  try {
    assertOurs(root);
    mkdirSync(root, { recursive: true, mode: 0o700 });
    for (const name of PARTS) mkdirSync(part(name), { recursive: true, mode: 0o700 });
  } catch (error) {
    if (isProblem(error) || isDiskFull(error)) throw error;
    const why = codeOf(error) ?? messageOf(error);
    throw badFolder(`Cannot write the data folder ${root} (${why}).`);
  }
  return {
    root,
    agents: part("agents"),
    projects: part("projects"),
    workspaces: part("workspaces"),
    vaults: part("vaults"),
    uploads: part("uploads"),
    backups: part("backups"),
    cache: part("cache"),
    /** A folder of each tool server that runs here. */
    mcp: part("mcp"),
    /** True when `openDataFolder` made it. */
    isNew,
    /** What other users had rights to when it was opened, as paths from the root; what of it they still have. */
    exposed: closeToOthers(root),
    hasKey: (name: string): boolean => existsSync(join(root, "keys", name)),
    /** 32 random bytes kept under keys/NAME; made at the first call. @throws Problem 422 `bad_key` when the file holds none. */
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

/** What the loss of a key means. */
const LOST: Readonly<Record<string, string>> = {
  "signing.key": "everybody logs in again",
  "secrets.key": "stored secrets and provider keys must be entered again",
  "engine-token.key": "a new engine token is made",
};

/** The file is there whole or not at all, whenever the machine stops. */
function makeKey(path: string): void {
  const draft = `${path}.${process.pid}`;
  const file = openSync(draft, "w", 0o600);
  try {
    writeSync(file, `${randomBytes(32).toString("hex")}\n`);
    fsyncSync(file);
    // Unlike a rename this leaves a key alone that another process made meanwhile.
    linkSync(draft, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    closeSync(file);
    rmSync(draft, { force: true });
  }
}
