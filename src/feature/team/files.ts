/** Agents on the disk: `<id>/AGENT.md`. A broken file is an agent with problems; its valid fields count. */
import { toTimestamp } from "../../core/clock.ts";
import { isSlug } from "../../core/ids.ts";
import type { AgentFile } from "../../engine/agent-file.ts";
import type { SourceProblem } from "../../engine/yaml-text.ts";
import { oncePerSnapshot } from "../../store/once-per-snapshot.ts";
import type { TextFile, TextFolder } from "../../store/text-folder.ts";

export interface StoredAgent extends AgentFile {
  problems: SourceProblem[];
  /** Path of the file, relative to the folder of agents. */
  sourceFile: string;
  /** Text of the whole file. */
  text: string;
  /** Time of the last change, RFC 3339. */
  updatedAt: string;
}

export type AgentFiles = ReturnType<typeof createAgentFiles>;

/** The function of `engine/agent-file.ts`. */
export type ParseAgentFile = (id: string, text: string) => { agent: AgentFile; problems: SourceProblem[] };

const fileOf = (id: string): string => `${id}/AGENT.md`;

export function createAgentFiles(folder: TextFolder, parse: ParseAgentFile) {
  const read = (id: string, file: TextFile): StoredAgent => {
    const { agent, problems } = parse(id, file.text);
    const unreadable = file.problem !== undefined && [{ line: 1, column: 1, pointer: "", message: file.problem }];
    const updatedAt = toTimestamp(Math.trunc(file.modifiedAt));
    return { ...agent, problems: unreadable || problems, sourceFile: file.path, text: file.text, updatedAt };
  };
  const known = new WeakMap<TextFile, StoredAgent>();
  const find = (id: string): StoredAgent | undefined => {
    const file = isSlug(id) ? folder.read(fileOf(id)) : undefined;
    if (!file) return undefined;
    const agent = known.get(file) ?? read(id, file);
    known.set(file, agent);
    return agent;
  };
  const ids = oncePerSnapshot(folder, (): string[] =>
    folder
      .list("")
      .filter(({ name, kind }) => kind === "folder" && isSlug(name) && folder.read(fileOf(name)) !== undefined)
      .map(({ name }) => name),
  );
  return {
    find,
    /** Ids of agents, in alphabetical order. */
    ids: (): string[] => ids(""),
    /** Reads all agents, one before each `yield`, so that other work runs in between. */
    *look(): Generator<void> {
      for (const { name, kind } of folder.list("")) {
        if (kind === "folder") find(name);
        yield;
      }
    },
    write: (id: string, text: string) => folder.write(fileOf(id), text),
    /** Removes the agent's whole folder, including its skills. */
    remove: (id: string) => void folder.remove(id),
  };
}
