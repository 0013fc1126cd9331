/** Decides which skills a reader sees: everybody's, and an agent's own, which override everybody's of the same name. */
import { type Asker, isOwner, NO_PROJECTS } from "../../core/ownership.ts";
import { mayRead as mayReadFile, WHOSE_FILES } from "../../store/whose.ts";
import type { Skill } from "./model.ts";
import type { SkillFile, SkillFiles } from "./store.ts";

/** The reader of skills. */
export interface SkillReader extends Pick<Asker, "admin" | "userId"> {
  /** Leaves out unconfirmed skills. Without it, the user's own unconfirmed skills are included. */
  confirmed?: boolean;
}

export const mayRead = ({ owner_id, trusted }: Skill, reader: SkillReader): boolean => {
  if (reader.admin) return true;
  return trusted
    ? mayReadFile({ ...reader, projects: NO_PROJECTS }, WHOSE_FILES.skills, { owner_id })
    : isOwner(reader, owner_id) && !reader.confirmed;
};

export function createSeenSkills(files: Pick<SkillFiles, "listOf">) {
  /** An agent's own skills, each with the shared one that it overrides. */
  const ownOf = (agentId: string, everybodys: readonly SkillFile[], reader: SkillReader): SkillFile[] => {
    const own = files.listOf(agentId).filter((skill) => mayRead(skill, reader));
    if (own.length === 0) return [];
    const names = new Set(everybodys.map((skill) => skill.name));
    return own.map((skill) => ({ ...skill, overrides_global: names.has(skill.name) }));
  };
  const everybodysFor = (reader: SkillReader) => files.listOf(null).filter((skill) => mayRead(skill, reader));
  const isEffective = ({ usable, trusted }: SkillFile): boolean => usable && trusted;
  /** The skills that the agent sees, by name. An own skill that is broken or unconfirmed does not hide everybody's. */
  const seenBy = (agentId: string, reader: SkillReader): SkillFile[] => {
    const everybodys = everybodysFor(reader);
    const own = ownOf(agentId, everybodys, reader);
    if (own.length === 0) return everybodys;
    const hidden = new Set(own.filter(isEffective).map((skill) => skill.name));
    return [...everybodys.filter((skill) => !hidden.has(skill.name)), ...own].sort((a, b) =>
      a.name === b.name ? Number(isEffective(b)) - Number(isEffective(a)) : a.name < b.name ? -1 : 1,
    );
  };
  return { ownOf, everybodysFor, seenBy };
}
