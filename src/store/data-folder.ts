/** The data folder: its parts, and the keys in it, made at first need with rights for the owner alone. */
import { randomBytes } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messageOf, Problem } from "../core/errors.ts";

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

/** Makes what is missing. @throws Problem 422 `bad_data_folder` when it cannot be written. */
export function openDataFolder(root: string): DataFolder {
  const isNew = !existsSync(join(root, "skep.db"));
  const part = (name: string) => join(root, name);
  const parts = ["agents", "projects", "workspaces", "vaults", "uploads", "backups", "keys", "cache"];
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    for (const name of parts) mkdirSync(part(name), { recursive: true, mode: name === "agents" ? 0o755 : 0o711 });
    chmodSync(part("keys"), 0o700);
  } catch (error) {
    const why = (error as { code?: string }).code ?? messageOf(error);
    throw new Problem(
      422,
      "bad_data_folder",
      `Cannot write the data folder ${root} (${why}). Name another with --data.`,
    );
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
