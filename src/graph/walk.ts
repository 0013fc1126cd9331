/**
 * Phase one: which files of a folder are source.
 *
 * In a git repository the index and the untracked files git would not ignore; elsewhere the same ignore rules are
 * applied by hand. Symbolic links are not followed. What is left out is counted by reason and named.
 */
import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ignore, { type Ignore } from "ignore";
import { type GitPlace, git } from "./git.ts";
import { basename, dirname } from "./parse/paths.ts";

/** Files over this many bytes are not source that people read. */
export const MAX_FILE_BYTES = 1024 * 1024;
/** More files than this are not walked: the rest is reported as skipped. */
export const MAX_FILES = 200_000;

export interface WalkedFile {
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
  skipped: SkippedFile[];
}

export interface WalkOptions extends GitPlace {
  /** True for a path whose ending a language claims. */
  supported(path: string): boolean;
  /** Base names of configuration files to list beside. */
  configNames: ReadonlySet<string>;
}

const GENERATED =
  /(^|\/)(node_modules|bower_components|\.git|\.hg|\.svn|\.venv|venv|__pycache__|\.tox|\.next|\.nuxt|site-packages)\/|[.-]min\.(js|css|mjs)$|\.bundle\.js$|[._](pb|generated|designer)\.(go|ts|js|cs|cc|h|py)$|_pb2(_grpc)?\.py$|\.g\.cs$/i;

/** Lists the source files of a folder, sorted by path. Throws when the folder cannot be read. */
export async function walkFolder(options: WalkOptions): Promise<Walk> {
  // Nothing listed: no repository, or a folder that a repository around it ignores.
  const byGit = await listByGit(options);
  const listed = byGit && byGit.length > 0 ? byGit : listByHand(options.root);
  const walk: Walk = { files: [], configs: [], skipped: [] };
  const submodules = listed.includes(".gitmodules") ? submodulesOf(options.root) : new Set<string>();
  listed.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  let last = "";
  for (const path of listed) {
    if (path === last) continue;
    last = path;
    if (options.configNames.has(basename(path))) walk.configs.push(path);
    if (submodules.has(path)) walk.skipped.push({ path, reason: "submodule" });
    if (!options.supported(path)) continue;
    if (GENERATED.test(path)) walk.skipped.push({ path, reason: "generated" });
    else if (walk.files.length >= MAX_FILES) walk.skipped.push({ path, reason: "too many files" });
    else addFile(options.root, path, walk);
  }
  return walk;
}

function addFile(root: string, path: string, walk: Walk): void {
  try {
    const stat = lstatSync(join(root, path));
    if (stat.isSymbolicLink()) walk.skipped.push({ path, reason: "symbolic link" });
    else if (!stat.isFile()) return;
    else if (stat.size > MAX_FILE_BYTES) walk.skipped.push({ path, reason: "too large" });
    else walk.files.push({ path, size: stat.size, modified: stat.mtimeMs });
  } catch {
    // Listed by git but gone from disk: a deletion that is not committed yet.
  }
}

/** Paths that `.gitmodules` names: their files belong to other repositories. */
function submodulesOf(root: string): Set<string> {
  try {
    const text = readFileSync(join(root, ".gitmodules"), "utf8").slice(0, MAX_FILE_BYTES);
    return new Set([...text.matchAll(/^\s*path\s*=\s*(.+?)\s*$/gm)].map(([, path]) => path!));
  } catch {
    return new Set();
  }
}

/** Tracked and untracked files as git sees them; undefined where there is no work tree. */
async function listByGit(place: GitPlace): Promise<string[] | undefined> {
  const text = await git(place, ["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  return text?.split("\0").filter((path) => path !== "");
}

const IGNORE_FILES = [".gitignore", ".ignore"];
const NEVER = new Set([".git", ".hg", ".svn", "node_modules"]);
const MAX_FOLDERS = 100_000;

/** The same rules without git: every ignore file holds for its folder and below. */
function listByHand(root: string): string[] {
  const found: string[] = [];
  const rules = new Map<string, Ignore>();
  const queue: string[] = [""];
  for (let at = 0; at < queue.length && at < MAX_FOLDERS; at++) {
    const folder = queue[at]!;
    const own = ignoreRules(join(root, folder));
    if (own) rules.set(folder, own);
    for (const entry of readEntries(join(root, folder))) {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const isFolder = entry.isDirectory();
      if (NEVER.has(entry.name) || ignored(rules, path, isFolder)) continue;
      if (isFolder) queue.push(path);
      else found.push(path);
    }
  }
  return found;
}

function readEntries(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function ignoreRules(folder: string): Ignore | undefined {
  let rules: Ignore | undefined;
  for (const name of IGNORE_FILES) {
    try {
      const text = readFileSync(join(folder, name), "utf8");
      rules = (rules ?? ignore()).add(text);
    } catch {
      // No such file: nothing to add.
    }
  }
  return rules;
}

function ignored(rules: ReadonlyMap<string, Ignore>, path: string, isFolder: boolean): boolean {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const own = rules.get(folder);
    if (own) {
      const inside = folder === "" ? path : path.slice(folder.length + 1);
      const test = own.test(isFolder ? `${inside}/` : inside);
      if (test.ignored) return true;
      if (test.unignored) return false;
    }
    if (folder === "") return false;
  }
}
