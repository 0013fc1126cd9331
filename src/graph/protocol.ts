/** What the server and the graph worker say to each other. */
import type { PhaseReport } from "./indexer.ts";
import type { GraphSession } from "./session.ts";

/** Operations that a session offers over the wire; `index` answers with progress on the way. */
export type GraphOperation =
  | "index"
  | "status"
  | "query"
  | "context"
  | "impact"
  | "changes"
  | "cypher"
  | "graphData"
  | "communities"
  | "processes";

export interface GraphRequest {
  id: number;
  operation: GraphOperation;
  /** Absolute path of the repository. */
  root: string;
  /** Folder of its graph. */
  store: string;
  args: readonly unknown[];
}

export type GraphReply =
  | { id: number; kind: "value"; value: unknown }
  /** `code` is a GraphError's; "failed" for anything unexpected. */
  | { id: number; kind: "error"; code: string; message: string }
  | { id: number; kind: "progress"; phases: readonly PhaseReport[] };

/** A session's operations as they are seen from another process. */
export type RemoteResult<Operation extends keyof GraphSession> = GraphSession[Operation] extends (
  ...args: never[]
) => infer Result
  ? Awaited<Result>
  : never;
