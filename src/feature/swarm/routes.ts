/** /v1/swarm. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Swarm, SwarmRequest, SwarmTask } from "./model.ts";
import type { Swarms } from "./service.ts";

const tags = ["swarm"];
const SwarmPath = t.Object({ id: t.String() });

export function swarmRoutes(base: Base, swarms: Swarms) {
  return new Elysia({ name: "skep/swarm" })
    .use(base)
    .post(
      "/v1/swarm/execute",
      ({ body, caller, answer }) =>
        answer.accepted(
          ({ id }) => `/v1/swarm/${id}`,
          () => swarms.execute(body, caller),
        ),
      {
        access: "user",
        body: SwarmRequest,
        response: { 202: Swarm },
        detail: {
          tags,
          summary: "Start a swarm",
          description:
            "Tasks run as soon as those that they depend on have succeeded. `agent_id` does those that name no agent.",
        },
      },
    )
    .get("/v1/swarm", ({ query, caller }) => swarms.list(pageOf(query), caller), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(Swarm) },
      detail: { tags, summary: "Swarms, newest first" },
    })
    .get("/v1/swarm/:id", ({ params, caller }) => swarms.get(params.id, caller), {
      access: "user",
      params: SwarmPath,
      response: { 200: Swarm },
      detail: { tags, summary: "The state of a swarm" },
    })
    .get("/v1/swarm/:id/tasks", ({ params, query, caller }) => swarms.tasks(params.id, pageOf(query), caller), {
      access: "user",
      params: SwarmPath,
      query: t.Object(PageQuery),
      response: { 200: listOf(SwarmTask) },
      detail: { tags, summary: "Tasks of a swarm with their outputs, in the order in which they were given" },
    })
    .post("/v1/swarm/:id/cancel", ({ params, caller }) => swarms.cancel(params.id, caller), {
      access: "user",
      params: SwarmPath,
      response: { 200: Swarm },
      detail: { tags, summary: "Cancel a swarm and all that its tasks started" },
    })
    .post("/v1/swarm/:id/tasks/:key/retry", ({ params, caller }) => swarms.retry(params.id, params.key, caller), {
      access: "user",
      params: t.Object({ id: t.String(), key: t.String() }),
      response: { 200: Swarm },
      detail: {
        tags,
        summary: "Do a task again that did not succeed",
        description:
          "What depends on it follows; where `on_failure` is `cancel_all`, all that did not succeed. An ended swarm continues.",
      },
    });
}
