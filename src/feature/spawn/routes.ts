/** /v1/spawn-executor. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { SpawnedExecution, SpawnRequest } from "./model.ts";
import type { Spawns } from "./service.ts";

const tags = ["spawn"];
const SpawnPath = t.Object({ id: t.String() });

export function spawnRoutes(base: Base, spawns: Spawns) {
  return new Elysia({ name: "skep/spawn" })
    .use(base)
    .post(
      "/v1/spawn-executor/execute",
      ({ body, caller, answer }) =>
        answer.accepted(
          ({ id }) => `/v1/spawn-executor/${id}`,
          () => spawns.execute(body, caller),
        ),
      {
        access: "user",
        body: SpawnRequest,
        response: { 202: SpawnedExecution },
        detail: { tags, summary: "Hand one piece of work to an agent" },
      },
    )
    .get("/v1/spawn-executor", ({ query, caller }) => spawns.list(pageOf(query), caller), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(SpawnedExecution) },
      detail: { tags, summary: "Spawned executions, newest first" },
    })
    .get("/v1/spawn-executor/:id", ({ params, caller }) => spawns.get(params.id, caller), {
      access: "user",
      params: SpawnPath,
      response: { 200: SpawnedExecution },
      detail: { tags, summary: "The state of a spawned execution, with its result" },
    })
    .post("/v1/spawn-executor/:id/cancel", ({ params, caller }) => spawns.cancel(params.id, caller), {
      access: "user",
      params: SpawnPath,
      response: { 200: SpawnedExecution },
      detail: { tags, summary: "Cancel a spawned execution and all that it started" },
    });
}
