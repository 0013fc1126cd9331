/** /v1/projects/{id}/knowledge-graph. */

import { Type as t } from "@sinclair/typebox";
import { invalidField } from "../../core/errors.ts";
import { isOneOf } from "../../core/typed-keys.ts";
import { EDGE_TYPES, NODE_LABELS } from "../../graph/model.ts";
import type { GraphJson } from "../../graph/serve/client.ts";
import type { Caller } from "../../http/caller.ts";
import { boundCursor, cursorAfter, listOf, numberAfter, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { AskAnswer, AskRequest } from "./ask-model.ts";
import {
  Changes,
  ChangesQuery,
  Community,
  Context,
  ContextQuery,
  CypherAnswer,
  CypherRequest,
  FilePath,
  GraphColumns,
  GraphData,
  GraphDataQuery,
  GraphStatus,
  Impact,
  ImpactRequest,
  IndexJob,
  IndexRequest,
  MAX_RELATED,
  MOST_COLUMNS,
  Process,
  RELATED_SHOWN,
  Related,
  RelationPath,
  SearchAnswer,
  SearchRequest,
  SymbolPath,
} from "./model.ts";
import { ScipUpload } from "./scip-model.ts";
import type { KnowledgeGraph } from "./service.ts";

const PATH = "/v1/projects/:id/knowledge-graph";
const ProjectPath = t.Object({ id: t.String({ maxLength: 100 }) });
const JobPath = t.Object({ id: t.String({ maxLength: 100 }), job_id: t.String({ maxLength: 100 }) });
const LOCATION = "/v1/projects/:project_id/knowledge-graph/index/:id";

export function knowledgeGraphRoutes(graphs: KnowledgeGraph) {
  return tagOperations("knowledge graph", [
    ...indexRoutes(graphs),
    ...listRoutes(graphs),
    defineOperation("queryProjectGraph", `POST ${PATH}/query`, {
      access: "user",
      scope: "read",
      execution: true,
      params: ProjectPath,
      body: SearchRequest,
      answer: SearchAnswer,
      summary: "Search symbols and execution flows",
      handler: ({ params, body, caller }) =>
        passOn(
          graphs.graph(params.id, caller).json.query({
            query: body.query,
            limit: body.limit ?? 10,
            labels: body.labels,
            includeCode: body.include_code ?? false,
          }),
        ),
    }),
    defineOperation("getProjectGraphContext", `GET ${PATH}/context/:symbol`, {
      access: "user",
      execution: true,
      params: SymbolPath,
      query: ContextQuery,
      answer: Context,
      summary: "Get a symbol's callers, callees, flows and cluster, or the candidates if several have the name",
      handler: ({ params, query, caller }) =>
        passOn(
          graphs
            .graph(params.id, caller)
            .json.context(params.symbol, query.file_path, Math.min(query.limit ?? RELATED_SHOWN, MAX_RELATED)),
        ),
    }),
    defineOperation("listProjectGraphContext", `GET ${PATH}/context/:symbol/:relation`, {
      access: "user",
      execution: true,
      params: RelationPath,
      query: t.Object({ ...PageQuery, file_path: FilePath }),
      answer: listOf(Related),
      summary: "List one relation of a symbol completely, a page at a time",
      handler: ({ params, query, caller, path }) =>
        passedList(
          path,
          graphs
            .graph(params.id, caller)
            .json.related(params.symbol, params.relation, windowOf(query), query.file_path),
        ),
    }),
    defineOperation("impactProjectGraph", `POST ${PATH}/impact`, {
      access: "user",
      scope: "read",
      execution: true,
      params: ProjectPath,
      body: ImpactRequest,
      answer: Impact,
      summary: "Get what a change of a symbol affects, by depth",
      handler: ({ params, body, caller }) =>
        passOn(
          graphs.graph(params.id, caller).json.impact({
            target: body.target,
            direction: body.direction ?? "upstream",
            maxDepth: body.max_depth ?? 3,
            minConfidence: body.min_confidence ?? 0,
            filePath: body.file_path,
          }),
        ),
    }),
    defineOperation("askProjectGraph", `POST ${PATH}/ask`, {
      access: "user",
      scope: "read",
      execution: true,
      params: ProjectPath,
      body: AskRequest,
      answer: AskAnswer,
      summary:
        "Ask about the code as a whole: a path, the tests of a symbol, dead code, cycles, what reads a setting, or a flow in words",
      handler: ({ params, body, caller }) =>
        passOn(graphs.graph(params.id, caller).json.ask({ ...body, limit: body.limit ?? 50 })),
    }),
    defineOperation("getProjectGraphChanges", `GET ${PATH}/changes`, {
      access: "user",
      execution: true,
      params: ProjectPath,
      query: ChangesQuery,
      answer: Changes,
      summary: "List the symbols and flows that uncommitted changes affect",
      handler: ({ params, query, caller }) => passOn(graphs.graph(params.id, caller).json.changes(query.base)),
    }),
    defineOperation("cypherProjectGraph", `POST ${PATH}/cypher`, {
      access: "user",
      scope: "read",
      execution: true,
      params: ProjectPath,
      body: CypherRequest,
      answer: CypherAnswer,
      summary: "Run a Cypher query that only reads",
      handler: ({ params, body, caller }) =>
        passOn(graphs.graph(params.id, caller).cypher(body.query, body.params ?? {}, body.limit ?? 100)),
    }),
  ]);
}

function indexRoutes(graphs: KnowledgeGraph) {
  return tagOperations("knowledge graph", [
    defineOperation("getProjectGraphStatus", `GET ${PATH}/status`, {
      access: "user",
      execution: true,
      params: ProjectPath,
      answer: GraphStatus,
      summary: "Get what is indexed, and whether it is up to date",
      handler: ({ params, caller }) => graphs.status(params.id, caller),
    }),
    defineOperation("indexProjectGraph", `POST ${PATH}/index`, {
      access: "user",
      params: ProjectPath,
      body: t.Optional(IndexRequest),
      answer: { 202: IndexJob },
      summary: "Index in the background, or join the running job",
      handler: ({ params, body, caller, answer }) =>
        answer.accepted(LOCATION, () => graphs.index(params.id, body?.force ?? false, caller)),
    }),
    defineOperation("importProjectGraphScip", `POST ${PATH}/scip`, {
      access: "user",
      project: "maintainer",
      upload: true,
      params: ProjectPath,
      body: ScipUpload,
      answer: { 202: IndexJob },
      summary: "Upload a SCIP index; the calls that a compiler reports replace those that the graph found",
      handler: async ({ params, upload, caller, answer }) =>
        answer.accepted(LOCATION, await graphs.receiveScip(params.id, upload, caller)),
    }),
    defineOperation("forgetProjectGraphScip", `DELETE ${PATH}/scip`, {
      access: "user",
      project: "maintainer",
      params: ProjectPath,
      answer: { 202: IndexJob },
      summary: "Remove all SCIP indexes",
      handler: ({ params, caller, answer }) => answer.accepted(LOCATION, () => graphs.forgetScip(params.id, caller)),
    }),
    defineOperation("getProjectGraphIndex", `GET ${PATH}/index/:job_id`, {
      access: "user",
      execution: true,
      params: JobPath,
      answer: IndexJob,
      summary: "Get the progress of an index job, by phase",
      handler: ({ params, caller }) => graphs.job(params.id, params.job_id, caller),
    }),
    defineOperation("cancelProjectGraphIndex", `POST ${PATH}/index/:job_id/cancel`, {
      access: "user",
      params: JobPath,
      answer: { 202: IndexJob },
      summary: "Cancel an index job; the previous graph stays",
      handler: ({ params, caller, answer }) =>
        answer.accepted(LOCATION, () => graphs.cancel(params.id, params.job_id, caller)),
    }),
  ]);
}

function listRoutes(graphs: KnowledgeGraph) {
  return tagOperations("knowledge graph", [
    defineOperation("getProjectGraphGraphData", `GET ${PATH}/graph-data`, {
      access: "user",
      execution: true,
      params: ProjectPath,
      query: GraphDataQuery,
      answer: {
        200: t.Union([GraphData, GraphColumns]),
        304: t.Void({ description: "The index has not changed." }),
      },
      summary: "Get nodes and relationships for drawing, most connected first",
      description:
        "`format=columns` is compact and has positions. Without `focus` it is a map of the most connected symbols of each cluster, and of those in no cluster. With `focus` it shows what depends on a symbol and what the symbol depends on. The `ETag` is that of the index: it changes when the project is indexed again.",
      handler: ({ params, query, caller, request }) => graphDataOf(graphs, params.id, query, caller, request),
    }),
    defineOperation("listProjectGraphCommunities", `GET ${PATH}/communities`, {
      access: "user",
      execution: true,
      params: ProjectPath,
      ...pagesOf(Community),
      summary: "List clusters with their members, largest first",
      handler: ({ params, query, caller, path }) =>
        passedList(path, graphs.graph(params.id, caller).json.communities(windowOf(query))),
    }),
    defineOperation("listProjectGraphProcesses", `GET ${PATH}/processes`, {
      access: "user",
      execution: true,
      params: ProjectPath,
      query: t.Object({
        ...PageQuery,
        symbol: t.Optional(
          t.String({ minLength: 1, maxLength: 1_000, description: "Symbol that the flows must include." }),
        ),
      }),
      answer: listOf(Process),
      summary: "List execution flows with their steps in order",
      handler: ({ params, query, caller, path }) =>
        passedList(path, graphs.graph(params.id, caller).json.processes(windowOf(query), query.symbol)),
    }),
  ]);
}

async function graphDataOf(
  graphs: KnowledgeGraph,
  project: string,
  query: GraphDataQuery,
  caller: Caller,
  request: Request,
): Promise<Response> {
  const graph = graphs.graph(project, caller);
  const labels = wordsOf("labels", query.labels, NODE_LABELS);
  const path = query.path || undefined;
  const version = graphs.version(project);
  const headers: Record<string, string> = version === undefined ? {} : { ETag: `"${version}"` };
  const known = request.headers
    .get("if-none-match")
    ?.split(",")
    .map((tag) => tag.trim().replace(/^W\//, ""));
  if (version !== undefined && known?.includes(`"${version}"`)) return new Response(null, { status: 304, headers });
  const limit = Math.min(query.limit ?? MOST_COLUMNS, query.format === "columns" ? MOST_COLUMNS : 20_000);
  if (query.format === "columns")
    return passOn(
      graph.json.graphColumns({ labels, path, limit, focus: query.focus, depth: query.depth ?? 1 }),
      headers,
    );
  if (query.focus !== undefined) throw invalidField("focus", "Needs format=columns");
  return passOn(
    graph.json.graphData({ labels, types: wordsOf("types", query.types, EDGE_TYPES), path, limit }),
    headers,
  );
}

/** The words of a comma-separated query parameter. @throws Problem 422 for an unknown word. */
function wordsOf<T extends string>(name: string, text: string | undefined, known: readonly T[]): T[] {
  const words = (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter(Boolean);
  return words.map((word) => {
    if (!isOneOf(known, word)) throw invalidField(name, `One of ${known.join(", ")}`);
    return word;
  });
}

const JSON_HEADERS = { "Content-Type": "application/json" };

/** Passes the worker's JSON on unparsed. A test checks that JSON against the schemas. */
async function passOn(answer: Promise<GraphJson>, headers: Record<string, string> = {}): Promise<Response> {
  return new Response(new Blob((await answer).pieces), { headers: { ...JSON_HEADERS, ...headers } });
}

async function passedList(path: string, answer: Promise<GraphJson>): Promise<Response> {
  const { pieces, next } = await answer;
  const cursor = next === null ? null : boundCursor(path, cursorAfter(String(next)));
  const end = `,"next_cursor":${JSON.stringify(cursor)}}`;
  return new Response(new Blob(['{"items":', ...pieces, end]), { headers: JSON_HEADERS });
}

function windowOf(query: { limit?: number | undefined; cursor?: string | undefined }) {
  const page = pageOf(query);
  return { start: numberAfter(page) ?? 0, count: page.limit };
}
