/**
 * Skills on two levels: everybody's, and those of one agent. Files are the truth; an agent's own skill overrides
 * everybody's of the same name.
 */
import { conflict, forbidden, invalidField, notFound } from "../../core/errors.ts";
import { isSlug, SLUG } from "../../core/ids.ts";
import { didYouMean } from "../../core/near.ts";
import { isOwner } from "../../core/ownership.ts";
import { type ListAnswer, type Page, pageOfArray } from "../../http/list.ts";
import { oncePerSnapshot } from "../../store/once-per-snapshot.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import { activity } from "../events/events.ts";
import type { Core } from "../feature.ts";
import { type Authorship, createAgentSkills } from "./agent-skills.ts";
import {
  MAX_DESCRIPTION,
  MAX_TAG_CHARACTERS,
  MAX_TAGS,
  type Skill,
  type SkillCreate,
  type SkillUpdate,
} from "./model.ts";
import { createSeenSkills, mayRead, type SkillReader } from "./seen.ts";
import { createSkillFiles, type FrontMatterFormat, levelFolder, parseSkill, type SkillFile } from "./store.ts";

export type { SkillReader } from "./seen.ts";

interface SkillsDeps extends Pick<Core, "store"> {
  /** The folder of agents. */
  folder: TextFolder;
  format: FrontMatterFormat;
  agentIds(): string[];
  /** Reads all agents, one before each `yield`. */
  lookAtAgents(): Generator<void>;
}

export type Skills = ReturnType<typeof createSkills>;

const EVERYBODY: SkillReader = { admin: false, userId: undefined, confirmed: true };
const present = ({ usable: _usable, text: _text, ...skill }: SkillFile): Skill => skill;

export function createSkills({ store, folder, format, agentIds, lookAtAgents }: SkillsDeps) {
  const files = createSkillFiles(folder, format);
  const { ownOf, everybodysFor, seenBy } = createSeenSkills(files);
  const assertAgent = (agentId: string): void => {
    if (!isSlug(agentId) || !agentIds().includes(agentId)) throw notFound("agent", didYouMean(agentId, agentIds()));
  };
  const find = (name: string, agentId?: string): SkillFile => {
    if (agentId !== undefined) assertAgent(agentId);
    const skill = files.find(name, agentId ?? null);
    if (!skill)
      throw notFound(
        "skill",
        didYouMean(
          name,
          files.listOf(agentId ?? null).map((one) => one.name),
        ),
      );
    return agentId === undefined ? skill : { ...skill, overrides_global: files.find(name, null) !== undefined };
  };
  /** @throws Problem 404, 403 for a skill that belongs to everybody. */
  const findForChange = (name: string, reader: SkillReader, agentId?: string): SkillFile => {
    const skill = find(name, agentId);
    if (!mayRead(skill, reader)) throw notFound("skill");
    if (!reader.admin && !isOwner(reader, skill.owner_id))
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
    const { content, scope = "global", agent_id, enabled = true } = input;
    const agentId = scope === "agent" ? (agent_id ?? undefined) : undefined;
    if (scope === "agent" && agentId === undefined)
      throw invalidField("/agent_id", "A skill of one agent needs agent_id");
    if (agentId !== undefined) assertAgent(agentId);
    const { said, extra, body } = bodyOf(content, format);
    const { name, description, tags = [] } = expectNamed({ ...said, ...input });
    const path = `${levelFolder(agentId ?? null)}/${name}.md`;
    if (files.find(name, agentId ?? null) || files.isTaken(path))
      throw conflict("A skill with this name exists at this level. Update it, or choose another name.");
    const fields = { name, description, tags, ...(enabled ? {} : { enabled }), ...extra, ...by };
    files.write(path, format.update("", fields, `\n${body}\n`));
    const skill = present(find(name, agentId));
    publish("created", skill);
    return skill;
  };

  const list = (page: Page, reader: SkillReader, agentId?: string): ListAnswer<Skill> =>
    folder.snapshot(() => {
      if (agentId !== undefined) assertAgent(agentId);
      const everybodys = everybodysFor(reader);
      const listAll = () => [...everybodys, ...agentIds().flatMap((id) => ownOf(id, everybodys, reader))];
      const skills = agentId === undefined ? listAll() : seenBy(agentId, reader);
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
  /** Names of skills that count in everybody's work, by agent. Agents without own skills share one list. */
  const namesFor = (isNamed: (skill: SkillFile) => boolean): ((agentId: string) => string[]) => {
    const namesIn = (skills: readonly SkillFile[]) => skills.flatMap((one) => (isNamed(one) ? [one.name] : []));
    const shared = oncePerSnapshot(folder, () => namesIn(everybodysFor(EVERYBODY)));
    return (agentId) => (files.listOf(agentId).length > 0 ? namesIn(seenBy(agentId, EVERYBODY)) : shared(""));
  };

  return {
    /** All skills of both levels, or those that one agent sees. @throws Problem 404 for an unknown agent. */
    list,
    /** Reads all skills of all agents or of one, a few files before each `yield`, to let other work run. */
    look,
    /** Lists skills as `list` does, and lets other work run while the files are read. */
    listInTurns: (page: Page, reader: SkillReader, agentId?: string): Promise<ListAnswer<Skill>> =>
      folder.snapshotInTurns(
        () => look(agentId),
        () => list(page, reader, agentId),
      ),
    /** A skill by name. With an agent: its own, else everybody's. @throws Problem 404. */
    get(name: string, reader: SkillReader, agentId?: string): Skill {
      if (agentId !== undefined) assertAgent(agentId);
      const seen =
        agentId === undefined ? [find(name)] : seenBy(agentId, reader).filter((skill) => skill.name === name);
      const [skill] = seen.filter((one) => mayRead(one, reader));
      if (!skill) throw notFound("skill");
      return present(skill);
    },
    /** The skill on exactly that level, for changing it. @throws Problem 404, 403 when it belongs to everybody. */
    own: (name: string, reader: SkillReader, agentId?: string): Skill => present(findForChange(name, reader, agentId)),
    /** @throws Problem 409 when the name is taken on that level, 422, 404 for an unknown agent. */
    create: (input: SkillCreate): Skill => folder.snapshot(() => create(input)),
    /** @throws Problem 403, 404, 409 when the file's front matter is broken and `content` does not replace it. */
    update: (
      name: string,
      { content, tags, for_everybody, ...fields }: SkillUpdate,
      reader: SkillReader,
      agentId?: string,
    ): Skill =>
      folder.snapshot(() => {
        const skill = findForChange(name, reader, agentId);
        if (for_everybody && !reader.admin && skill.owner_id !== null)
          throw forbidden("Only an administrator puts a skill into everybody's work.");
        const sent = content === undefined ? undefined : bodyOf(content, format);
        const patch: Record<string, unknown> = {
          ...sent?.extra,
          ...(sent ? expectFitting(sent.said) : {}),
          ...fields,
          ...(tags === undefined ? {} : { tags: tags ?? undefined }),
          ...(for_everybody ? { owner: undefined } : {}),
        };
        files.write(skill.source_file, rewrite(skill, patch, sent?.body, format));
        publish("updated", skill);
        return present(find(name, agentId));
      }),
    remove(name: string, reader: SkillReader, agentId?: string): void {
      const skill = findForChange(name, reader, agentId);
      files.remove(skill);
      publish("deleted", skill);
    },
    /** Removes a deleted user's own skills. Joins the deleting transaction. */
    removeOf: (userId: string): void =>
      store.write(({ after }) => {
        const owned = [null, ...agentIds()].flatMap((id) => files.listOf(id)).filter((one) => one.owner_id === userId);
        for (const skill of owned) after(() => files.remove(skill));
      }),
    /** Every skill file of both levels, with its problems. */
    files: (): { file: string; problems: Skill["problems"] }[] =>
      folder.snapshot(() =>
        [null, ...agentIds()]
          .flatMap((agentId) => files.listOf(agentId))
          .map(({ source_file, problems }) => ({ file: source_file, problems })),
      ),
    /** Names of readable skills, including skills that are switched off. */
    readableBy: namesFor(({ usable }) => usable),
    /** Names of the skills that everybody's work may use. */
    namesOf: namesFor(({ usable, enabled }) => usable && enabled),
    forAgents: createAgentSkills({ folder, files, seenBy, create }),
  };
}

const explainMissing = (what: string): string =>
  `The skill has no ${what}: give it one, or write it into the front matter of its content`;
const explainBadName = (name: string): string =>
  SLUG.test(name)
    ? "This word is reserved; choose another name"
    : "The name in the front matter is not one: small letters, digits and hyphens";

/** @throws Problem 422 for a missing or invalid name or description. */
function expectNamed({ name, description, tags }: SentBody["said"]) {
  if (name === undefined) throw invalidField("/name", explainMissing("name"));
  if (!isSlug(name)) throw invalidField("/name", explainBadName(name));
  if (!description) throw invalidField("/description", explainMissing("description"));
  return { name, ...expectFitting({ description, tags }), description };
}

/**
 * Checks the lengths of description and tags. Front matter may hold no more than the fields that are sent beside it.
 * @throws Problem 422
 */
function expectFitting({ description, tags }: SentBody["said"]) {
  if (description && description.length > MAX_DESCRIPTION)
    throw invalidField("/description", `Takes at most ${MAX_DESCRIPTION} characters, also in the front matter`);
  const [count = 0, longest = 0] = tags ? [tags.length, Math.max(0, ...tags.map(({ length }) => length))] : [];
  if (count > MAX_TAGS || longest > MAX_TAG_CHARACTERS)
    throw invalidField(
      "/tags",
      `Takes at most ${MAX_TAGS} tags of ${MAX_TAG_CHARACTERS} characters, also in the front matter`,
    );
  return { ...(description ? { description } : {}), ...(tags && count > 0 ? { tags } : {}) };
}

interface SentBody {
  /** The fields of the front matter that can also be sent beside it. */
  said: Partial<Pick<Skill, "name" | "description" | "tags">>;
  /** Further keys of the front matter. */
  extra: Record<string, unknown>;
  body: string;
}

/** Splits a body that was sent with front matter of its own. @throws Problem 422 when that front matter is broken. */
function bodyOf(content: string, format: FrontMatterFormat): SentBody {
  if (!/^\uFEFF?---\r?\n/.test(content)) return { said: {}, extra: {}, body: content.trim() };
  const { data, body, problems } = format.read(content);
  if (problems[0]) throw invalidField("/content", `Line ${problems[0].line}: ${problems[0].message}`);
  if (body.trim() === "") throw invalidField("/content", "There is no text below the front matter");
  const { name: _n, description: _d, tags: _t, enabled: _e, owner: _o, origin: _w, trusted: _c, ...extra } = data;
  const { name, description, tags } = parseSkill(content, format).fields;
  return { said: { name, description, tags }, extra, body: body.trim() };
}

function rewrite(
  skill: SkillFile,
  patch: Record<string, unknown>,
  body: string | undefined,
  format: FrontMatterFormat,
): string {
  try {
    return format.update(skill.text, patch, body === undefined ? undefined : `\n${body}\n`);
  } catch {
    if (body === undefined || typeof patch["description"] !== "string")
      throw conflict("The file's front matter is broken. Send description and content to replace it.", "skill_broken");
    return format.update("", { name: skill.name, ...patch }, `\n${body}\n`);
  }
}
