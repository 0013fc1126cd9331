/** `/v1/memory` and `/v1/memory-scores`. Only its owner and administrators see a private entry. */

import { Type as t } from "@sinclair/typebox";
import { assertOwnAgent, type Caller } from "../../http/caller.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { answerAfter, defineOperation, tagOperations } from "../../http/operation.ts";
import { queryBoolean } from "../../http/schema.ts";
import type { Entries } from "./entries.ts";
import type { ExecutionMemories } from "./executions.ts";
import {
  EntryCreate,
  EntryName,
  EntryType,
  EntryUpdate,
  ExecutionMemory,
  MemoryEntry,
  MemoryGraph,
  MemoryHit,
  MemoryRecall,
  MemoryScore,
  ScoreSettings,
  ScoreSettingsUpdate,
  ScoreUpdate,
  SearchQuery,
  SHARED,
  TakenBack,
  Vault,
} from "./model.ts";
import type { Scores } from "./scores.ts";
import type { Memory } from "./service.ts";

const AgentPath = t.Object({ agent_id: t.String({ maxLength: 64 }) });
const EntryPath = t.Object({
  agent_id: t.String({ maxLength: 64 }),
  entry: t.String({ maxLength: 200, description: "Path of the entry, with slashes percent-encoded." }),
});
const Hits = t.Object({ items: t.Array(MemoryHit) });
const locationOf = ({ agent_id, id }: MemoryEntry) => `/v1/memory/vaults/${agent_id}/entries/${encodeURIComponent(id)}`;
const assertReadable = (caller: Caller, agentId: string): void => {
  if (agentId !== SHARED) assertOwnAgent(caller, agentId);
};

type Written = Pick<Entries, "written">;

export function memoryRoutes(memory: Memory, entries: Written, scores: Scores) {
  return [...vaultRoutes(memory), ...entryRoutes(memory, entries), ...scoreRoutes(memory, entries, scores)];
}

function vaultRoutes(memory: Memory) {
  return tagOperations("memory", [
    defineOperation("listMemoryVaults", "GET /v1/memory/vaults", {
      access: "user",
      execution: true,
      ...pagesOf(Vault),
      summary: "List the vaults with entries that you may read",
      handler: ({ query, caller }) => memory.vaults(pageOf(query), caller),
    }),
    defineOperation("listMemoryEntries", "GET /v1/memory/vaults/:agent_id", {
      access: "user",
      execution: true,
      params: AgentPath,
      query: t.Object({
        ...PageQuery,
        entry: t.Optional(EntryName),
        type: t.Optional(EntryType),
        unconfirmed: t.Optional(
          queryBoolean({ description: "Whether to list only entries that nobody has confirmed yet." }),
        ),
      }),
      answer: listOf(MemoryEntry),
      summary: "List the entries of a vault by path, or the one that `entry` names",
      handler: ({ params, query, caller }) => {
        assertReadable(caller, params.agent_id);
        return memory.entries(params.agent_id, query, pageOf(query), caller);
      },
    }),
    defineOperation("getMemorySearch", "GET /v1/memory/search", {
      access: "user",
      execution: true,
      query: SearchQuery,
      answer: Hits,
      summary: "Search memory entries, best matches first",
      handler: ({ query, caller }) => {
        if (query.agent_id !== undefined) assertReadable(caller, query.agent_id);
        const { agent_id: agentId, limit } = query;
        return memory.search({ agentId, limit: limit || undefined, query: query.query }, caller);
      },
    }),
    defineOperation("getMemoryShared", "GET /v1/memory/shared", {
      access: "user",
      execution: true,
      query: t.Omit(SearchQuery, ["agent_id"]),
      answer: Hits,
      summary: "Search the memory that all agents share",
      handler: ({ query, caller }) =>
        memory.search({ agentId: SHARED, query: query.query, ...(query.limit ? { limit: query.limit } : {}) }, caller),
    }),
    defineOperation("getMemoryGraph", "GET /v1/memory/graph/:agent_id", {
      access: "user",
      execution: true,
      params: AgentPath,
      answer: MemoryGraph,
      summary: "Get the entries of a vault and the links between them",
      handler: ({ params, caller }) => {
        assertReadable(caller, params.agent_id);
        return memory.graph(params.agent_id, caller);
      },
    }),
  ]);
}

function entryRoutes(memory: Memory, { written }: Written) {
  return answerAfter(
    written,
    tagOperations("memory", [
      defineOperation("getMemoryVaultEntry", "GET /v1/memory/vaults/:agent_id/entries/:entry", {
        access: "user",
        execution: true,
        params: EntryPath,
        answer: MemoryEntry,
        summary: "Get a memory entry",
        handler: ({ params, caller, answer }) => {
          assertReadable(caller, params.agent_id);
          return answer.tag(memory.get(params.agent_id, params.entry, caller));
        },
      }),
      defineOperation("createMemoryVaultEntry", "POST /v1/memory/vaults/:agent_id/entries", {
        access: "user",
        params: AgentPath,
        body: EntryCreate,
        answer: { 201: MemoryEntry },
        summary: "Write an entry for yourself or, as an administrator, for everybody",
        handler: ({ params, body, caller, answer }) =>
          answer.created(locationOf, () => memory.create(params.agent_id, body, caller)),
      }),
      defineOperation("updateMemoryVaultEntry", "PUT /v1/memory/vaults/:agent_id/entries/:entry", {
        access: "user",
        params: EntryPath,
        body: EntryUpdate,
        answer: MemoryEntry,
        summary: "Change, confirm or supersede an entry, keeping the old text for undo",
        handler: ({ params, body, caller, request, answer }) => {
          assertIfMatch(request, memory.get(params.agent_id, params.entry, caller));
          return answer.tag(memory.update(params.agent_id, params.entry, body, caller));
        },
      }),
      defineOperation("deleteMemoryVaultEntry", "DELETE /v1/memory/vaults/:agent_id/entries/:entry", {
        access: "user",
        params: EntryPath,
        answer: 204,
        summary: "Delete an entry, keeping it for undo",
        handler: ({ params, caller, request }) => {
          assertIfMatch(request, memory.get(params.agent_id, params.entry, caller));
          memory.remove(params.agent_id, params.entry, caller);
        },
      }),
      defineOperation("undoMemoryVaultEntry", "POST /v1/memory/vaults/:agent_id/entries/:entry/undo", {
        access: "user",
        params: EntryPath,
        answer: t.Object({ entry: t.Optional(MemoryEntry) }),
        summary: "Undo the last change of an entry; the answer has no `entry` if that change created it",
        handler: ({ params, caller }) => {
          const entry = memory.undo(params.agent_id, params.entry, caller);
          return entry ? { entry } : {};
        },
      }),
    ]),
  );
}

function scoreRoutes(memory: Memory, { written }: Written, scores: Scores) {
  return answerAfter(
    written,
    tagOperations("memory", [
      defineOperation("getMemoryScoresSettings", "GET /v1/memory-scores/settings", {
        access: "user",
        answer: ScoreSettings,
        summary: "Get the settings of memory scores",
        handler: () => scores.readSettings(),
      }),
      defineOperation("updateMemoryScoresSettings", "PUT /v1/memory-scores/settings", {
        access: "admin",
        query: t.Object({
          reset: t.Optional(
            t.Union([t.Literal("true"), t.Literal("false")], {
              description: "Whether settings that the body leaves out return to their defaults.",
            }),
          ),
        }),
        body: ScoreSettingsUpdate,
        answer: ScoreSettings,
        summary: "Change the settings of memory scores; the weights must sum to 1",
        handler: ({ body, query, caller }) => scores.updateSettings(body, query.reset === "true", caller),
      }),
      defineOperation("listMemoryScores", "GET /v1/memory-scores/:agent_id", {
        access: "user",
        execution: true,
        params: AgentPath,
        ...pagesOf(MemoryScore),
        summary: "List the scores of a vault's entries",
        handler: ({ params, query, caller }) => {
          assertReadable(caller, params.agent_id);
          return memory.scores(params.agent_id, pageOf(query), caller);
        },
      }),
      defineOperation("updateMemoryScore", "PUT /v1/memory-scores/:agent_id/:entry", {
        access: "user",
        params: EntryPath,
        body: ScoreUpdate,
        answer: MemoryScore,
        summary: "Rate, pin or set the score of an entry",
        handler: ({ params, body, caller }) => memory.rate(params.agent_id, params.entry, body, caller),
      }),
    ]),
  );
}

const ExecutionPath = t.Object({ execution_id: t.String({ maxLength: 64 }) });

export function executionMemoryRoutes(executions: ExecutionMemories, { written }: Written) {
  return answerAfter(
    written,
    tagOperations("memory", [
      defineOperation("getExecutionMemory", "GET /v1/memory/executions/:execution_id", {
        access: "user",
        params: ExecutionPath,
        answer: ExecutionMemory,
        summary: "Get what an execution recalled and wrote",
        handler: ({ params, caller }) => executions.recordOf(params.execution_id, caller),
      }),
      defineOperation("listMemoryRecalls", "GET /v1/memory/vaults/:agent_id/entries/:entry/recalls", {
        access: "user",
        params: EntryPath,
        ...pagesOf(MemoryRecall),
        summary: "List your work in which an entry was recalled",
        handler: ({ params, query, caller }) =>
          executions.recallsOf(params.agent_id, params.entry, pageOf(query), caller),
      }),
      defineOperation("takeBackMemory", "POST /v1/memory/executions/:execution_id/take-back", {
        access: "user",
        project: "viewer",
        params: ExecutionPath,
        answer: TakenBack,
        summary: "Undo everything that an execution wrote into memory",
        handler: ({ params, caller }) => executions.takeBack(params.execution_id, caller),
      }),
    ]),
  );
}
