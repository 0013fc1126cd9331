/**
 * Phase one: which files of a folder are source.
 *
 * In a git repository, these are the tracked files and the untracked files that git would not ignore. Elsewhere the
 * same ignore rules are applied by hand. Everything is read through open descriptors, so that no link leads out of the
 * folder. Files that are left out are reported with a reason.
 */
import { readFileSync } from "node:fs";
import { trackedOf } from "../../working-copy/compare.ts";
import { asText, type Folder, modifiedMs, openFolder } from "../../working-copy/folder.ts";
import { type IgnoreRules, MAX_IGNORE_BYTES, parseIgnoreRules } from "../../working-copy/ignore-rules.ts";
import { GITLINK } from "../../working-copy/index-format.ts";
import { joinPath, type WalkedPart, walkBeneath } from "../../working-copy/walk.ts";
import { basename } from "../language/paths.ts";
import { type GitPlace, type Repository, repositoryOf } from "./git.ts";
import { ownIndex } from "./known-index.ts";
import { MAX_FILE_BYTES } from "./source-files.ts";

/** At most this many files are listed. Further ones are reported as skipped. */
const MAX_FILES = 200_000;

interface WalkedFile {
  /** Relative to the root, forward slashes. */
  path: string;
  /** Bytes. */
  size: number;
  /** Milliseconds since 1970, with fraction. */
  modified: number;
}

export interface SkippedFile {
  path: string;
  reason: "too large" | "generated" | "symbolic link" | "unreadable" | "too many files" | "submodule";
}

export interface Walk {
  files: WalkedFile[];
  configs: string[];
  /** Configuration files that people write (at most 256 KiB each). Only the first 2,000 are listed. */
  settings: string[];
  skipped: SkippedFile[];
  /** Folders below the root that were walked, without those that ignore rules exclude. */
  folders: string[];
  /** Paths of files that were left out because they are too large. */
  unlisted: string[];
  /** The repository that the folder is in; undefined outside of git. */
  repository: Repository | undefined;
}

interface WalkOptions extends GitPlace {
  /** True for a path whose ending a language supports. */
  isSupported(path: string): boolean;
  /** Base names of configuration files that are listed as well. */
  configNames: ReadonlySet<string>;
  /** Called with the size in bytes of each source file, as it is found. */
  onFound?: ((bytes: number) => void) | undefined;
}

const GENERATED =
  /(^|\/)(node_modules|bower_components|\.git|\.hg|\.svn|\.venv|venv|__pycache__|\.tox|\.next|\.nuxt|site-packages)\/|[.-]min\.(js|css|mjs)$|\.bundle\.js$|[._](pb|generated|designer)\.(go|ts|js|cs|cc|h|py)$|_pb2(_grpc)?\.py$|\.g\.cs$/i;

/** Lists the source files of a folder, sorted by path. Throws if the folder cannot be read. */
export async function walkFolder(options: WalkOptions): Promise<Walk> {
  const repository = await repositoryOf(options);
  const byGit = repository && (await walkByGit(repository, options));
  // Git lists nothing if there is no repository, or if a repository further up ignores this folder.
  const found = byGit ?? (await walkByHand(options));
  const { files, configs, settings, skipped, folders, unlisted } = found;
  files.sort(byPath);
  for (const { path } of files.splice(MAX_FILES)) skipped.push({ path, reason: "too many files" });
  return {
    files,
    configs: configs.sort(),
    settings: settings.sort(),
    skipped: skipped.sort(byPath),
    folders,
    unlisted,
    repository,
  };
}

const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0);

/** Lists tracked files and those that git would not ignore; undefined if there are none. */
async function walkByGit(repository: Repository, options: WalkOptions): Promise<Found | undefined> {
  const index = await ownIndex(options, repository);
  if (!index) return undefined;
  const { start } = repository;
  const tracked = trackedOf(index);
  const isModule = (path: string) => {
    const row = index.row(path);
    return row !== undefined && index.mode(row) === GITLINK;
  };
  using top = openFolder(repository.top, "latin1");
  const beneath = {
    tracked,
    baseRules: excludeRules(repository),
    // A repository inside this one does not belong to it.
    enter: (path: string, folder: Folder) =>
      !isModule(path) && (folder.find(".git") === undefined || tracked.hasFolder(path)),
  };
  const walk = await collect(walkBeneath(top, beneath, start), start, options);
  const inside = start === "" ? "" : `${start}/`;
  for (let row = 0; row < index.size; row++) {
    if (index.mode(row) !== GITLINK || !index.path(row).startsWith(inside)) continue;
    walk.skipped.push({ path: asText(index.path(row).slice(inside.length)), reason: "submodule" });
  }
  return walk.entries > 0 ? walk : undefined;
}

/** The repository's own ignore rules. */
export function excludeRules({ exclude }: Repository): IgnoreRules | undefined {
  try {
    return parseIgnoreRules(readFileSync(exclude, "latin1").slice(0, MAX_IGNORE_BYTES));
  } catch {
    return undefined;
  }
}

const IGNORE_FILES = [".gitignore", ".ignore"];
const NEVER = new Set([".git", ".hg", ".svn", "node_modules"]);

/** Applies the ignore rules without git: every ignore file holds for its folder and everything below. */
async function walkByHand(options: WalkOptions): Promise<Found> {
  using top = openFolder(options.root, "latin1");
  const enter = (path: string) => !NEVER.has(basename(path));
  return await collect(walkBeneath(top, { ignoreFiles: IGNORE_FILES, enter }), "", options);
}

/** At most this many entries are looked at; further ones are ignored. */
const MAX_ENTRIES = 2_000_000;

type Found = Omit<Walk, "repository"> & { entries: number };

async function collect(parts: AsyncIterable<WalkedPart>, start: string, options: WalkOptions) {
  const walk: Found = { files: [], configs: [], settings: [], skipped: [], folders: [], unlisted: [], entries: 0 };
  for await (const { folder, path: at, entries } of parts) {
    const inside = at.slice(start === "" ? 0 : start.length + 1);
    for (const { name, kind } of entries) {
      const path = asText(joinPath(inside, name));
      if (kind === "folder") {
        walk.folders.push(path);
        continue;
      }
      walk.entries += 1;
      if (kind === "file" && options.configNames.has(name)) walk.configs.push(path);
      if (kind === "file" && isSettings(folder, name, path, walk)) walk.settings.push(path);
      if (!options.isSupported(path)) continue;
      if (GENERATED.test(path)) walk.skipped.push({ path, reason: "generated" });
      else if (kind === "link") walk.skipped.push({ path, reason: "symbolic link" });
      else addFile(folder, name, path, walk, options);
    }
    if (walk.entries > MAX_ENTRIES) break;
  }
  return walk;
}

const SETTINGS =
  /^(\.env(\..+)?|.+\.(env|ya?ml|toml|ini|cfg|conf|properties|json|jsonc|sh|tfvars)|(docker|make)file(\..+)?|.+\.dockerfile)$/i;
const LOCKED = /([-.]lock\b|shrinkwrap)/i;
const MAX_SETTINGS = 2_000;
const MAX_SETTINGS_BYTES = 256 * 1024;

function isSettings(folder: Folder, name: string, path: string, walk: Found): boolean {
  if (!SETTINGS.test(name) || LOCKED.test(name) || GENERATED.test(path)) return false;
  if (walk.settings.length >= MAX_SETTINGS) return false;
  try {
    const stat = folder.find(name);
    if (stat?.kind === "file" && stat.size <= MAX_SETTINGS_BYTES) return true;
    walk.unlisted.push(path);
    return false;
  } catch {
    return false;
  }
}

function addFile(folder: Folder, name: string, path: string, walk: Found, { onFound }: WalkOptions): void {
  try {
    const stat = folder.find(name);
    if (stat?.kind !== "file") return;
    if (stat.size > MAX_FILE_BYTES) {
      walk.skipped.push({ path, reason: "too large" });
      walk.unlisted.push(path);
    } else {
      walk.files.push({ path, size: stat.size, modified: modifiedMs(stat) });
      onFound?.(stat.size);
    }
  } catch {
    walk.skipped.push({ path, reason: "unreadable" });
  }
}
