/** Skills on two levels. Files are the truth; an agent's own skill overrides everybody's of the same name. */
import { conflict, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { isSlug } from "../../core/ids.ts";
import { didYouMean } from "../../core/near.ts";
import { type Asker, NO_PROJECTS, owns } from "../../core/ownership.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import { oncePerSnapshot } from "../../store/once-per-snapshot.ts";
import type { Store } from "../../store/store.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import { mayRead as mayReadFile, WHOSE_FILES } from "../../store/whose.ts";
import { activity } from "../events/events.ts";
import type { Origin } from "../memory/model.ts";
import type { Skill, SkillCreate, SkillUpdate } from "./model.ts";
import { createSkillFiles, type FrontMatterFormat, levelFolder, type SkillFile } from "./store.ts";

export interface SkillsDeps {
  store: Store;
  /** The folder of agents. */
  folder: TextFolder;
  format: FrontMatterFormat;
  agentIds(): string[];
  /** Reads all agents, one before each `yield`. */
  lookAtAgents(): Generator<void>;
}

/** For whom skills are read. */
export interface SkillReader extends Pick<Asker, "admin" | "userId"> {
  /** Leaves out what nobody has confirmed; else the user's own are there. */
  confirmed?: boolean;
}

/** An execution's agent and the user it works for. */
export type SkillUser = Pick<ExecutionInfo, "agentId" | "userId">;

/** What the engine and its tools need. Only usable, enabled skills count, and only those that this user's work may use. */
export interface AgentSkills {
  /** Everything confirmed that the agent may load, by name: the manifest, and what is matched against a step's input. */
  available(work: SkillUser): Pick<Skill, "name" | "description" | "tags" | "content">[];
  /** What agents left in this user's work and nobody has confirmed: for no prompt. */
  unconfirmed(work: SkillUser): Pick<Skill, "name" | "description">[];
  /** @throws Problem 404. */
  loadSkill(work: SkillUser, name: string): { name: string; content: string; files: string[]; trusted: boolean };
  /** @throws Problem 404. */
  readSkillFile(work: SkillUser, name: string, file: string): string;
  /**
   * Writes a skill of the agent's own, for its user's work alone.
   * @param outside why it may repeat outside text; undefined: it may not. @throws Problem 409 same name, 422.
   */
  createSkill(work: SkillUser & { id: string }, skill: NewSkill, outside: string | undefined): void;
}
type NewSkill = Pick<SkillCreate, "name" | "description" | "content"> & { tags: string[] };

export interface Skills {
  /** All of both levels, or what one agent sees. @throws Problem 404 unknown agent. */
  list(page: Page, reader: SkillReader, agentId?: string): ListAnswer<Skill>;
  /** Reads all skills of all agents, or of one, some files before each `yield`: for an answer that takes turns. */
  look(agentId?: string): Generator<void>;
  /** The same as `list`; others get their turn while the files are looked at. */
  listInTurns(page: Page, reader: SkillReader, agentId?: string): Promise<ListAnswer<Skill>>;
  /** With an agent: its own, else everybody's. @throws Problem 404. */
  get(name: string, reader: SkillReader, agentId?: string): Skill;
  /** Exactly that level, for changing. @throws Problem 404, 403 for one that belongs to everybody. */
  own(name: string, reader: SkillReader, agentId?: string): Skill;
  /** @throws Problem 409 same name at that level, 422, 404 unknown agent. */
  create(input: SkillCreate): Skill;
  /** @throws Problem 403, 404, 409 when the file's front matter is broken and `content` does not replace it. */
  update(name: string, input: SkillUpdate, reader: SkillReader, agentId?: string): Skill;
  remove(name: string, reader: SkillReader, agentId?: string): void;
  /** Removes a deleted user's own. Inside the deleting transaction. */
  removeOf(userId: string): void;
  /** Every file of every level with its problems. */
  files(): { file: string; problems: Skill["problems"] }[];
  /** Of what everybody's work may use. */
  namesOf(agentId: string): string[];
  /** Those that can be read, switched off ones too. */
  readableBy(agentId: string): string[];
  readonly forAgents: AgentSkills;
}

const EVERYBODY: SkillReader = { admin: false, userId: undefined, confirmed: true };
const mayRead = ({ owner_id, trusted }: Skill, reader: SkillReader): boolean => {
  if (reader.admin) return true;
  return trusted
    ? mayReadFile({ ...reader, projects: NO_PROJECTS }, WHOSE_FILES.skills, { owner_id })
    : owns(reader, owner_id) && !reader.confirmed;
};

/** Front matter of a skill that an agent wrote. */
interface Authorship {
  origin?: Origin;
  owner?: string;
  trusted?: boolean;
}

const present = ({ usable: _usable, text: _text, ...skill }: SkillFile): Skill => skill;

export function createSkills({ store, folder, format, agentIds, lookAtAgents }: SkillsDeps): Skills {
  const files = createSkillFiles(folder, format);
  const assertAgent = (agentId: string): void => {
    if (!isSlug(agentId) || !agentIds().includes(agentId)) throw notFound("agent", didYouMean(agentId, agentIds()));
  };
  /** An agent's own skills, each with the shared one that it overrides. */
  const ownOf = (agentId: string, everybodys: readonly SkillFile[], reader: SkillReader): SkillFile[] => {
    const own = files.level(agentId).filter((skill) => mayRead(skill, reader));
    if (own.length === 0) return [];
    const names = new Set(everybodys.map((skill) => skill.name));
    return own.map((skill) => ({ ...skill, overrides_global: names.has(skill.name) }));
  };
  const everybodysFor = (reader: SkillReader) => files.level(null).filter((skill) => mayRead(skill, reader));
  const counts = ({ usable, trusted }: SkillFile): boolean => usable && trusted;
  /** What the agent sees, by name. A file of its own that is broken or unconfirmed does not hide everybody's. */
  const seenBy = (agentId: string, reader: SkillReader): SkillFile[] => {
    const everybodys = everybodysFor(reader);
    const own = ownOf(agentId, everybodys, reader);
    if (own.length === 0) return everybodys;
    const hidden = new Set(own.filter(counts).map((skill) => skill.name));
    return [...everybodys.filter((skill) => !hidden.has(skill.name)), ...own].sort((a, b) =>
      a.name === b.name ? Number(counts(b)) - Number(counts(a)) : a.name < b.name ? -1 : 1,
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
  const offered = (agentId: string, reader: SkillReader): SkillFile[] =>
    seenBy(agentId, reader).filter((skill) => skill.usable && skill.enabled);
  const available = ({ agentId, userId }: SkillUser): SkillFile[] =>
    offered(agentId, { admin: false, userId, confirmed: true });
  const loadable = ({ agentId, userId }: SkillUser, name: string): SkillFile => {
    const skill = offered(agentId, { admin: false, userId }).find((one) => one.name === name);
    if (!skill) throw notFound("skill");
    return skill;
  };
  /** @throws Problem 404, 403 for one that belongs to everybody. */
  const findForChange = (name: string, reader: SkillReader, agentId?: string): SkillFile => {
    const skill = find(name, agentId);
    if (!mayRead(skill, reader)) throw notFound("skill");
    if (!reader.admin && !owns(reader, skill.owner_id))
      throw forbidden("This skill belongs to everybody: only an administrator may change it.");
    return skill;
  };
  const publish = (change: string, { name, agent_id }: Pick<Skill, "name" | "agent_id">): void =>
    store.write(({ emit }) =>
      emit(activity, {
        agent_id: agent_id ?? undefined,
        data: { title: `skill ${name} ${change}`, skill: name },
      }),
    );

  const create = (input: SkillCreate, by: Authorship = {}): Skill => {
    const { name, description, tags = [], content, scope = "global", agent_id, enabled = true } = input;
    const agentId = scope === "agent" ? (agent_id ?? undefined) : undefined;
    if (scope === "agent" && agentId === undefined)
      throw invalidField("/agent_id", "A skill of one agent needs agent_id");
    if (agentId !== undefined) assertAgent(agentId);
    if (!isSlug(name)) throw invalidField("/name", "This word is reserved; choose another name");
    const path = `${levelFolder(agentId ?? null)}/${name}.md`;
    if (files.find(name, agentId ?? null) || files.isTaken(path))
      throw conflict("A skill with this name exists at this level. Update it, or choose another name.");
    const { extra, body } = bodyOf(content, format);
    const fields = { name, description, tags, ...(enabled ? {} : { enabled }), ...extra, ...by };
    files.write(path, format.update("", fields, `\n${body}\n`));
    const skill = present(find(name, agentId));
    publish("created", skill);
    return skill;
  };

  const list: Skills["list"] = (page, reader, agentId) =>
    folder.snapshot(() => {
      if (agentId !== undefined) assertAgent(agentId);
      const everybodys = everybodysFor(reader);
      const seen = () => [...everybodys, ...agentIds().flatMap((id) => ownOf(id, everybodys, reader))];
      const skills = agentId === undefined ? seen() : seenBy(agentId, reader);
      return pageOfArray(skills.map(present), page, (skill) => skill.source_file);
    });

  function* look(agentId?: string): Generator<void> {
    yield* lookAtAgents();
    const ids = agentId === undefined ? agentIds() : agentIds().filter((id) => id === agentId);
    for (const id of [null, ...ids]) {
      yield* files.look(id);
      yield;
    }
  }
  /** Names of skills in everybody's work, by agent. Agents without skills of their own share one list. */
  const namesFor = (isNamed: (skill: SkillFile) => boolean): ((agentId: string) => string[]) => {
    const namesIn = (skills: readonly SkillFile[]) => skills.flatMap((one) => (isNamed(one) ? [one.name] : []));
    const shared = oncePerSnapshot(folder, () => namesIn(everybodysFor(EVERYBODY)));
    return (agentId) => (files.level(agentId).length > 0 ? namesIn(seenBy(agentId, EVERYBODY)) : shared(""));
  };

  return {
    list,
    look,
    listInTurns: (page, reader, agentId) =>
      folder.snapshotInTurns(
        () => look(agentId),
        () => list(page, reader, agentId),
      ),
    get(name, reader, agentId) {
      if (agentId !== undefined) assertAgent(agentId);
      const seen =
        agentId === undefined ? [find(name)] : seenBy(agentId, reader).filter((skill) => skill.name === name);
      const [skill] = seen.filter((one) => mayRead(one, reader));
      if (!skill) throw notFound("skill");
      return present(skill);
    },
    own: (name, reader, agentId) => present(findForChange(name, reader, agentId)),
    create: (input) => folder.snapshot(() => create(input)),
    update: (name, { content, tags, for_everybody, ...fields }, reader, agentId) =>
      folder.snapshot(() => {
        const skill = findForChange(name, reader, agentId);
        if (for_everybody && !reader.admin && skill.owner_id !== null)
          throw forbidden("Only an administrator puts a skill into everybody's work.");
        const patch: Record<string, unknown> = {
          ...fields,
          ...(tags === undefined ? {} : { tags: tags ?? undefined }),
          ...(for_everybody ? { owner: undefined } : {}),
        };
        files.write(skill.source_file, changed(skill, patch, content, format));
        publish("updated", skill);
        return present(find(name, agentId));
      }),
    remove(name, reader, agentId) {
      const skill = findForChange(name, reader, agentId);
      files.remove(skill);
      publish("deleted", skill);
    },
    removeOf: (userId) =>
      store.write(({ after }) => {
        const owned = [null, ...agentIds()].flatMap((id) => files.level(id)).filter((one) => one.owner_id === userId);
        for (const skill of owned) after(() => files.remove(skill));
      }),
    files: () =>
      folder.snapshot(() =>
        [null, ...agentIds()]
          .flatMap((agentId) => files.level(agentId))
          .map(({ source_file, problems }) => ({ file: source_file, problems })),
      ),
    readableBy: namesFor(({ usable }) => usable),
    namesOf: namesFor(({ usable, enabled }) => usable && enabled),
    forAgents: {
      available: (work) =>
        available(work).map((skill) => {
          const { name, description, tags } = skill;
          return { name, description, tags, content: wholeOf(skill) };
        }),
      unconfirmed: ({ agentId, userId }) =>
        offered(agentId, { admin: false, userId }).filter(({ trusted }) => !trusted),
      loadSkill(work, name) {
        const skill = loadable(work, name);
        return { name, content: skill.content, files: files.filesOf(skill), trusted: skill.trusted };
      },
      createSkill({ agentId, userId, id }, skill, outside) {
        const origin: Origin = {
          by: "agent",
          execution: id,
          author: agentId,
          ...(outside === undefined ? {} : { outside }),
        };
        const owner = userId === undefined ? {} : { owner: userId };
        folder.snapshot(() =>
          create({ ...skill, scope: "agent", agent_id: agentId }, { origin, ...owner, trusted: outside === undefined }),
        );
      },
      readSkillFile(work, name, file) {
        const read = files.readFile(loadable(work, name), file);
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
  const { name: _n, description: _d, tags: _t, enabled: _e, owner: _o, origin: _w, trusted: _c, ...extra } = data;
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
