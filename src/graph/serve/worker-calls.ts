/** Calls of a graph worker, and how the parts of a reply are joined. */
import type { Taken, WorkerCall, WorkerProcess } from "../../process/worker-process.ts";
import { GraphError, isGraphErrorCode } from "../graph-error.ts";
import type { PhaseReport } from "../index/phases.ts";
import type { GraphOperation, GraphReply } from "./protocol.ts";
import type { GraphPlace } from "./session.ts";

export type GraphWorker = WorkerProcess<GraphReply>;

/** The answer of an endpoint, as JSON. */
export interface GraphJson {
  /** The JSON in UTF-8, in order. */
  pieces: Uint8Array<ArrayBuffer>[];
  /** Where the next window of a list starts; null at its end. */
  next: number | null;
}

export interface Asked {
  operation: GraphOperation;
  args: readonly unknown[];
  json?: true;
  /** Longest time without an answer or progress. Then the process is killed. */
  timeoutMs: number;
  progress?: ((phases: readonly PhaseReport[]) => void) | undefined;
}

/** @throws WorkerLost, GraphError, or an Error with the worker's message for any other failure */
export function askWorker(worker: GraphWorker, place: GraphPlace, asked: Asked): Promise<unknown> {
  const { operation, args, json, timeoutMs, progress } = asked;
  const pieces: GraphJson["pieces"] = [];
  const take = (reply: GraphReply): Taken => {
    switch (reply.kind) {
      case "progress":
        progress?.(reply.phases);
        return "not-over";
      case "json":
        pieces.push(reply.bytes);
        return reply.last ? { value: { pieces, next: reply.next } satisfies GraphJson } : "not-over";
      case "value":
        return { value: reply.value };
      case "error":
        return {
          error: isGraphErrorCode(reply.code)
            ? new GraphError(reply.code, reply.message, reply.data)
            : new Error(reply.message),
        };
    }
  };
  const message = { operation, place, args, ...(json ? { json } : {}) };
  return worker.ask({ what: operation, message, timeoutMs, take } satisfies WorkerCall<GraphReply>);
}
