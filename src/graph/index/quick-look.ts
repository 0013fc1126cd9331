/**
 * Looks at one folder repeatedly. The first look walks the folder. Later looks compare: if no folder below changed, no
 * file came or went, so only the source files are looked at, without listings, ignore rules and git. If anything else
 * may have changed, the folder is walked again. Everything is reached through open descriptors, as in a walk.
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
  /** Frees the memory. The next look walks the folder. */
  forget(): void;
}

/** If there are more files and folders than this, nothing is kept between looks. */
const MAX_KEPT = 100_000;
/** After this long without a look, the memory is freed, ms. */
const IDLE_MS = 2 * 60_000;
/**
 * A file that changed so shortly before a look may change again unnoticed, because clocks of file systems are coarse.
 */
const UNSURE_SECONDS = 2;
const IGNORE_FILES = [".gitignore", ".ignore"];

interface Seen {
  /** Path of the folder. */
  path: string;
  /** The folder's own stat. It changes if something in the folder is added, removed or renamed. */
  stat: FileStat;
  /** A hash of the names and kinds of the folder's entries. */
  names: bigint;
  /** Rows of the folder's source files in `walk.files`. */
  files: number[];
  /** Other files of the folder that a walk depends on, with their stats. */
  others: { name: string; stat: FileStat }[];
}

interface Kept {
  look: Look;
  folders: Seen[];
  repository: Repository | undefined;
  git: string;
}

/**
 * @param folder the folder of the graph
 * @param now the current time, ms since 1970
 */
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

/** Records what the next look compares with. @returns undefined if a comparison would not be reliable */
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

/** The files in a folder that a walk depends on, apart from source files. */
function othersOf(folder: Folder, paths: readonly string[]): Map<string, FileStat> {
  const found = new Map<string, FileStat>();
  for (const name of [...IGNORE_FILES, ...paths.map(basename)]) {
    const stat = folder.findListed(name);
    if (stat) found.set(name, stat);
  }
  return found;
}

/** Looks by comparing. @returns undefined if the folder must be walked. @throws in that case too */
async function lookAgain(place: GitPlace, store: string, kept: Kept, begun: number): Promise<Look | undefined> {
  const { look, folders, repository } = kept;
  using top = openFolder(place.root);
  if (gitStamp(top, repository) !== kept.git) return undefined;
  // A repository that was created meanwhile has ignore rules of its own.
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
    // Many programs save a file by putting a new one in its place, which changes the folder but not its names.
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

/** Looks at the source files of a folder. @returns false if one of them is no longer a source file */
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

/**
 * Identifies the state of everything in git that decides which files are listed: its index, ignore rules, settings, and
 * the repository itself.
 */
function gitStamp(top: Folder, repository: Repository | undefined): string {
  const entry = top.find(".git");
  // Every command of git changes the stat of the `.git` folder, so only its inode counts.
  const own = entry && (entry.kind === "folder" ? `${entry.inode}` : COMPARED.map((name) => entry[name]).join(" "));
  const parts = repository ? [repository.index, repository.exclude, join(repository.gitDir, "config")] : [];
  return [own, ...parts.map(fileStamp)].join("\n");
}

function fileStamp(path: string): string {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : "";
}
