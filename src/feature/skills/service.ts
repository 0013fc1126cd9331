/** Skills on two levels. Files are the truth; an agent's own skill overrides everybody's of the same name. */
import { conflict, invalidField, notFound } from "../../core/errors.ts";
import { isSlug } from "../../core/ids.ts";
import { didYouMean } from "../../core/near.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import type { Store } from "../../store/store.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import { activity } from "../events/events.ts";
import type { Skill, SkillCreate, SkillUpdate } from "./model.ts";
import { createSkillFiles, type FrontMatterFormat, levelFolder, type SkillFile } from "./store.ts";

export interface SkillsDeps {
  store: Store;
  /** The folder of agents. */
  folder: TextFolder;
  format: FrontMatterFormat;
  agentIds(): string[];
}

/** What the engine and its tools need. Only usable, enabled skills count. */
export interface AgentSkills {
  /** Everything the agent may load, by name: the manifest, and what is matched against a step's input. */
  available(agentId: string): Pick<Skill, "name" | "description" | "tags" | "content">[];
  /** @throws Problem 404. */
  loadSkill(agentId: string, name: string): { name: string; content: string; files: string[] };
  /** @throws Problem 404. */
  readSkillFile(agentId: string, name: string, file: string): string;
  /** Writes a skill of the agent's own. @throws Problem 409 same name, 422. */
  createSkill(agentId: string, skill: Pick<SkillCreate, "name" | "description" | "content"> & { tags: string[] }): void;
}

export interface Skills {
  /** All of both levels, or what one agent sees. @throws Problem 404 unknown agent. */
  list(page: Page, agentId?: string): ListAnswer<Skill>;
  /** With an agent: its own, else everybody's. @throws Problem 404. */
  get(name: string, agentId?: string): Skill;
  /** Exactly that level, for changing. @throws Problem 404. */
  own(name: string, agentId?: string): Skill;
  /** @throws Problem 409 same name at that level, 422, 404 unknown agent. */
  create(input: SkillCreate): Skill;
  /** @throws Problem 409 when the file's front matter is broken and `content` does not replace it. */
  update(name: string, input: SkillUpdate, agentId?: string): Skill;
  remove(name: string, agentId?: string): void;
  countOf(agentId: string): number;
  /** Every file of every level with its problems. */
  files(): { file: string; problems: Skill["problems"] }[];
  namesOf(agentId: string): string[];
  /** Those that can be read, switched off ones too. */
  readableBy(agentId: string): string[];
  readonly forAgents: AgentSkills;
}

const present = ({ usable: _usable, text: _text, ...skill }: SkillFile): Skill => skill;

export function createSkills({ store, folder, format, agentIds }: SkillsDeps): Skills {
  const files = createSkillFiles(folder, format);
  const assertAgent = (agentId: string): void => {
    if (!isSlug(agentId) || !agentIds().includes(agentId)) throw notFound("agent", didYouMean(agentId, agentIds()));
  };
  /** An agent's own skills, each with the shared one that it overrides. */
  const ownOf = (agentId: string, everybodys: readonly SkillFile[]): SkillFile[] => {
    const names = new Set(everybodys.map((skill) => skill.name));
    return files.level(agentId).map((skill) => ({ ...skill, overrides_global: names.has(skill.name) }));
  };
  /** What the agent sees, by name. A broken file of its own does not hide everybody's. */
  const seenBy = (agentId: string): SkillFile[] => {
    const everybodys = files.level(null);
    const own = ownOf(agentId, everybodys);
    const hidden = new Set(own.filter((skill) => skill.usable).map((skill) => skill.name));
    return [...everybodys.filter((skill) => !hidden.has(skill.name)), ...own].sort((a, b) =>
      a.name === b.name ? Number(b.usable) - Number(a.usable) : a.name < b.name ? -1 : 1,
    );
  };
  const find = (name: string, agentId?: string): SkillFile => {
    if (agentId !== undefined) assertAgent(agentId);
    const skill = files.find(name, agentId ?? null);
    if (!skill)
      throw notFound(
        "skill",
        didYouMean(
          name,
          files.level(agentId ?? null).map((one) => one.name),
        ),
      );
    return agentId === undefined ? skill : { ...skill, overrides_global: files.find(name, null) !== undefined };
  };
  /** The instructions with the names of further files, for a prompt: no load_skill call is needed for an inlined skill. */
  const wholeOf = (skill: SkillFile): string => {
    const further = skill.has_files ? files.filesOf(skill) : [];
    if (further.length === 0) return skill.content;
    return `${skill.content}\n\nFiles that come with it, read with load_skill: ${further.join(", ")}`;
  };
  const available = (agentId: string): SkillFile[] => seenBy(agentId).filter((skill) => skill.usable && skill.enabled);
  const loadable = (agentId: string, name: string): SkillFile => {
    const skill = available(agentId).find((one) => one.name === name);
    if (!skill) throw notFound("skill");
    return skill;
  };
  const publish = (change: string, { name, agent_id }: Pick<Skill, "name" | "agent_id">): void =>
    store.write(({ emit }) =>
      emit(activity, {
        agent_id: agent_id ?? undefined,
        data: { title: `skill ${name} ${change}`, skill: name },
      }),
    );

  const create = ({
    name,
    description,
    tags = [],
    content,
    scope = "global",
    agent_id,
    enabled = true,
  }: SkillCreate): Skill => {
    const agentId = scope === "agent" ? (agent_id ?? undefined) : undefined;
    if (scope === "agent" && agentId === undefined)
      throw invalidField("/agent_id", "A skill of one agent needs agent_id");
    if (agentId !== undefined) assertAgent(agentId);
    if (!isSlug(name)) throw invalidField("/name", "This word is reserved; choose another name");
    const path = `${levelFolder(agentId ?? null)}/${name}.md`;
    if (files.find(name, agentId ?? null) || files.isTaken(path))
      throw conflict("A skill with this name exists at this level. Update it, or choose another name.");
    const { extra, body } = bodyOf(content, format);
    const fields = { name, description, tags, ...(enabled ? {} : { enabled }), ...extra };
    files.write(path, format.update("", fields, `\n${body}\n`));
    const skill = present(find(name, agentId));
    publish("created", skill);
    return skill;
  };

  return {
    list: (page, agentId) =>
      folder.snapshot(() => {
        if (agentId !== undefined) assertAgent(agentId);
        const everybodys = files.level(null);
        const seen = () => [...everybodys, ...agentIds().flatMap((id) => ownOf(id, everybodys))];
        const skills = agentId === undefined ? seen() : seenBy(agentId);
        return pageOfArray(skills.map(present), page, (skill) => skill.source_file);
      }),
    get(name, agentId) {
      if (agentId === undefined) return present(find(name));
      assertAgent(agentId);
      const seen = seenBy(agentId).find((skill) => skill.name === name);
      if (!seen) throw notFound("skill");
      return present(seen);
    },
    own: (name, agentId) => present(find(name, agentId)),
    create,
    update(name, { content, tags, ...fields }, agentId) {
      const skill = find(name, agentId);
      const patch: Record<string, unknown> = { ...fields, ...(tags === undefined ? {} : { tags: tags ?? undefined }) };
      files.write(skill.source_file, changed(skill, patch, content, format));
      publish("updated", skill);
      return present(find(name, agentId));
    },
    remove(name, agentId) {
      const skill = find(name, agentId);
      files.remove(skill);
      publish("deleted", skill);
    },
    countOf: (agentId) => available(agentId).length,
    files: () =>
      folder.snapshot(() =>
        [null, ...agentIds()]
          .flatMap((agentId) => files.level(agentId))
          .map(({ source_file, problems }) => ({ file: source_file, problems })),
      ),
    readableBy: (agentId) => seenBy(agentId).flatMap(({ name, usable }) => (usable ? [name] : [])),
    namesOf: (agentId) => available(agentId).map((skill) => skill.name),
    forAgents: {
      available: (agentId) =>
        available(agentId).map((skill) => {
          const { name, description, tags } = skill;
          return { name, description, tags, content: wholeOf(skill) };
        }),
      loadSkill(agentId, name) {
        const skill = loadable(agentId, name);
        return { name, content: skill.content, files: files.filesOf(skill) };
      },
      createSkill: (agentId, skill) => void create({ ...skill, scope: "agent", agent_id: agentId }),
      readSkillFile(agentId, name, file) {
        const read = files.readFile(loadable(agentId, name), file);
        if (!read || read.problem !== undefined) throw notFound("file of this skill");
        return read.text;
      },
    },
  };
}

/** Splits a body that was sent with front matter of its own. @throws Problem 422 when that is broken. */
function bodyOf(content: string, format: FrontMatterFormat): { extra: Record<string, unknown>; body: string } {
  if (!/^\uFEFF?---\r?\n/.test(content)) return { extra: {}, body: content.trim() };
  const { data, body, problems } = format.read(content);
  if (problems[0]) throw invalidField("/content", `Line ${problems[0].line}: ${problems[0].message}`);
  if (body.trim() === "") throw invalidField("/content", "There is no text below the front matter");
  const { name: _n, description: _d, tags: _t, enabled: _e, ...extra } = data;
  return { extra, body: body.trim() };
}

function changed(
  skill: SkillFile,
  patch: Record<string, unknown>,
  content: string | undefined,
  format: FrontMatterFormat,
): string {
  const body = content === undefined ? undefined : bodyOf(content, format).body;
  try {
    return format.update(skill.text, patch, body === undefined ? undefined : `\n${body}\n`);
  } catch {
    if (body === undefined || typeof patch["description"] !== "string")
      throw conflict("The file's front matter is broken. Send description and content to replace it.", "skill_broken");
    return format.update("", { name: skill.name, ...patch }, `\n${body}\n`);
  }
}
