/**
 * Files of a working tree that differ from a commit, with the changed lines.
 *
 * Git never reads the tree. The files to compare are read through open descriptors and handed to git as an index and
 * objects in a separate folder.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { compareWorkingCopy } from "../../working-copy/compare.ts";
import { asText, openFolder } from "../../working-copy/folder.ts";
import { GitIndex } from "../../working-copy/index-file.ts";
import type { NewEntry } from "../../working-copy/index-format.ts";
import { writeIndex } from "../../working-copy/index-writer.ts";
import { GraphError } from "../graph-error.ts";
import { type GitPlace, type Repository, repositoryOf, runGit } from "../index/git.ts";
import { knownIndex } from "../index/known-index.ts";
import { MAX_FILE_BYTES } from "../index/source-files.ts";
import { excludeRules } from "../index/walk.ts";
import { languageOf } from "../language/languages.ts";
import { type ChangedFiles, readDiff } from "./read-diff.ts";

/** Larger files are not compared, bytes. */
const MAX_COMPARED_BYTES = 100 * 1024 * 1024;
/** Git compares at most this many bytes of changed sources. Further files are only known to have changed. */
const MAX_HANDED_BYTES = 64 * 1024 * 1024;

/** A commit, and the path of the place's root in it; "" if the root is its top. */
export interface CommitPlace {
  commit: string;
  start: string;
}

/**
 * Lists the changed files.
 * @param folder where the read entries are remembered; files for git lie there until git has read them
 * @param base commit to compare with; HEAD if not given
 * @returns undefined outside git
 * @throws GraphError if `base` is not a commit
 */
export async function changedFiles(
  place: GitPlace,
  folder: string,
  base: string | undefined,
): Promise<(ChangedFiles & { base: CommitPlace | undefined }) | undefined> {
  const against = base ?? "HEAD";
  if (against.startsWith("-") || !/^[\w./~^@{}-]+$/.test(against))
    throw new GraphError("invalid", "base is not a commit");
  const [repository, answer] = await Promise.all([
    repositoryOf(place),
    runGit(place, ["rev-parse", `${against}^{commit}`, `${against}^{tree}`]),
  ]);
  if (!repository) return undefined;
  const [commit, tree] = answer?.trim().split("\n") ?? [];
  if (commit === undefined && base) throw new GraphError("invalid", "base is not a commit of this repository");
  const known = await knownIndex(place, repository, folder);
  if (!known) return undefined;
  // Before the first commit, every file is new.
  const index = commit === undefined ? await GitIndex.of([], repository.hash) : known.index;
  const found = await compareTree(repository, index);
  const isSame = index.tree === tree && found.edits.length + found.gone.length === 0;
  const isDiffless = commit === undefined || isSame;
  const changes = readDiff(isDiffless ? "" : await diffOf({ repository, folder, index, commit }, found));
  if (found.read.some((entry) => entry.stat)) await known.remember([...found.read, ...found.doubtful]);
  addOthers(changes, found, repository.start);
  changes.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return { ...changes, base: commit === undefined ? undefined : { commit, start: repository.start } };
}

/** Paths are in `latin1` and relative to the top. */
interface Found {
  /** Tracked sources with changed content, which git compares. */
  edits: NewEntry[];
  contents: Buffer[];
  gone: string[];
  /** Other tracked files that changed. */
  modified: string[];
  untracked: string[];
  /** Files that looked changed, but whose content is that of the index. */
  read: NewEntry[];
  /** Index entries of changed files, without their times. */
  doubtful: NewEntry[];
}

async function compareTree(repository: Repository, index: GitIndex): Promise<Found> {
  using top = openFolder(repository.top, "latin1");
  const comparison = compareWorkingCopy({
    top,
    index,
    hash: repository.hash,
    start: repository.start,
    baseRules: excludeRules(repository),
    maxFileBytes: MAX_COMPARED_BYTES,
    nested: "left out",
    untracked: "named",
  });
  const found: Found = {
    edits: [],
    contents: [],
    gone: comparison.gone,
    read: comparison.refreshed,
    modified: [],
    untracked: [],
    doubtful: [],
  };
  let handed = 0;
  for await (const { data, isTracked, ...entry } of comparison.changes) {
    const row = index.row(entry.path);
    if (!isTracked || row === undefined) {
      found.untracked.push(entry.path);
      continue;
    }
    found.doubtful.push({ ...entry, mode: index.mode(row), objectId: index.objectId(row), stat: undefined });
    const bytes = data?.length ?? 0;
    const isHanded = bytes === 0 || (bytes <= MAX_FILE_BYTES && languageOf(entry.path) !== undefined);
    if (!isHanded || handed + bytes > MAX_HANDED_BYTES) found.modified.push(entry.path);
    else {
      handed += bytes;
      found.edits.push(entry);
      if (data) found.contents.push(data);
    }
  }
  return found;
}

interface Against {
  repository: Repository;
  folder: string;
  index: GitIndex;
  commit: string;
}

const DIFF = ["diff-index", "--cached", "-p", "--no-ext-diff", "--no-textconv", "--no-color", "-M", "-U0"];

/** Git's diff between a commit and the index with these edits. */
async function diffOf({ repository, folder, index, commit }: Against, { edits, contents, gone }: Found) {
  const aside = scratchFolder(folder);
  try {
    const [indexPath, objects, empty] = [join(aside, "index"), join(aside, "objects"), join(aside, "tree")];
    for (const path of [objects, empty]) mkdirSync(path);
    const place = { root: empty, gitDir: repository.gitDir };
    const env = {
      GIT_INDEX_FILE: indexPath,
      GIT_OBJECT_DIRECTORY: objects,
      GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${repository.objects.replace(/["\\]/g, "\\$&")}"`,
    };
    await writeIndex(indexPath, index, { entries: edits, gone });
    if (contents.length > 0)
      await runGit(place, ["fast-import", "--quiet", "--done"], { env, stdin: toFastImport(contents) });
    const below = repository.start === "" ? [] : [`--relative=${repository.start}/`];
    return (await runGit(place, [...DIFF, ...below, commit, "--"], { env })) ?? "";
  } finally {
    rmSync(aside, { recursive: true, force: true });
  }
}

/** The contents in the format of `git fast-import`. */
function toFastImport(contents: readonly Buffer[]): Blob {
  return new Blob([...contents.flatMap((data) => [`blob\ndata ${data.length}\n`, data, "\n"]), "done\n"]);
}

const SCRATCH = "changes-";
const SCRATCH_KEPT_MS = 10 * 60_000;

/** Makes a new scratch folder. Old ones that a killed process left behind are removed. */
function scratchFolder(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const made = name.startsWith(SCRATCH) && statSync(path, { throwIfNoEntry: false })?.mtimeMs;
    if (made && made < Date.now() - SCRATCH_KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
  return mkdtempSync(join(folder, SCRATCH));
}

/** Adds the changed files that git did not compare. */
function addOthers({ files, hunks }: ChangedFiles, { modified, untracked }: Found, start: string): void {
  const listed = new Set(files.map((file) => file.path));
  const toRelativePath = (path: string) => asText(path.slice(start === "" ? 0 : start.length + 1));
  for (const path of modified.map(toRelativePath)) if (!listed.has(path)) files.push({ path, status: "modified" });
  for (const path of untracked.map(toRelativePath)) {
    files.push({ path, status: "untracked" });
    hunks.set(path, [{ start: 1, end: Number.POSITIVE_INFINITY, added: true }]);
  }
}
