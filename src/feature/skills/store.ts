/**
 * Skills on the disk: `_skills/<name>.md` for everybody, `<agent>/skills/<name>.md` for one agent, or a folder
 * `<name>/SKILL.md` with further files. A broken file is a skill with problems.
 */
import { toTimestamp } from "../../core/clock.ts";
import { isSlug } from "../../core/ids.ts";
import type { FrontMatter } from "../../engine/front-matter.ts";
import { oncePerSnapshot } from "../../store/once-per-snapshot.ts";
import type { FolderEntry, TextFile, TextFolder } from "../../store/text-folder.ts";
import { originOf } from "../memory/model.ts";
import type { FileProblem, Skill } from "./model.ts";

/** The functions of `engine/front-matter.ts`. */
export interface FrontMatterFormat {
  read(text: string): FrontMatter;
  /** @throws Error when the front matter is broken. */
  update(text: string, patch: Readonly<Record<string, unknown>>, body?: string): string;
}

export interface SkillFile extends Skill {
  /** False for a skill that is listed with its problems and never given to an agent. */
  usable: boolean;
  /** Text of the whole file. */
  text: string;
}

export type SkillFiles = ReturnType<typeof createSkillFiles>;

const FOLDER_FILE = "SKILL.md";
const MAX_FILES = 200;
const MAX_DEPTH = 3;
export const levelFolder = (agentId: string | null): string => (agentId === null ? "_skills" : `${agentId}/skills`);

export function createSkillFiles(folder: TextFolder, format: FrontMatterFormat) {
  /** A skill as its file has it. Whether its folder holds more files is looked up each time. */
  const read = (agentId: string | null, file: TextFile, stem: string): SkillFile => {
    const { fields, problems, usable } =
      file.problem === undefined ? parseSkill(file.text, format) : createBroken(file.problem);
    const name = fields.name ?? stem;
    const named = isSlug(name);
    return {
      ...fields,
      name,
      enabled: fields.enabled,
      scope: agentId === null ? "global" : "agent",
      agent_id: agentId,
      origin: fields.origin,
      owner_id: fields.owner_id,
      trusted: fields.trusted,
      overrides_global: false,
      source_file: file.path,
      has_files: false,
      problems: named ? problems : [...problems, createNameProblem(name)],
      updated_at: toTimestamp(Math.trunc(file.modifiedAt)),
      usable: usable && named,
      text: file.text,
    };
  };
  const known = new WeakMap<TextFile, SkillFile>();
  const load = (agentId: string | null, entry: FolderEntry): SkillFile | undefined => {
    const path = `${levelFolder(agentId)}/${entry.name}`;
    const isFolder = entry.kind === "folder";
    if (entry.name.startsWith(".") || (!isFolder && !entry.name.endsWith(".md"))) return undefined;
    const file = folder.read(isFolder ? `${path}/${FOLDER_FILE}` : path);
    if (!file) return undefined;
    const skill = known.get(file) ?? read(agentId, file, isFolder ? entry.name : entry.name.slice(0, -3));
    known.set(file, skill);
    return isFolder ? { ...skill, has_files: folder.list(path).some((one) => one.name !== FOLDER_FILE) } : skill;
  };
  const levels = oncePerSnapshot(folder, (agentId) => readLevel(agentId || null));
  /** Skills of one level: everybody's (null) or an agent's own, by name. */
  const listOf = (agentId: string | null): SkillFile[] => levels(agentId ?? "");
  const readLevel = (agentId: string | null): SkillFile[] => {
    const taken = new Map<string, string>();
    const found = folder.list(levelFolder(agentId)).flatMap((entry) => load(agentId, entry) ?? []);
    return found
      .map((skill) => {
        const first = skill.usable ? taken.get(skill.name) : undefined;
        if (skill.usable && first === undefined) taken.set(skill.name, skill.source_file);
        if (first === undefined) return skill;
        const problem = problemAt(`${first} has this name already.`, "/name");
        return { ...skill, usable: false, problems: [...skill.problems, problem] };
      })
      .sort((a, b) => compare(a.name, b.name) || compare(a.source_file, b.source_file));
  };
  const homeOf = ({ source_file }: SkillFile): string | undefined =>
    source_file.endsWith(`/${FOLDER_FILE}`) ? source_file.slice(0, -FOLDER_FILE.length - 1) : undefined;
  /** Further files of a skill that is a folder, relative to that folder. */
  const filesOf = (skill: SkillFile): string[] => {
    const home = homeOf(skill);
    return home === undefined ? [] : filesBelow(folder, home);
  };
  return {
    listOf,
    /** Reads the skills of one level, one before each `yield`. */
    *look(agentId: string | null): Generator<void> {
      for (const entry of folder.list(levelFolder(agentId))) {
        load(agentId, entry);
        yield;
      }
    },
    /** The usable skill of that name, else a broken one. */
    find(name: string, agentId: string | null): SkillFile | undefined {
      const same = listOf(agentId).filter((skill) => skill.name === name);
      return same.find((skill) => skill.usable) ?? same[0];
    },
    filesOf,
    readFile: (skill: SkillFile, file: string): TextFile | undefined =>
      filesOf(skill).includes(file) ? folder.read(`${homeOf(skill)}/${file}`) : undefined,
    /** Whether there is a file of that path, whatever name it gives its skill. */
    isTaken: (path: string): boolean => folder.read(path) !== undefined,
    write: folder.write,
    remove: (skill: SkillFile) => void folder.remove(homeOf(skill) ?? skill.source_file),
  };
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

function filesBelow(folder: TextFolder, home: string): string[] {
  const found: string[] = [];
  const walk = (path: string, depth: number): void => {
    for (const { name, kind } of folder.list(`${home}${path}`)) {
      if (found.length >= MAX_FILES || name.startsWith(".")) continue;
      const here = `${path}/${name}`;
      if (kind === "folder" && depth < MAX_DEPTH) walk(here, depth + 1);
      else if (kind === "file" && here !== `/${FOLDER_FILE}`) found.push(here.slice(1));
    }
  };
  walk("", 1);
  return found;
}

interface Parsed {
  fields: Pick<Skill, "description" | "tags" | "enabled" | "content" | "origin" | "owner_id" | "trusted"> & {
    name?: string;
  };
  problems: FileProblem[];
  usable: boolean;
}

const problemAt = (message: string, pointer = ""): FileProblem => ({ line: 1, column: 1, pointer, message });
const createBroken = (message: string): Parsed => ({
  fields: {
    description: "",
    tags: [],
    enabled: false,
    content: "",
    origin: originOf(undefined),
    owner_id: null,
    trusted: false,
  },
  problems: [problemAt(message)],
  usable: false,
});

const createNameProblem = (name: string): FileProblem =>
  problemAt(`"${name}" is not a name: small letters, digits and hyphens.`, "/name");

/** Every problem of a skill's file. @param stem the skill's name when the file gives none. */
export function skillProblems(text: string, stem: string, format: FrontMatterFormat): FileProblem[] {
  const { fields, problems } = parseSkill(text, format);
  const name = fields.name ?? stem;
  return isSlug(name) ? problems : [...problems, createNameProblem(name)];
}

/** Reads a skill's file, whether or not the skill is usable. */
export function parseSkill(text: string, format: FrontMatterFormat): Parsed {
  const { data, body, problems: found, yaml } = format.read(text);
  const problems: FileProblem[] = found.map(({ line, column, pointer, message }) => ({
    line,
    column,
    pointer,
    message,
  }));
  const addProblem = (key: string, message: string): void => {
    const { line, column } = yaml?.locate([key]) ?? { line: 1, column: 1 };
    problems.push({ line, column, pointer: `/${key}`, message });
  };
  const { name, description, tags, enabled, owner, trusted } = data;
  const described = typeof description === "string" && description.trim() !== "";
  if (name !== undefined && typeof name !== "string") addProblem("name", "The name is a text.");
  if (!described)
    addProblem("description", "A description is missing: agents see nothing else before they load the skill.");
  if (tags !== undefined && tags !== null && tagsOf(tags) === undefined)
    addProblem("tags", "Tags are a list of texts.");
  if (enabled !== undefined && typeof enabled !== "boolean") addProblem("enabled", "This is true or false.");
  if (owner !== undefined && typeof owner !== "string") addProblem("owner", "This is the id of a user.");
  if (trusted !== undefined && typeof trusted !== "boolean") addProblem("trusted", "This is true or false.");
  if (body.trim() === "") addProblem("", "The skill has no text.");
  const owned = owner === undefined || typeof owner === "string";
  return {
    fields: {
      ...(typeof name === "string" ? { name } : {}),
      description: typeof description === "string" ? description.trim() : "",
      tags: tagsOf(tags) ?? [],
      enabled: found.length === 0 && enabled !== false,
      content: body.trim(),
      origin: originOf(data["origin"]),
      owner_id: typeof owner === "string" ? owner : null,
      // A skill with faults is never trusted.
      trusted: found.length === 0 && owned && (trusted === undefined || trusted === true),
    },
    problems,
    usable: found.length === 0 && owned && described && body.trim() !== "",
  };
}

/** Tags from a list of texts, or from one text with commas. */
function tagsOf(tags: unknown): string[] | undefined {
  if (typeof tags === "string")
    return tags
      .split(",")
      .map((tag) => tag.trim())
      .filter(Boolean);
  if (!Array.isArray(tags)) return undefined;
  return tags.every((tag) => typeof tag === "string" || typeof tag === "number") ? tags.map(String) : undefined;
}
