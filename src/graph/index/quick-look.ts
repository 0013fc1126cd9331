/**
 * Looks at one folder again and again. The first look walks it. Later ones compare: where no folder below it changed, no
 * file came or went, so the source files alone are looked at, without lists, ignore rules and git. Where anything else
 * may be another, the folder is walked again. Everything is reached through open descriptors, as in a walk.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { takeTurns } from "../../core/turns.ts";
import { type FileStat, type Folder, modifiedMs, openFolder } from "../../working-copy/folder.ts";
import { basename, dirname } from "../language/paths.ts";
import { type GitPlace, type Repository, repositoryOf } from "./git.ts";
import { type Look, lookAtFiles, lookOf } from "./look.ts";
import { MAX_FILE_BYTES } from "./source-files.ts";
import type { Walk } from "./walk.ts";

export interface Looker {
  /** @throws when the place cannot be read. */
  look(): Promise<Look>;
  /** Gives back the memory; the next look walks. */
  forget(): void;
}

/** Of more files and folders nothing is kept between looks. */
const MAX_KEPT = 100_000;
/** Without a look for this long, its memory is given back, ms. */
const IDLE_MS = 2 * 60_000;
/** What changed so shortly before it was looked at may have changed again unseen: clocks of file systems are coarse. */
const UNSURE_SECONDS = 2;
const IGNORE_FILES = [".gitignore", ".ignore"];

interface Seen {
  /** Of a folder. */
  path: string;
  /** It differs when something in the folder came, went or got another name. */
  stat: FileStat;
  /** Stands for the names in it. */
  names: bigint;
  /** Rows of source files among those of the walk. */
  files: number[];
  /** Other files that say how the walk goes, with what they looked like. */
  others: { name: string; stat: FileStat }[];
}

interface Kept {
  look: Look;
  folders: Seen[];
  repository: Repository | undefined;
  git: string;
}

/** @param folder of the graph. @param now ms since 1970 */
export function createLooker(place: GitPlace, folder: string, now: () => number = Date.now): Looker {
  let kept: Kept | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  const forget = (): void => {
    clearTimeout(idle);
    kept = undefined;
  };
  return {
    async look() {
      const before = kept;
      const begun = now();
      forget();
      const again = before && (await lookAgain(place, folder, before, begun).catch(() => undefined));
      const look = again ?? (await lookAtFiles(place, folder));
      kept = before && again ? { ...before, look } : await keep(place, look, begun).catch(() => undefined);
      idle = setTimeout(forget, IDLE_MS);
      idle.unref();
      return look;
    },
    forget,
  };
}

const COMPARED = [
  "kind",
  "inode",
  "size",
  "modifiedSeconds",
  "modifiedNanoseconds",
  "changedSeconds",
  "changedNanoseconds",
] as const satisfies readonly (keyof FileStat)[];

const isSameStat = (a: FileStat, b: FileStat): boolean => COMPARED.every((name) => a[name] === b[name]);

/** What is to be compared with at the next look; undefined where that would say too little. */
async function keep(place: GitPlace, look: Look, begun: number): Promise<Kept | undefined> {
  const { walk } = look;
  const { repository, folders, files } = walk;
  const isWhole = repository === undefined || repository.start === "";
  const isReadable = walk.skipped.every(({ reason }) => reason !== "unreadable" && reason !== "too many files");
  if (!isWhole || !isReadable || folders.length + files.length > MAX_KEPT) return undefined;
  const rowsIn = Map.groupBy(files.keys(), (row) => dirname(files[row]?.path ?? ""));
  const othersIn = Map.groupBy([...walk.configs, ...walk.settings, ...walk.unlisted], dirname);
  const turn = takeTurns();
  const seen: Seen[] = [];
  using top = openFolder(place.root);
  for (const path of ["", ...folders]) {
    await turn();
    using folder = top.folder(path);
    const stat = folder.stat("");
    const others = othersOf(folder, othersIn.get(path) ?? []);
    if (![stat, ...others.values()].every((one) => isSureAt(begun, one))) return undefined;
    seen.push({
      path,
      stat,
      names: namesIn(folder),
      files: rowsIn.get(path) ?? [],
      others: Array.from(others, ([name, stat]) => ({ name, stat })),
    });
  }
  return { look, folders: seen, repository, git: gitStamp(top, repository) };
}

/** Files in a folder that say how a walk goes. */
function othersOf(folder: Folder, paths: readonly string[]): Map<string, FileStat> {
  const found = new Map<string, FileStat>();
  for (const name of [...IGNORE_FILES, ...paths.map(basename)]) {
    const stat = folder.findListed(name);
    if (stat) found.set(name, stat);
  }
  return found;
}

/** @returns undefined where the folder must be walked. @throws also then. */
async function lookAgain(place: GitPlace, store: string, kept: Kept, begun: number): Promise<Look | undefined> {
  const { look, folders, repository } = kept;
  using top = openFolder(place.root);
  if (gitStamp(top, repository) !== kept.git) return undefined;
  // One that was made meanwhile has ignore rules of its own.
  if (!repository && (await repositoryOf(place))) return undefined;
  const files: Walk["files"] = look.walk.files.slice();
  const turn = takeTurns();
  for (const seen of folders) {
    await turn();
    using folder = top.folder(seen.path);
    if (!isAsSeen(folder, seen, begun) || !readFiles(folder, seen, files)) return undefined;
  }
  return lookOf({ ...look.walk, files }, look.hash, store);
}

const isSureAt = (begun: number, { changedSeconds, modifiedSeconds }: FileStat): boolean =>
  Math.max(changedSeconds, modifiedSeconds) < begun / 1_000 - UNSURE_SECONDS;

function isAsSeen(folder: Folder, seen: Seen, begun: number): boolean {
  const stat = folder.stat("");
  if (!isSameStat(stat, seen.stat)) {
    // Many programs change a file by putting another one in its place.
    if (namesIn(folder) !== seen.names) return false;
    if (isSureAt(begun, stat)) seen.stat = stat;
  }
  return seen.others.every(({ name, stat: before }) => {
    const now = folder.findListed(name);
    return now !== undefined && isSameStat(now, before);
  });
}

function namesIn(folder: Folder): bigint {
  const names: string[] = [];
  for (const batch of folder.batches()) for (const { name, kind } of batch) names.push(`${kind} ${name}`);
  return BigInt(Bun.hash(names.sort().join("\0")));
}

/** Looks at the source files of a folder. @returns false where one is none any more */
function readFiles(folder: Folder, { files: rows }: Seen, files: Walk["files"]): boolean {
  for (const row of rows) {
    const known = files[row];
    const stat = known && folder.findListed(basename(known.path));
    if (!known || stat?.kind !== "file" || stat.size > MAX_FILE_BYTES) return false;
    const modified = modifiedMs(stat);
    if (known.size !== stat.size || known.modified !== modified)
      files[row] = { path: known.path, size: stat.size, modified };
  }
  return true;
}

/** Identifies a state of what git says of the files: another index, other ignore rules or settings, another repository. */
function gitStamp(top: Folder, repository: Repository | undefined): string {
  const entry = top.find(".git");
  // The folder itself changes with every command of git.
  const own = entry && (entry.kind === "folder" ? `${entry.inode}` : COMPARED.map((name) => entry[name]).join(" "));
  const parts = repository ? [repository.index, repository.exclude, join(repository.gitDir, "config")] : [];
  return [own, ...parts.map(fileStamp)].join("\n");
}

function fileStamp(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : "";
}
