/** What the server and the graph worker say to each other. */
import type { PhaseReport } from "../index/phases.ts";
import type { GraphPlace } from "./session.ts";

/** Operations that a session offers over the wire; `index` answers with progress on the way. */
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
  /** The answer is wanted as the endpoint's JSON. */
  json?: true;
}

export type GraphReply =
  | { id: number; kind: "value"; value: unknown }
  /** A piece of the endpoint's JSON; `next` where a list goes on. */
  | { id: number; kind: "json"; bytes: Uint8Array<ArrayBuffer>; last: boolean; next: number | null }
  /** `code` is a GraphError's; "failed" for anything unexpected. */
  | { id: number; kind: "error"; code: string; message: string; data?: Record<string, unknown> }
  | { id: number; kind: "progress"; phases: readonly PhaseReport[] };
