/** /v1/projects/{id}/knowledge-graph. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { invalidField } from "../../core/errors.ts";
import { isOneOf } from "../../core/typed-keys.ts";
import { EDGE_TYPES, NODE_LABELS } from "../../graph/model.ts";
import type { GraphJson } from "../../graph/serve/client.ts";
import type { Base } from "../../http/base.ts";
import type { Caller } from "../../http/caller.ts";
import { boundCursor, cursorAfter, listOf, numberAfter, PageQuery, pageOf } from "../../http/list.ts";
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
import type { KnowledgeGraph } from "./service.ts";

const tags = ["knowledge graph"];
const PATH = "/v1/projects/:id/knowledge-graph";
const ProjectPath = t.Object({ id: t.String({ maxLength: 100 }) });
const JobPath = t.Object({ id: t.String({ maxLength: 100 }), job_id: t.String({ maxLength: 100 }) });
const locationOf = (job: IndexJob) => `/v1/projects/${job.project_id}/knowledge-graph/index/${job.id}`;
/** Tokens of executions ask about their own project. */
const asking = { access: "user", execution: true } as const;
const described = (summary: string) => ({ detail: { tags, summary } });

export function knowledgeGraphRoutes(base: Base, graphs: KnowledgeGraph) {
  return new Elysia({ name: "skep/knowledge-graph" })
    .use(base)
    .use(indexRoutes(base, graphs))
    .use(listRoutes(base, graphs))
    .post(
      `${PATH}/query`,
      ({ params, body, caller }) =>
        passed(
          graphs.graph(params.id, caller).json.query({
            query: body.query,
            limit: body.limit ?? 10,
            labels: body.labels,
            includeCode: body.include_code ?? false,
          }),
        ),
      {
        ...asking,
        params: ProjectPath,
        body: SearchRequest,
        response: { 200: SearchAnswer },
        ...described("Search symbols and flows"),
      },
    )
    .get(
      `${PATH}/context/:symbol`,
      ({ params, query, caller }) =>
        passed(
          graphs
            .graph(params.id, caller)
            .json.context(params.symbol, query.file_path, Math.min(query.limit ?? RELATED_SHOWN, MAX_RELATED)),
        ),
      {
        ...asking,
        params: SymbolPath,
        query: ContextQuery,
        response: { 200: Context },
        ...described("Callers, callees, flows and cluster of a symbol; candidates when several have the name"),
      },
    )
    .get(
      `${PATH}/context/:symbol/:relation`,
      ({ params, query, caller, request }) =>
        passedList(
          request,
          graphs
            .graph(params.id, caller)
            .json.related(params.symbol, params.relation, windowOf(query), query.file_path),
        ),
      {
        ...asking,
        params: RelationPath,
        query: t.Object({ ...PageQuery, file_path: FilePath }),
        response: { 200: listOf(Related) },
        ...described("One list of a symbol's context, whole, a page at a time"),
      },
    )
    .post(
      `${PATH}/impact`,
      ({ params, body, caller }) =>
        passed(
          graphs.graph(params.id, caller).json.impact({
            target: body.target,
            direction: body.direction ?? "upstream",
            maxDepth: body.max_depth ?? 3,
            minConfidence: body.min_confidence ?? 0,
            filePath: body.file_path,
          }),
        ),
      {
        ...asking,
        params: ProjectPath,
        body: ImpactRequest,
        response: { 200: Impact },
        ...described("What a change of a symbol reaches, by depth"),
      },
    )
    .get(
      `${PATH}/changes`,
      ({ params, query, caller }) => passed(graphs.graph(params.id, caller).json.changes(query.base)),
      {
        ...asking,
        params: ProjectPath,
        query: ChangesQuery,
        response: { 200: Changes },
        ...described("Symbols and flows that uncommitted changes touch"),
      },
    )
    .post(
      `${PATH}/cypher`,
      ({ params, body, caller }) =>
        passed(graphs.graph(params.id, caller).cypher(body.query, body.params ?? {}, body.limit ?? 100)),
      {
        ...asking,
        params: ProjectPath,
        body: CypherRequest,
        response: { 200: CypherAnswer },
        ...described("Ask in Cypher; queries only read"),
      },
    );
}

function indexRoutes(base: Base, graphs: KnowledgeGraph) {
  return new Elysia()
    .use(base)
    .get(`${PATH}/status`, ({ params, caller }) => graphs.status(params.id, caller), {
      ...asking,
      params: ProjectPath,
      response: { 200: GraphStatus },
      ...described("What is indexed, and whether it is up to date"),
    })
    .post(
      `${PATH}/index`,
      ({ params, body, caller, answer }) =>
        answer.accepted(locationOf, () => graphs.index(params.id, body?.force ?? false, caller)),
      {
        access: "user",
        params: ProjectPath,
        body: t.Optional(IndexRequest),
        response: { 202: IndexJob },
        ...described("Index in the background, or join the job that runs"),
      },
    )
    .get(`${PATH}/index/:job_id`, ({ params, caller }) => graphs.job(params.id, params.job_id, caller), {
      ...asking,
      params: JobPath,
      response: { 200: IndexJob },
      ...described("Progress of an index job, by phase"),
    })
    .post(
      `${PATH}/index/:job_id/cancel`,
      ({ params, caller, answer }) =>
        answer.accepted(locationOf, () => graphs.cancel(params.id, params.job_id, caller)),
      {
        access: "user",
        params: JobPath,
        response: { 202: IndexJob },
        ...described("Stop an index job; the old graph stays"),
      },
    );
}

function listRoutes(base: Base, graphs: KnowledgeGraph) {
  return new Elysia()
    .use(base)
    .get(
      `${PATH}/graph-data`,
      ({ params, query, caller, request }) => graphDataOf(graphs, params.id, query, caller, request),
      {
        ...asking,
        params: ProjectPath,
        query: GraphDataQuery,
        response: {
          200: t.Union([GraphData, GraphColumns]),
          304: t.Void({ description: "The index is still the same." }),
        },
        detail: {
          tags,
          summary: "Nodes and relationships for drawing, most connected first",
          description:
            "`format=columns` is small and has positions: a map of the most connected symbols of each cluster or, with `focus`, what depends on a symbol and what it depends on. The `ETag` is the index's: it changes when the project is indexed again.",
        },
      },
    )
    .get(
      `${PATH}/communities`,
      ({ params, query, caller, request }) =>
        passedList(request, graphs.graph(params.id, caller).json.communities(windowOf(query))),
      {
        ...asking,
        params: ProjectPath,
        query: t.Object(PageQuery),
        response: { 200: listOf(Community) },
        ...described("Clusters with their members, largest first"),
      },
    )
    .get(
      `${PATH}/processes`,
      ({ params, query, caller, request }) =>
        passedList(request, graphs.graph(params.id, caller).json.processes(windowOf(query), query.symbol)),
      {
        ...asking,
        params: ProjectPath,
        query: t.Object({
          ...PageQuery,
          symbol: t.Optional(t.String({ minLength: 1, maxLength: 1_000, description: "Only flows with this symbol." })),
        }),
        response: { 200: listOf(Process) },
        ...described("Execution flows with their steps in order"),
      },
    );
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
    return passed(
      graph.json.graphColumns({ labels, path, limit, focus: query.focus, depth: query.depth ?? 1 }),
      headers,
    );
  if (query.focus !== undefined) throw invalidField("focus", "Needs format=columns");
  return passed(
    graph.json.graphData({ labels, types: wordsOf("types", query.types, EDGE_TYPES), path, limit }),
    headers,
  );
}

/** Words of a list in a query. @throws Problem 422 for one that is not known. */
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

/** The worker's JSON unchanged: a test checks it against the schemas. */
async function passed(answer: Promise<GraphJson>, headers: Record<string, string> = {}): Promise<Response> {
  return new Response(new Blob((await answer).pieces), { headers: { ...JSON_HEADERS, ...headers } });
}

async function passedList(request: Request, answer: Promise<GraphJson>): Promise<Response> {
  const { pieces, next } = await answer;
  const cursor = next === null ? null : boundCursor(request, cursorAfter(String(next)));
  const end = `,"next_cursor":${JSON.stringify(cursor)}}`;
  return new Response(new Blob(['{"items":', ...pieces, end]), { headers: JSON_HEADERS });
}

function windowOf(query: { limit?: number | undefined; cursor?: string | undefined }) {
  const page = pageOf(query);
  return { start: numberAfter(page) ?? 0, count: page.limit };
}
