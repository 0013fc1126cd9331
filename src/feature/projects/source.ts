/**
 * Reads what a project's branch holds now, for work on a copy of it without agents: its set-up. Everything is read from
 * the repository, nothing from a working copy. Contents of Git LFS and submodules are left out.
 */
import type { Git } from "../../adapter/git.ts";
import { conflict } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { type IgnoreRules, parseIgnoreRules } from "../../working-copy/ignore-rules.ts";
import { type BuildContext, type ContextPlace, readContext } from "./build-context.ts";
import { placeOf } from "./clones.ts";
import type { ProjectStore } from "./store.ts";

export interface ProjectSource {
  commit: string;
  branch: string;
  /** Files that name the other programs that the code needs, with fingerprints of their contents. */
  locks: { path: string; oid: string }[];
  /** Folders that hold files of the project, from the top: "" and "src/". */
  folders: string[];
  /** Whether the path belongs to no file of the project and the project's rules keep it out of commits. */
  isLeftOut(path: string, isFolder: boolean): boolean;
}

const LOCKS = new Set([
  "package.json",
  "package-lock.json",
  "npm-shrinkwrap.json",
  "pnpm-lock.yaml",
  "yarn.lock",
  "bun.lock",
  "bun.lockb",
  "Cargo.toml",
  "Cargo.lock",
  "go.mod",
  "go.sum",
  "pom.xml",
  "build.gradle",
  "build.gradle.kts",
  "gradle.lockfile",
  "libs.versions.toml",
  "pyproject.toml",
  "setup.py",
  "setup.cfg",
  "poetry.lock",
  "uv.lock",
  "pdm.lock",
  "Pipfile.lock",
  "Gemfile.lock",
  "composer.lock",
  "mix.lock",
]);
const REQUIREMENTS =
  /(?:^|\/)(?:(?:dev|test)-)?requirements[\w.-]{0,60}\.txt$|(?:^|\/)requirements\/[\w.-]{1,60}\.txt$/;
const LOCKS_MOST = 2_000;
const FOLDERS_MOST = 2_000;
const IGNORES_MOST = 200;

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

interface ProjectSourcesDeps {
  git: Pick<Git, "head" | "sourceFiles" | "fileAt" | "writeArchive">;
  rows: Pick<ProjectStore, "find">;
  /** Folder that holds one folder per project. */
  folder: string;
}

export type ProjectSources = ReturnType<typeof createProjectSources>;

export function createProjectSources({ git, rows, folder }: ProjectSourcesDeps) {
  /** @throws Problem 409 `no_files`. */
  async function headOf(projectId: string): Promise<{ repository: string; commit: string; branch: string }> {
    const row = rows.find(projectId);
    const { repository } = placeOf(folder, projectId);
    const commit = row?.workspace_state === "ready" ? (await git.head(repository)).commit : null;
    if (!row || commit === null)
      throw conflict("The project has no files here: it has no repository, or is not cloned yet.", "no_files");
    return { repository, commit, branch: row.default_branch ?? "main" };
  }
  return {
    /** @throws Problem 409 `no_files`, 413 `source_too_large`. */
    async of(projectId: string): Promise<ProjectSource> {
      const { repository, commit, branch } = await headOf(projectId);
      const files = await git.sourceFiles(repository, commit, LIMITS.sourceFiles);
      const locks = files.filter(({ path }) => LOCKS.has(nameOf(path)) || REQUIREMENTS.test(path));
      const rules = new Map<string, IgnoreRules>();
      for (const { path } of files.filter(({ path }) => nameOf(path) === ".gitignore").slice(0, IGNORES_MOST))
        rules.set(folderOf(path), parseIgnoreRules((await git.fileAt(repository, commit, path)) ?? ""));
      const [folders, known] = [new Set([""]), new Set(files.map(({ path }) => path))];
      for (const { path } of files)
        for (let at = folderOf(path); at !== "" && !folders.has(at); at = folderOf(at.slice(0, -1))) folders.add(at);
      return {
        commit,
        branch,
        locks: locks.slice(0, LOCKS_MOST),
        folders: [...folders].slice(0, FOLDERS_MOST),
        isLeftOut: (path, isFolder) =>
          !(isFolder ? folders.has(`${path}/`) : known.has(path)) && isIgnored(rules, path, isFolder),
      };
    },
    /** The files that a Dockerfile of a commit can copy. @throws DockerfileFault, Problem 413 `source_too_large`. */
    context: (projectId: string, commit: string, place: ContextPlace): Promise<BuildContext> =>
      readContext(git, placeOf(folder, projectId).repository, commit, place),
    head: async (projectId: string): Promise<string> => (await headOf(projectId)).commit,
    /**
     * Writes the files of one of the project's commits as an archive, below `prefix`.
     * @throws Problem 413, 502, 504.
     */
    archive: (
      projectId: string,
      commit: string,
      { to, prefix, signal }: { to: string; prefix: string; signal: AbortSignal },
    ): Promise<void> => {
      const { repository } = placeOf(folder, projectId);
      return git.writeArchive({ repository, commit, to, prefix, signal, maxBytes: LIMITS.sourceBytes });
    },
  };
}

/** Whether ignore rules exclude the path. The nearest file of rules that mentions it decides. */
function isIgnored(rules: ReadonlyMap<string, IgnoreRules>, path: string, isFolder: boolean): boolean {
  for (let folder = folderOf(path); ; folder = folderOf(folder.slice(0, -1))) {
    const said = rules.get(folder)?.(path.slice(folder.length), isFolder);
    if (said !== undefined) return said;
    if (folder === "") return false;
  }
}
