/** Messages between the server and the graph worker. */
import type { PhaseReport } from "../index/phases.ts";
import type { GraphPlace } from "./session.ts";

/** Operations of a session that can be called over IPC. `index` also sends progress. */
export type GraphOperation =
  | "index"
  | "edit"
  | "write"
  | "status"
  | "query"
  | "context"
  | "impact"
  | "ask"
  | "changes"
  | "cypher"
  | "graphData"
  | "graphColumns"
  | "communities"
  | "processes"
  | "prepareCypher"
  | "related"
  | "warm"
  | "tool";

export interface GraphRequest {
  id: number;
  operation: GraphOperation;
  place: GraphPlace;
  args: readonly unknown[];
  /** Asks for the answer as the endpoint's JSON. */
  json?: true;
}

export type GraphReply =
  | { id: number; kind: "value"; value: unknown }
  /** A piece of the endpoint's JSON. `next` is where the next window of a list starts. */
  | { id: number; kind: "json"; bytes: Uint8Array<ArrayBuffer>; last: boolean; next: number | null }
  /** `code` is that of a GraphError, or "failed" for an unexpected error. */
  | { id: number; kind: "error"; code: string; message: string; data?: Record<string, unknown> }
  | { id: number; kind: "progress"; phases: readonly PhaseReport[] };
