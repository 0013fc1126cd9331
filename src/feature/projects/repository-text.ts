/**
 * Reads what a repository says about itself to agents: `AGENTS.md`, skills, tool servers. It is read from the commit
 * where a run began, on the project's own branch, and never from the run's files. Otherwise text that an agent wrote,
 * perhaps after reading outside text, or that a pull request changes would instruct the next agent.
 */
import type { Git } from "../../adapter/git.ts";
import { isSlug } from "../../core/ids.ts";
import type { Masking } from "../../core/masking.ts";
import { visibleText } from "../../core/outside-text.ts";
import type { FrontMatter } from "../../engine/front-matter.ts";
import { placeOf } from "./clones.ts";
import type { ProjectStore } from "./store.ts";

/** Most bytes of `AGENTS.md` that agents are given. */
const INSTRUCTION_BYTES = 16 * 1024;
const SKILL_BYTES = 64 * 1024;
/** Most bytes of a file that is read whole. */
const TEXT_BYTES = 64 * 1024;
const SKILLS_MOST = 50;
const NESTED_MOST = 20;
const DESCRIPTION_CHARACTERS = 300;
/** Most files of one repository that are examined. */
const FILES_MOST = 20_000;
/** Most results that are cached, each of one repository at one commit. */
const KEPT = 50;

interface RepositorySkill {
  name: string;
  description: string;
  /** Path of the skill's instructions in the repository. */
  path: string;
}

interface RepositoryText {
  branch: string;
  commit: string;
  /** The instructions at the top: `AGENTS.md`, else `CLAUDE.md`. */
  instructions: { file: string; text: string; isCut: boolean } | undefined;
  /** Paths of further instruction files; each applies to the files below its folder. */
  nested: string[];
  skills: RepositorySkill[];
}

interface RepositoryTextsDeps {
  git: Pick<Git, "filesIn" | "fileAt" | "head">;
  rows: Pick<ProjectStore, "find">;
  masking: Pick<Masking, "text">;
  /** Folder that holds one folder per project. */
  folder: string;
  readFrontMatter(text: string): FrontMatter;
}

const SKILL = /^\.(?:agents|claude)\/skills\/([^/]+)\/SKILL\.md$/;
const INSTRUCTIONS = /(?:^|\/)(?:AGENTS|CLAUDE)\.md$/;

export type RepositoryTexts = ReturnType<typeof createRepositoryTexts>;

export function createRepositoryTexts({ git, rows, masking, folder, readFrontMatter }: RepositoryTextsDeps) {
  const known = new Map<string, Promise<RepositoryText>>();

  async function read(repository: string, commit: string, branch: string): Promise<RepositoryText> {
    const files = await git.filesIn(repository, commit, {
      isWanted: (path) => INSTRUCTIONS.test(path) || SKILL.test(path),
      most: FILES_MOST,
    });
    const notes = files.map(({ path }) => path).filter((path) => INSTRUCTIONS.test(path) && !SKILL.test(path));
    const top = ["AGENTS.md", "CLAUDE.md"].find((file) => notes.includes(file));
    const text = top === undefined ? null : await git.fileAt(repository, commit, top);
    const skillFiles = files.filter(({ path, bytes }) => SKILL.test(path) && bytes <= SKILL_BYTES);
    const skills = await skillsOf(
      skillFiles.map(({ path }) => path),
      (path) => git.fileAt(repository, commit, path),
    );
    return {
      branch,
      commit,
      skills,
      instructions: top === undefined || text === null ? undefined : { file: top, ...presentText(text) },
      nested: nestedOf(notes).slice(0, NESTED_MOST),
    };
  }
  function presentText(text: string): { text: string; isCut: boolean } {
    const whole = Buffer.from(masking.text(visibleText(text)));
    const isCut = whole.length > INSTRUCTION_BYTES;
    return { text: new TextDecoder().decode(whole.subarray(0, INSTRUCTION_BYTES)).replace(/\ufffd$/, ""), isCut };
  }
  async function skillsOf(paths: string[], textAt: (path: string) => Promise<string | null>) {
    const found = new Map<string, RepositorySkill>();
    for (const path of paths.slice(0, SKILLS_MOST)) {
      const name = SKILL.exec(path)?.[1] ?? "";
      const { data, problems } = readFrontMatter((await textAt(path)) ?? "");
      const described = typeof data["description"] === "string" ? data["description"] : "";
      const description = masking.text(visibleText(described).replace(/\s+/g, " ")).slice(0, DESCRIPTION_CHARACTERS);
      // `.agents` sorts before `.claude`, so a skill in both is listed once, from `.agents`.
      if (!isSlug(name) || found.has(name) || problems.length > 0 || description === "") continue;
      found.set(name, { name, description, path });
    }
    return [...found.values()];
  }

  return {
    /** @param commit where the run began. @returns undefined for a project without a repository. */
    async at(projectId: string, commit: string): Promise<RepositoryText | undefined> {
      const row = rows.find(projectId);
      if (!row) return undefined;
      const key = `${projectId}/${commit}`;
      const reading =
        known.get(key) ?? read(placeOf(folder, projectId).repository, commit, row.default_branch ?? "main");
      known.delete(key);
      known.set(key, reading);
      if (known.size > KEPT) known.delete(known.keys().next().value!);
      try {
        return await reading;
      } catch (error) {
        known.delete(key);
        throw error;
      }
    },
    /**
     * Texts of those of these files that the project's branch has now, by path; null when there is no clone. A file
     * that is too large to be read whole has an empty text.
     */
    async textsOf(
      projectId: string,
      paths: readonly string[],
    ): Promise<{ texts: Map<string, string>; commit: string; branch: string } | null> {
      const row = rows.find(projectId);
      if (row?.workspace_state !== "ready") return null;
      const { repository } = placeOf(folder, projectId);
      const { commit } = await git.head(repository);
      if (commit === null) return null;
      const wanted = new Set(paths);
      const files = await git.filesIn(repository, commit, { isWanted: (path) => wanted.has(path), most: paths.length });
      const texts = new Map<string, string>();
      for (const { path, bytes } of files)
        texts.set(path, bytes > TEXT_BYTES ? "" : ((await git.fileAt(repository, commit, path)) ?? ""));
      return { texts, commit, branch: row.default_branch ?? "main" };
    },
    /** Text of a file on the project's branch as it is now, limited to its first bytes; null when there is none. */
    async fileOf(projectId: string, path: string): Promise<{ text: string; commit: string; branch: string } | null> {
      const row = rows.find(projectId);
      if (row?.workspace_state !== "ready") return null;
      const { repository } = placeOf(folder, projectId);
      const { commit } = await git.head(repository);
      const text = commit === null ? null : await git.fileAt(repository, commit, path);
      return text === null || commit === null ? null : { text, commit, branch: row.default_branch ?? "main" };
    },
  };
}

/**
 * Further instruction files below the top folder. `CLAUDE.md` counts only where its folder has no `AGENTS.md`. Hidden
 * and vendored folders are left out.
 */
function nestedOf(paths: readonly string[]): string[] {
  const all = new Set(paths);
  return paths.filter((path) => {
    if (!path.includes("/") || /(?:^|\/)(?:\.[^/]+|node_modules|vendor)\//.test(path)) return false;
    return !path.endsWith("CLAUDE.md") || !all.has(path.replace(/CLAUDE\.md$/, "AGENTS.md"));
  });
}
