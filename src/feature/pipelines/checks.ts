/** Checks pipelines against the team that would carry them out. A check is reused until what it depended on changes. */
import { memoize } from "../../core/lazy.ts";
import type { KnownNames } from "../../engine/pipeline/meaning.ts";
import type { ParsedPipeline } from "../../engine/pipeline/parse.ts";
import type { TextFile } from "../../store/text-folder.ts";

export interface ChecksDeps {
  /** The parser in `engine/pipeline`. */
  parse(text: string, known?: KnownNames): ParsedPipeline;
  agentIds(): string[];
  /** Names of the agent's readable skills. */
  skillsOf(agentId: string): string[];
}

interface Known {
  parsed: ParsedPipeline;
  agents: string;
  /** The agents' skills on which the check depended, as a key per agent. */
  skills: ReadonlyMap<string, string>;
}

/** Agents and their skills, each looked up once. */
export interface Team {
  agents(): Names;
  skillsOf(agentId: string): Names;
}

interface Names {
  all: ReadonlySet<string>;
  /** Identifies this set of names. */
  key: string;
}

export function createChecks({ parse, agentIds, skillsOf }: ChecksDeps) {
  const cache = new WeakMap<TextFile, Known>();
  const teamNow = (): Team => {
    /** Sets of names by list: agents without skills of their own share one list. */
    const lists = new Map<readonly string[], Names>();
    const namesIn = (list: readonly string[]): Names => {
      const names = lists.get(list) ?? { all: new Set(list), key: list.join() };
      lists.set(list, names);
      return names;
    };
    const skills = new Map<string, Names>();
    return {
      agents: memoize(() => namesIn(agentIds())),
      skillsOf(agentId) {
        const names = skills.get(agentId) ?? namesIn(skillsOf(agentId));
        skills.set(agentId, names);
        return names;
      },
    };
  };
  const check = (text: string, team: Team, fileId?: string): Known => {
    const skills = new Map<string, string>();
    const readSkills = (agentId: string): ReadonlySet<string> => {
      const { all, key } = team.skillsOf(agentId);
      skills.set(agentId, key);
      return all;
    };
    const { all: agents, key } = team.agents();
    return { parsed: parse(text, { fileId, agents, skillsOf: readSkills }), agents: key, skills };
  };
  const stillHolds = ({ agents, skills }: Known, team: Team): boolean =>
    agents === team.agents().key && [...skills].every(([agentId, key]) => team.skillsOf(agentId).key === key);
  const parseText = (text: string, fileId?: string): ParsedPipeline => check(text, teamNow(), fileId).parsed;
  const parseFile = (id: string, file: TextFile, team: Team): ParsedPipeline => {
    if (file.problem !== undefined) return { problems: [{ line: 1, column: 1, pointer: "", message: file.problem }] };
    const known = cache.get(file);
    if (known && stillHolds(known, team)) return known.parsed;
    const checked = check(file.text, team, id);
    cache.set(file, checked);
    return checked.parsed;
  };

  return { teamNow, parseText, parseFile };
}
