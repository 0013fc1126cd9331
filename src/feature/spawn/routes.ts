/** /v1/spawn-executor. */

import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { SpawnedExecution, SpawnRequest } from "./model.ts";
import type { Spawns } from "./service.ts";

export function spawnRoutes(spawns: Spawns) {
  return tagOperations("spawn", [
    defineOperation("executeSpawnExecutor", "POST /v1/spawn-executor/execute", {
      access: "user",
      scope: "runs",
      body: SpawnRequest,
      answer: { 202: SpawnedExecution },
      summary: "Hand a piece of work to an agent",
      handler: ({ body, caller, answer }) =>
        answer.accepted("/v1/spawn-executor/:id", () => spawns.execute(body, caller)),
    }),
    defineOperation("listSpawnExecutor", "GET /v1/spawn-executor", {
      access: "user",
      ...pagesOf(SpawnedExecution),
      summary: "List spawned executions, newest first",
      handler: ({ query, caller }) => spawns.list(pageOf(query), caller),
    }),
    defineOperation("getSpawnExecutor", "GET /v1/spawn-executor/:id", {
      access: "user",
      answer: SpawnedExecution,
      summary: "Get the state and the result of a spawned execution",
      handler: ({ params, caller }) => spawns.get(params.id, caller),
    }),
    defineOperation("cancelSpawnExecutor", "POST /v1/spawn-executor/:id/cancel", {
      access: "user",
      project: "viewer",
      scope: "runs",
      answer: SpawnedExecution,
      summary: "Cancel a spawned execution and everything that it started",
      handler: ({ params, caller }) => spawns.cancel(params.id, caller),
    }),
  ]);
}
