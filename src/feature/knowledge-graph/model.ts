/** The code knowledge graph of a project as the API shows it. */

import { type Static, type TProperties, Type as t } from "@sinclair/typebox";
import { JOB_STATES } from "../../core/jobs.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { EDGE_TYPES, NODE_LABELS, PHASES, REASONS } from "../../graph/model.ts";
import { queryInteger } from "../../http/schema.ts";
import { Failed, Skipped, Unread } from "./files-model.ts";
import { Exact, Scip } from "./scip-model.ts";

export const NodeLabel = oneOf(...NODE_LABELS);
export const EdgeType = oneOf(...EDGE_TYPES);
const Reason = t.String({ description: `Rule that found it: ${REASONS.filter(Boolean).join(", ")}; empty if none.` });
const Confidence = t.Number({ minimum: 0, maximum: 1 });
export const Line = t.Integer({ description: "Line number, counted from 1." });

const symbolFields = {
  id: t.String({ description: "`Label:file#qualified.name`, which stays the same when the project is indexed again." }),
  label: NodeLabel,
  name: t.String(),
  qualified_name: t.String(),
  file_path: t.String({ description: "Path of the file, relative to the repository." }),
  start_line: Line,
  end_line: Line,
  language: t.String(),
  exported: t.Boolean(),
  signature: t.String(),
  doc: t.String(),
  implementation: t.Optional(
    t.Object(
      { file_path: t.String(), start_line: Line, end_line: Line },
      { description: "Where its body and the lines of its calls are, if `file_path` only declares it (`.d.ts`)." },
    ),
  ),
} satisfies TProperties;
export const GraphSymbol = t.Object(symbolFields);
export const Related = t.Object({
  ...symbolFields,
  line: t.Optional(Line),
  lines: t.Optional(t.Array(Line, { description: "All lines of the relationship if there are several; at most 20." })),
  confidence: Confidence,
  reason: Reason,
  via: EdgeType,
});

const communityFields = {
  id: t.String(),
  label: t.String(),
  cohesion: t.Number({ description: "Share of the members' relationships that stay inside the cluster, from 0 to 1." }),
  symbol_count: t.Integer(),
};
const CommunityView = t.Object(communityFields);
export const Community = t.Object({
  ...communityFields,
  members: t.Array(GraphSymbol, { description: "The most connected members, at most 50." }),
});
const processFields = {
  id: t.String(),
  label: t.String(),
  kind: oneOf("intra_community", "cross_community"),
  step_count: t.Integer(),
  entry_id: t.String(),
  terminal_id: t.String(),
  step: t.Optional(t.Integer({ description: "Position in the flow of the symbol that was asked about, from 1." })),
};
const ProcessView = t.Object(processFields);
export const Process = t.Object({
  ...processFields,
  steps: t.Array(t.Object({ ...symbolFields, step: t.Integer() })),
});

const Counts = t.Record(t.String(), t.Integer());

const IndexState = oneOf("not_indexed", "indexing", "ready", "stale", "failed");
export const GraphStatus = t.Object({
  state: IndexState,
  nodes: t.Integer(),
  relationships: t.Integer(),
  by_label: Counts,
  by_type: Counts,
  communities: t.Integer(),
  processes: t.Integer(),
  files: t.Integer(),
  skipped: Skipped,
  skipped_count: t.Integer(),
  failed: Failed,
  unread: Unread,
  exact: Exact,
  languages: Counts,
  indexed_at: t.Optional(Time),
  commit: t.Optional(t.String({ description: "Commit that was indexed." })),
  head: t.Optional(t.String({ description: "Current commit of the workspace." })),
  dirty: t.Boolean({ description: "Whether files differ from what was indexed." }),
  duration_ms: t.Optional(t.Integer()),
  error: t.Optional(t.Object({ code: t.String(), message: t.String() })),
  job_id: t.Optional(t.String({ description: "Job that is running or that failed." })),
});
export type GraphStatus = Static<typeof GraphStatus>;

export const Phase = t.Object({
  name: oneOf(...PHASES),
  state: oneOf("pending", "running", "done", "failed"),
  percent: t.Number({ minimum: 0, maximum: 100 }),
  done: t.Integer(),
  total: t.Integer(),
  started_at: t.Optional(Time),
  finished_at: t.Optional(Time),
});
export type Phase = Static<typeof Phase>;

export const IndexJob = t.Object({
  id: t.String(),
  project_id: t.String(),
  state: oneOf(...JOB_STATES),
  percent: t.Number({ minimum: 0, maximum: 100 }),
  force: t.Boolean(),
  cause: oneOf("request", "workspace"),
  phases: t.Array(Phase),
  parsed: t.Optional(t.Integer({ description: "Number of files parsed by this job; the others had not changed." })),
  changed: t.Optional(t.Boolean({ description: "Whether the index changed; `false` if it was up to date." })),
  report: orNull(
    t.Object({
      files: t.Integer(),
      skipped: Skipped,
      skipped_count: t.Integer(),
      failed: Failed,
      unread: Unread,
      scip: t.Optional(Scip),
      scip_error: t.Optional(t.String({ description: "Why the SCIP index of the project's set-up is not used." })),
    }),
  ),
  error: t.Optional(t.Object({ code: t.String(), message: t.String() })),
  created_at: Time,
  finished_at: orNull(Time),
});
export type IndexJob = Static<typeof IndexJob>;

export const IndexRequest = t.Object({
  force: t.Optional(t.Boolean({ default: false, description: "Whether to rebuild the index from scratch." })),
});

const Words = (description: string) => t.Optional(t.String({ maxLength: 2_000, description }));
export const MOST_COLUMNS = 2_000;
export const GraphDataQuery = t.Object({
  format: t.Optional(oneOf("rows", "columns")),
  focus: t.Optional(
    t.String({
      minLength: 1,
      maxLength: 1_000,
      description: "Id or name of a symbol. With `format=columns`, the answer is its neighborhood instead of a map.",
    }),
  ),
  depth: t.Optional(
    queryInteger({ minimum: 1, maximum: 5, description: "Most steps from the focus in each direction; default 1." }),
  ),
  labels: Words("Node labels, separated by commas."),
  types: Words("Relationship types, separated by commas."),
  path: Words("Only what is in this file or folder."),
  limit: t.Optional(
    queryInteger({
      minimum: 1,
      description:
        "Maximum number of nodes; default 2,000. More than 20,000 counts as 20,000, and with `format=columns` more than 2,000 as 2,000.",
    }),
  ),
});
export type GraphDataQuery = Static<typeof GraphDataQuery>;
const Integers = t.Array(t.Integer());
const Texts = t.Array(t.String());
/** Columns of a graph: the nth entries of a group of lists describe the same symbol, relationship or cluster. */
export const GraphColumns = t.Object(
  {
    labels: Texts,
    types: Texts,
    files: Texts,
    nodes: t.Object({
      id: Texts,
      name: Texts,
      label: t.Array(t.Integer(), { description: "Positions in `labels`." }),
      file: t.Array(t.Integer(), { description: "Positions in `files`; -1 for none." }),
      community: t.Array(t.Integer(), { description: "Positions in `communities`; -1 for none." }),
      line: Integers,
      degree: Integers,
      hops: t.Array(t.Integer(), {
        description:
          "Steps from the focus: below 0 if the symbol depends on the focus, above 0 if the focus depends on the symbol. All 0 without a focus.",
      }),
      x: Integers,
      y: Integers,
    }),
    edges: t.Object({
      from: t.Array(t.Integer(), { description: "Positions in `nodes`; `to` also holds such positions." }),
      to: Integers,
      type: t.Array(t.Integer(), { description: "Positions in `types`." }),
      confidence: t.Array(Confidence),
    }),
    communities: t.Object({
      id: t.Array(t.String(), {
        description: "Ids of the clusters. On a map the last one may be `none`, for symbols that are in no cluster.",
      }),
      label: Texts,
      symbol_count: Integers,
      x: t.Array(t.Integer(), {
        description:
          "Horizontal position of the disc that holds the cluster's symbols; `y` and `r` belong to the same disc. Empty with a focus.",
      }),
      y: Integers,
      r: Integers,
    }),
    links: t.Object(
      { from: Integers, to: Integers, count: Integers },
      { description: "Numbers of relationships between clusters." },
    ),
    truncated: t.Boolean(),
    total: t.Integer({ description: "Number of symbols, including those that are not shown." }),
  },
  { title: "GraphColumns" },
);
export const GraphData = t.Object({
  nodes: t.Array(t.Object({ ...symbolFields, degree: t.Integer() })),
  edges: t.Array(
    t.Object({
      type: EdgeType,
      from: t.String(),
      to: t.String(),
      line: t.Optional(Line),
      confidence: Confidence,
      reason: Reason,
    }),
  ),
  communities: t.Array(CommunityView),
  processes: t.Array(ProcessView),
  truncated: t.Boolean(),
  total: t.Integer({ description: "Number of nodes that match the filter." }),
});

export const SearchRequest = t.Object({
  query: t.String({ minLength: 1, maxLength: 1_000, description: "Words to search for, or a name." }),
  limit: t.Optional(t.Integer({ minimum: 1, maximum: 100, default: 10 })),
  labels: t.Optional(t.Array(NodeLabel, { maxItems: 19 })),
  include_code: t.Optional(t.Boolean({ default: false, description: "Include the first lines of each symbol." })),
});
export const SearchAnswer = t.Object({
  items: t.Array(
    t.Object({
      symbol: GraphSymbol,
      score: t.Number(),
      processes: t.Array(ProcessView),
      community: orNull(CommunityView),
      snippet: t.Optional(t.String()),
    }),
  ),
  processes: t.Array(ProcessView),
});

export const Candidates = t.Object({
  candidates: t.Array(GraphSymbol, {
    description: "Symbols with that name, if several have it. Ask again by id.",
  }),
});
export const SymbolPath = t.Object({ id: t.String(), symbol: t.String({ minLength: 1, maxLength: 1_000 }) });
export const FilePath = t.Optional(
  t.String({ maxLength: 1_000, description: "File of the symbol, to choose if several symbols have the name." }),
);
/** Most symbols in each list of a context. */
export const RELATED_SHOWN = 100;
export const MAX_RELATED = 1_000;
export const ContextQuery = t.Object({
  file_path: FilePath,
  limit: t.Optional(
    queryInteger({
      minimum: 0,
      description: `Maximum number of symbols in each list; default ${RELATED_SHOWN}, more than ${MAX_RELATED} counts as ${MAX_RELATED}.`,
    }),
  ),
});
const RELATIONS = [
  ...(["callers", "callees", "uses", "used_by", "imports", "imported_by", "extends", "implemented_by"] as const),
  "members",
] as const;
export const RelationPath = t.Object({
  id: t.String(),
  symbol: t.String({ minLength: 1, maxLength: 1_000 }),
  relation: oneOf(...RELATIONS),
});
const totals = (names: readonly string[], description: string) =>
  t.Object(Object.fromEntries(names.map((name) => [name, t.Integer()])), { description });
export const Context = t.Union([
  t.Object({
    symbol: GraphSymbol,
    callers: t.Array(Related),
    callees: t.Array(Related),
    uses: t.Array(Related),
    used_by: t.Array(Related),
    imports: t.Array(Related),
    imported_by: t.Array(Related),
    extends: t.Array(Related),
    implemented_by: t.Array(Related),
    members: t.Array(Related),
    processes: t.Array(ProcessView, { description: "The first 50 flows; `/processes?symbol=` returns all." }),
    totals: totals(
      [...RELATIONS, "processes"],
      "Number of entries of each list, including those that are not shown; `/context/{symbol}/{relation}` returns all.",
    ),
    community: orNull(CommunityView),
    unread: orNull(
      t.Object(
        { lines: t.Integer(), of: t.Integer() },
        { description: "Lines of the file that the parser could not read. The answer may lack what they contain." },
      ),
    ),
    code: t.String({ description: "Source code of the symbol, at most 200 lines." }),
  }),
  Candidates,
]);

const Direction = oneOf("upstream", "downstream");
const Risk = oneOf("low", "medium", "high", "critical");
export const ImpactRequest = t.Object({
  target: t.String({ minLength: 1, maxLength: 1_000, description: "Name, qualified name or id of the symbol." }),
  direction: t.Optional(
    t.Union(Direction.anyOf, {
      default: "upstream",
      description: "`upstream`: what depends on the target; `downstream`: what the target depends on.",
    }),
  ),
  max_depth: t.Optional(t.Integer({ minimum: 1, maximum: 10, default: 3 })),
  min_confidence: t.Optional(t.Number({ minimum: 0, maximum: 1, default: 0 })),
  file_path: FilePath,
});
export const Impact = t.Union([
  t.Object({
    target: GraphSymbol,
    direction: Direction,
    risk: Risk,
    depths: t.Array(
      t.Object({
        depth: t.Integer(),
        label: oneOf("will break", "likely affected", "may be affected"),
        total: t.Integer({ description: "Number of symbols at this depth, including those that are not shown." }),
        symbols: t.Array(t.Object({ ...symbolFields, confidence: Confidence, via: EdgeType })),
      }),
    ),
    processes: t.Array(ProcessView),
    communities: t.Array(CommunityView),
    hidden: t.Object(
      { total: t.Integer(), symbols: t.Array(t.Object({ ...symbolFields, line: Line })) },
      { description: "Calls of the target's name on values of unknown type, which may be calls of it; the first 50." },
    ),
    truncated: t.Boolean({ description: "Whether there are more than 1,000 symbols; the nearest are shown." }),
    total: t.Integer(),
  }),
  Candidates,
]);

export const ChangesQuery = t.Object({
  base: t.Optional(
    t.String({ minLength: 1, maxLength: 200, description: "Base commit or branch; `HEAD` by default." }),
  ),
});
export const Changes = t.Object({
  files: t.Array(
    t.Object({
      path: t.String(),
      status: oneOf("added", "modified", "deleted", "renamed", "untracked"),
      from: t.Optional(t.String()),
    }),
  ),
  symbols: t.Array(
    t.Object({
      symbol: GraphSymbol,
      change: oneOf("added", "modified", "deleted"),
      lines: t.Array(t.Array(t.Integer(), { minItems: 2, maxItems: 2 })),
    }),
  ),
  processes: t.Array(ProcessView),
  totals: totals(
    ["files", "symbols", "processes"],
    "Number of entries of each list, including those that are not shown.",
  ),
  truncated: t.Boolean({
    description:
      "Whether lists were cut at 1,000 entries (flows at 50), or only the first 500 changed source files were searched for symbols.",
  }),
  risk: Risk,
});

export const CypherRequest = t.Object({
  query: t.String({ minLength: 1, maxLength: 20_000, description: "Cypher query, which may only read." }),
  params: t.Optional(t.Record(t.String(), t.Unknown())),
  limit: t.Optional(t.Integer({ minimum: 1, maximum: 1_000, default: 100 })),
});
export const CypherAnswer = t.Object({
  columns: t.Array(t.String()),
  rows: t.Array(t.Array(t.Unknown())),
  truncated: t.Boolean(),
  duration_ms: t.Integer(),
});
