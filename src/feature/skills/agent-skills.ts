/** Skills in the work of agents: which are offered, and how agents read and write them. */
import { notFound } from "../../core/errors.ts";
import type { ExecutionInfo } from "../../engine/tool.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import type { Origin } from "../memory/model.ts";
import type { Skill, SkillCreate } from "./model.ts";
import type { SkillReader } from "./seen.ts";
import type { SkillFile, SkillFiles } from "./store.ts";

/** The agent of an execution, and the user for whom it works. */
type SkillUser = Pick<ExecutionInfo, "agentId" | "userId">;

type NewSkill = Pick<SkillCreate, "name" | "description" | "content"> & { tags: string[] };

/** Fields of the front matter of a skill that an agent wrote. */
export interface Authorship {
  origin?: Origin;
  owner?: string;
  trusted?: boolean;
}

interface AgentSkillsDeps {
  folder: Pick<TextFolder, "snapshot">;
  files: Pick<SkillFiles, "filesOf" | "readFile">;
  /** The skills that the agent sees, by name. */
  seenBy(agentId: string, reader: SkillReader): SkillFile[];
  create(input: SkillCreate, by: Authorship): Skill;
}

/** The part that the engine and its tools use. Only usable, enabled skills count that this user's work may use. */
export function createAgentSkills({ folder, files, seenBy, create }: AgentSkillsDeps) {
  /** The instructions with the names of further files, for a prompt. An inlined skill needs no load_skill call. */
  const wholeOf = (skill: SkillFile): string => {
    const further = skill.has_files ? files.filesOf(skill) : [];
    if (further.length === 0) return skill.content;
    return `${skill.content}\n\nFiles that come with it, read with load_skill: ${further.join(", ")}`;
  };
  const listOffered = (agentId: string, reader: SkillReader): SkillFile[] =>
    seenBy(agentId, reader).filter((skill) => skill.usable && skill.enabled);
  const listAvailable = ({ agentId, userId }: SkillUser): SkillFile[] =>
    listOffered(agentId, { admin: false, userId, confirmed: true });
  const loadOffered = ({ agentId, userId }: SkillUser, name: string): SkillFile => {
    const skill = listOffered(agentId, { admin: false, userId }).find((one) => one.name === name);
    if (!skill) throw notFound("skill");
    return skill;
  };
  return {
    /**
     * All confirmed skills that the agent may load, by name: for the manifest, and for matching against a step's input.
     */
    available: (work: SkillUser): Pick<Skill, "name" | "description" | "tags" | "content">[] =>
      listAvailable(work).map((skill) => {
        const { name, description, tags } = skill;
        return { name, description, tags, content: wholeOf(skill) };
      }),
    /** Unconfirmed skills that agents wrote in this user's work. They never go into a prompt. */
    listUnconfirmed: ({ agentId, userId }: SkillUser): Pick<Skill, "name" | "description">[] =>
      listOffered(agentId, { admin: false, userId }).filter(({ trusted }) => !trusted),
    /** @throws Problem 404. */
    loadSkill(work: SkillUser, name: string): { name: string; content: string; files: string[]; trusted: boolean } {
      const skill = loadOffered(work, name);
      return { name, content: skill.content, files: files.filesOf(skill), trusted: skill.trusted };
    },
    /**
     * Writes a skill of the agent, for its user's work alone.
     * @param outside why it may repeat outside text; undefined when it may not.
     * @throws Problem 409 when the name is taken, 422.
     */
    createSkill(
      { agentId, userId, id }: SkillUser & { id: string },
      skill: NewSkill,
      outside: string | undefined,
    ): void {
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
    /** @throws Problem 404. */
    readSkillFile(work: SkillUser, name: string, file: string): string {
      const read = files.readFile(loadOffered(work, name), file);
      if (!read || read.problem !== undefined) throw notFound("file of this skill");
      return read.text;
    },
  };
}
