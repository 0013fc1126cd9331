/** The data folder: its parts, and the keys in it, made at first need with rights for the owner alone. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isProblem, messageOf, Problem } from "../core/errors.ts";

export interface DataFolder {
  readonly root: string;
  readonly agents: string;
  readonly projects: string;
  readonly workspaces: string;
  readonly vaults: string;
  readonly uploads: string;
  readonly backups: string;
  readonly cache: string;
  /** True when `openDataFolder` made it. */
  readonly isNew: boolean;
  /** 32 random bytes kept under keys/NAME, 0600; made at the first call. */
  key(name: string): Uint8Array;
  hasKey(name: string): boolean;
}

const PARTS = ["agents", "projects", "workspaces", "vaults", "uploads", "backups", "keys", "cache"];
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

/** Makes what is missing. @throws Problem 422 `bad_data_folder` when it cannot be written or is somebody else's. */
export function openDataFolder(root: string): DataFolder {
  const isNew = !existsSync(join(root, "skep.db"));
  const part = (name: string) => join(root, name);
  try {
    assertOurs(root);
    mkdirSync(root, { recursive: true, mode: 0o700 });
    for (const name of PARTS) mkdirSync(part(name), { recursive: true, mode: name === "agents" ? 0o755 : 0o711 });
    chmodSync(part("keys"), 0o700);
  } catch (error) {
    if (isProblem(error)) throw error;
    const why = (error as { code?: string }).code ?? messageOf(error);
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
    isNew,
    hasKey: (name) => existsSync(join(root, "keys", name)),
    key(name) {
      const path = join(root, "keys", name);
      if (existsSync(path)) return Buffer.from(readFileSync(path, "utf8").trim(), "hex");
      const key = randomBytes(32);
      writeFileSync(path, `${key.toString("hex")}\n`, { mode: 0o600, flag: "wx" });
      return key;
    },
  };
}
