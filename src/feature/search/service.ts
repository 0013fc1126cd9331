/** Searches everything that has a name. Names that begin with the words come first, then names that contain them. */
import type { Asker } from "../../core/ownership.ts";
import type { Caller } from "../../http/caller.ts";
import type { ListAnswer, Page } from "../../http/list.ts";
import { allOf, createReader } from "../../store/reader.ts";
import { projects } from "../../store/tables/projects.ts";
import { tasks } from "../../store/tables/tasks.ts";
import type { TextFolder } from "../../store/text-folder.ts";
import { hold, namedBy, wordsOf } from "../../store/text-query.ts";
import { buildReadCondition, WHOSE } from "../../store/whose.ts";
import type { Agent } from "../agents/model.ts";
import type { Chats } from "../chat/service.ts";
import type { DocumentHit } from "../documents/model.ts";
import type { Core } from "../feature.ts";
import type { FoundSymbol } from "../knowledge-graph/service.ts";
import type { MemoryHit } from "../memory/model.ts";
import type { Pipeline } from "../pipelines/model.ts";
import type { Run } from "../runs/model.ts";
import type { Skill } from "../skills/model.ts";
import type { SkillReader } from "../skills/service.ts";
import type { Found } from "./model.ts";

type Kind = Found["kind"];

interface SearchDeps extends Pick<Core, "store"> {
  agents: { listSummaries(): Pick<Agent, "id" | "name" | "description">[] };
  pipelines: { listSummaries(): Pick<Pipeline, "id" | "name" | "description">[]; look(): Generator<void> };
  skills: { look(): Generator<void>; list(page: Page, reader: SkillReader): ListAnswer<Skill> };
  /** Reads the folder of agents, pipelines and skills in turns. */
  snapshotInTurns: TextFolder["snapshotInTurns"];
  /** Finds only the caller's own chats. */
  chat: Pick<Chats, "searchTitles">;
  /** Finds only what the caller may see. */
  memory: { searchWords(query: string, limit: number, caller: Caller): MemoryHit[] };
  /** Finds only documents that the asker may see. */
  documents: {
    search(request: { query: string; limit: number }, asker: Asker): DocumentHit[];
  };
  graphs: { findSymbols(words: readonly string[], limit: number, asker: Asker): Promise<FoundSymbol[]> };
  /** Lists only runs that the caller may see. */
  runs: { list(query: { q: string }, page: Page, caller: Caller): ListAnswer<Run> };
}

/** Most named things that are searched; there are usually few. */
const NAMED_MAX = 5_000;
/** Most characters of a text that are shown. */
const SHOWN = 300;

const shorten = (text: string) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
const toFound = (kind: Found["kind"], id: string, title: string, detail: string, more: Partial<Found> = {}): Found => ({
  kind,
  id,
  title: shorten(title),
  detail: shorten(detail),
  status: null,
  project_id: null,
  agent_id: null,
  section_id: null,
  ...more,
});

/**
 * Rank of a match: 0 when it begins with the words, 1 when its name contains them all, 2 when its details are needed;
 * undefined for no match.
 */
function rank({ title, id, detail }: Found, words: readonly string[]): number | undefined {
  const [name, rest] = [`${title} ${id}`.toLowerCase(), detail.toLowerCase()];
  if (!words.every((word) => name.includes(word) || rest.includes(word))) return undefined;
  if (title.toLowerCase().startsWith(words[0] ?? "") || id.startsWith(words[0] ?? "")) return 0;
  return words.every((word) => name.includes(word)) ? 1 : 2;
}

export function createSearch(deps: SearchDeps) {
  const all: Page = { limit: NAMED_MAX, after: null };
  const taskRows = createReader(deps.store.statement, tasks, ["id", "title", "description", "status", "project_id"]);
  const projectRows = createReader(deps.store.statement, projects, ["id", "name", "description"]);
  const projectsSeen = (caller: Caller) => {
    const { where, values } = allOf(buildReadCondition(caller, WHOSE.projects));
    return projectRows.all(`${where} ORDER BY id DESC LIMIT ?`, ...values, NAMED_MAX);
  };
  type Wanted = (kind: Kind) => boolean;
  const listNamed = (wanted: Wanted, caller: Caller): Found[] => {
    const reader: SkillReader = { admin: caller.admin, userId: caller.userId };
    const agents = wanted("agent") ? deps.agents.listSummaries() : [];
    const pipelines = wanted("pipeline") ? deps.pipelines.listSummaries() : [];
    const skills = wanted("skill") ? deps.skills.list(all, reader).items : [];
    const ofProjects = wanted("project") ? projectsSeen(caller) : [];
    return [
      ...agents.map((one) => toFound("agent", one.id, one.name, one.description)),
      ...pipelines.map((one) => toFound("pipeline", one.id, one.name || one.id, one.description)),
      ...skills.map((one) => toFound("skill", one.name, one.name, one.description, { agent_id: one.agent_id })),
      ...ofProjects.map((one) => toFound("project", one.id, one.name, one.description)),
    ];
  };
  /** Chats by their title, newest first. */
  const chatsWith = (words: string[], limit: number, caller: Caller): Found[] =>
    deps.chat
      .searchTitles(words, limit, caller)
      .map(({ id, title, agent_id, project_id }) =>
        toFound("chat", id, title ?? "", agent_id, { agent_id, project_id }),
      );
  const memoriesWith = (words: string[], limit: number, caller: Caller): Found[] =>
    deps.memory
      .searchWords(words.join(" "), limit, caller)
      .filter(({ title, snippet }) => words.every((word) => `${title} ${snippet}`.toLowerCase().includes(word)))
      .map(({ entry, title, snippet, agent_id, trusted }) =>
        toFound("memory", entry, title, snippet, { agent_id, status: trusted ? null : "unconfirmed" }),
      );
  const tasksWith = (words: string[], limit: number, caller: Caller): Found[] => {
    const named = namedBy("task", words);
    const { where, values } = allOf(
      buildReadCondition(caller, WHOSE.tasks),
      ...hold(words, ["tasks.title", "tasks.description", "tasks.id"]),
    );
    const rest = `ON tasks.id = named.id ${where} ORDER BY place DESC LIMIT ?`;
    const rows = taskRows.join(named.table, rest, ...named.values, ...values, limit);
    return rows.map(({ id, title, description, status, project_id }) =>
      toFound("task", id, title, description, { status, project_id }),
    );
  };
  const documentsWith = (words: string[], limit: number, caller: Caller): Found[] => {
    const hits = deps.documents.search({ query: words.join(" "), limit }, caller);
    const first = new Map(hits.toReversed().map((hit) => [hit.document_id, hit]));
    return [...first.values()]
      .toReversed()
      .map(({ document_id, section_id, title, heading, snippet }) =>
        toFound("document", document_id, title, heading || snippet, { section_id }),
      );
  };
  const symbolsWith = async (words: string[], limit: number, caller: Caller): Promise<Found[]> =>
    (await deps.graphs.findSymbols(words, limit, caller)).map(({ id, name, file_path, start_line, project_id }) =>
      toFound("symbol", id, name, `${file_path}:${start_line}`, { project_id }),
    );
  /**
   * Reads the files that contain names, in turns. Pipelines are checked against agents and skills, so these are read as
   * well.
   */
  function* lookAt(wanted: Wanted): Generator<void> {
    if (wanted("pipeline")) yield* deps.pipelines.look();
    else if (wanted("agent") || wanted("skill")) yield* deps.skills.look();
  }
  const namedWith = async (words: string[], limit: number, wanted: Wanted, caller: Caller): Promise<Found[]> => {
    const all = await deps.snapshotInTurns(
      () => lookAt(wanted),
      () => listNamed(wanted, caller),
    );
    const ranked = all.flatMap((one) => {
      const place = rank(one, words);
      return place === undefined ? [] : [{ one, place }];
    });
    const kinds = Map.groupBy(
      ranked.sort((a, b) => a.place - b.place),
      ({ one }) => one.kind,
    );
    return [...kinds.values()].flatMap((group) => group.slice(0, limit).map(({ one }) => one));
  };
  const runsWith = (words: string[], limit: number, caller: Caller): Found[] =>
    deps.runs
      .list({ q: words.join(" ") }, { limit, after: null }, caller)
      .items.map(({ id, task_description, pipeline_id, status, project_id }) =>
        toFound("run", id, task_description, pipeline_id, { status, project_id }),
      );
  return {
    /**
     * @param limit most results of each kind.
     * @param kinds the kinds to search; all when absent.
     */
    async search(text: string, limit: number, kinds: ReadonlySet<Kind> | undefined, caller: Caller): Promise<Found[]> {
      // SQLite converts only A–Z to lower case, both in words and in texts, so SQL searches get the words as written.
      const written = wordsOf(text).slice(0, 10);
      const words = written.map((word) => word.toLowerCase());
      if (words.length === 0) return [];
      const isWanted: Wanted = (kind) => kinds === undefined || kinds.has(kind);
      return [
        ...(await namedWith(words, limit, isWanted, caller)),
        ...(isWanted("run") ? runsWith(written, limit, caller) : []),
        ...(isWanted("task") ? tasksWith(written, limit, caller) : []),
        ...(isWanted("chat") ? chatsWith(written, limit, caller) : []),
        ...(isWanted("memory") ? memoriesWith(words, limit, caller) : []),
        ...(isWanted("document") ? documentsWith(words, limit, caller) : []),
        ...(isWanted("symbol") ? await symbolsWith(words, limit, caller) : []),
      ];
    },
  };
}
