/** /v1/memory and /v1/memory-scores. A private entry is there for its owner and for administrators. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, t as elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertOwnAgent, type Caller } from "../../http/caller.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
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

const tags = ["memory"];
const AgentPath = t.Object({ agent_id: t.String({ maxLength: 64 }) });
const EntryPath = t.Object({
  agent_id: t.String({ maxLength: 64 }),
  entry: t.String({ maxLength: 200, description: "Path of the entry; its slashes are percent-encoded." }),
});
const Hits = t.Object({ items: t.Array(MemoryHit) });
const locationOf = ({ agent_id, id }: MemoryEntry) => `/v1/memory/vaults/${agent_id}/entries/${encodeURIComponent(id)}`;
const assertReadable = (caller: Caller, agentId: string): void => {
  if (agentId !== SHARED) assertOwnAgent(caller, agentId);
};

export function memoryRoutes(base: Base, memory: Memory, scores: Scores) {
  return vaultRoutes(base, memory)
    .use(entryRoutes(base, memory))
    .use(scoreRoutes(base, memory, scores));
}

function vaultRoutes(base: Base, memory: Memory) {
  return new Elysia({ name: "skep/memory" })
    .use(base)
    .get("/v1/memory/vaults", ({ query, caller }) => memory.vaults(pageOf(query), caller), {
      access: "user",
      execution: true,
      query: t.Object(PageQuery),
      response: { 200: listOf(Vault) },
      detail: { tags, summary: "Vaults with entries that you may read" },
    })
    .get(
      "/v1/memory/vaults/:agent_id",
      ({ params, query, caller }) => {
        assertReadable(caller, params.agent_id);
        return memory.entries(params.agent_id, query, pageOf(query), caller);
      },
      {
        access: "user",
        execution: true,
        params: AgentPath,
        query: t.Object({
          ...PageQuery,
          entry: t.Optional(EntryName),
          type: t.Optional(EntryType),
          unconfirmed: t.Optional(elysia.BooleanString({ description: "Only what nobody has confirmed yet." })),
        }),
        response: { 200: listOf(MemoryEntry) },
        detail: {
          tags,
          operationId: "listMemoryEntries",
          summary: "Entries of a vault, by path; or the one that `entry` names",
        },
      },
    )
    .get(
      "/v1/memory/search",
      ({ query, caller }) => {
        if (query.agent_id !== undefined) assertReadable(caller, query.agent_id);
        const { agent_id, limit } = query;
        const options = { ...(agent_id === undefined ? {} : { agentId: agent_id }), ...(limit ? { limit } : {}) };
        return memory.search({ ...options, query: query.query }, caller);
      },
      {
        access: "user",
        execution: true,
        query: SearchQuery,
        response: { 200: Hits },
        detail: { tags, summary: "Search memories, best first" },
      },
    )
    .get(
      "/v1/memory/shared",
      ({ query, caller }) =>
        memory.search({ agentId: SHARED, query: query.query, ...(query.limit ? { limit: query.limit } : {}) }, caller),
      {
        access: "user",
        execution: true,
        query: t.Omit(SearchQuery, ["agent_id"]),
        response: { 200: Hits },
        detail: { tags, summary: "Search what all agents share" },
      },
    )
    .get(
      "/v1/memory/graph/:agent_id",
      ({ params, caller }) => {
        assertReadable(caller, params.agent_id);
        return memory.graph(params.agent_id, caller);
      },
      {
        access: "user",
        execution: true,
        params: AgentPath,
        response: { 200: MemoryGraph },
        detail: { tags, summary: "Entries of a vault and the links between them" },
      },
    );
}

function entryRoutes(base: Base, memory: Memory) {
  return new Elysia({ name: "skep/memory-entries" })
    .use(base)
    .get(
      "/v1/memory/vaults/:agent_id/entries/:entry",
      ({ params, caller, answer }) => {
        assertReadable(caller, params.agent_id);
        return answer.tagged(memory.get(params.agent_id, params.entry, caller));
      },
      {
        access: "user",
        execution: true,
        params: EntryPath,
        response: { 200: MemoryEntry },
        detail: { tags, summary: "One entry" },
      },
    )
    .post(
      "/v1/memory/vaults/:agent_id/entries",
      ({ params, body, caller, answer }) =>
        answer.created(locationOf, () => memory.create(params.agent_id, body, caller)),
      {
        access: "user",
        params: AgentPath,
        body: EntryCreate,
        response: { 201: MemoryEntry },
        detail: { tags, summary: "Write an entry: your own, or everybody's as an administrator" },
      },
    )
    .put(
      "/v1/memory/vaults/:agent_id/entries/:entry",
      ({ params, body, caller, request, answer }) => {
        assertIfMatch(request, memory.get(params.agent_id, params.entry, caller));
        return answer.tagged(memory.update(params.agent_id, params.entry, body, caller));
      },
      {
        access: "user",
        params: EntryPath,
        body: EntryUpdate,
        response: { 200: MemoryEntry },
        detail: { tags, summary: "Change an entry, confirm or supersede it; the old text is kept for undo" },
      },
    )
    .delete(
      "/v1/memory/vaults/:agent_id/entries/:entry",
      ({ params, caller, request, set }) => {
        assertIfMatch(request, memory.get(params.agent_id, params.entry, caller));
        memory.remove(params.agent_id, params.entry, caller);
        set.status = 204;
      },
      {
        access: "user",
        params: EntryPath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete an entry; undo brings it back" },
      },
    )
    .post(
      "/v1/memory/vaults/:agent_id/entries/:entry/undo",
      ({ params, caller }) => {
        const entry = memory.undo(params.agent_id, params.entry, caller);
        return entry ? { entry } : {};
      },
      {
        access: "user",
        params: EntryPath,
        response: { 200: t.Object({ entry: t.Optional(MemoryEntry) }) },
        detail: {
          tags,
          summary: "Put an entry back as it was before its last change; no `entry` where it did not exist",
        },
      },
    );
}

function scoreRoutes(base: Base, memory: Memory, scores: Scores) {
  return new Elysia({ name: "skep/memory-scores" })
    .use(base)
    .get("/v1/memory-scores/settings", () => scores.settings(), {
      access: "user",
      response: { 200: ScoreSettings },
      detail: { tags, summary: "How scores are computed" },
    })
    .put(
      "/v1/memory-scores/settings",
      ({ body, query, caller }) => scores.updateSettings(body, query.reset === "true", caller),
      {
        access: "admin",
        query: t.Object({
          reset: t.Optional(
            t.Union([t.Literal("true"), t.Literal("false")], { description: "Defaults for the rest." }),
          ),
        }),
        body: ScoreSettingsUpdate,
        response: { 200: ScoreSettings },
        detail: { tags, summary: "Change how scores are computed; weights sum to 1" },
      },
    )
    .get(
      "/v1/memory-scores/:agent_id",
      ({ params, query, caller }) => {
        assertReadable(caller, params.agent_id);
        return memory.scores(params.agent_id, pageOf(query), caller);
      },
      {
        access: "user",
        execution: true,
        params: AgentPath,
        query: t.Object(PageQuery),
        response: { 200: listOf(MemoryScore) },
        detail: { tags, summary: "Scores of a vault's entries" },
      },
    )
    .put(
      "/v1/memory-scores/:agent_id/:entry",
      ({ params, body, caller }) => memory.rate(params.agent_id, params.entry, body, caller),
      {
        access: "user",
        params: EntryPath,
        body: ScoreUpdate,
        response: { 200: MemoryScore },
        detail: { tags, summary: "Rate, pin or set the score of an entry" },
      },
    );
}

const ExecutionPath = t.Object({ execution_id: t.String({ maxLength: 64 }) });

export function executionMemoryRoutes(base: Base, executions: ExecutionMemories) {
  return new Elysia({ name: "skep/execution-memory" })
    .use(base)
    .get(
      "/v1/memory/executions/:execution_id",
      ({ params, caller }) => executions.recordOf(params.execution_id, caller),
      {
        access: "user",
        params: ExecutionPath,
        response: { 200: ExecutionMemory },
        detail: { tags, operationId: "getExecutionMemory", summary: "What an execution recalled and wrote" },
      },
    )
    .get(
      "/v1/memory/vaults/:agent_id/entries/:entry/recalls",
      ({ params, query, caller }) => executions.recallsOf(params.agent_id, params.entry, pageOf(query), caller),
      {
        access: "user",
        params: EntryPath,
        query: t.Object(PageQuery),
        response: { 200: listOf(MemoryRecall) },
        detail: { tags, operationId: "listMemoryRecalls", summary: "In which of your work an entry was recalled" },
      },
    )
    .post(
      "/v1/memory/executions/:execution_id/take-back",
      ({ params, caller }) => executions.takeBack(params.execution_id, caller),
      {
        access: "user",
        params: ExecutionPath,
        response: { 200: TakenBack },
        detail: { tags, operationId: "takeBackMemory", summary: "Undo all that an execution wrote into memory" },
      },
    );
}
