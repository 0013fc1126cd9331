/** /v1/swarm. */

import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Swarm, SwarmRequest, SwarmTask } from "./model.ts";
import type { Swarms } from "./service.ts";

export function swarmRoutes(swarms: Swarms) {
  return tagOperations("swarm", [
    defineOperation("executeSwarm", "POST /v1/swarm/execute", {
      access: "user",
      scope: "runs",
      body: SwarmRequest,
      answer: { 202: Swarm },
      summary: "Start a swarm",
      description:
        "A task starts as soon as all tasks that it depends on have succeeded. The agent `agent_id` does tasks that name no agent.",
      handler: ({ body, caller, answer }) => answer.accepted("/v1/swarm/:id", () => swarms.execute(body, caller)),
    }),
    defineOperation("listSwarm", "GET /v1/swarm", {
      access: "user",
      ...pagesOf(Swarm),
      summary: "List swarms, newest first",
      handler: ({ query, caller }) => swarms.list(pageOf(query), caller),
    }),
    defineOperation("getSwarm", "GET /v1/swarm/:id", {
      access: "user",
      answer: Swarm,
      summary: "Get the state of a swarm",
      handler: ({ params, caller }) => swarms.get(params.id, caller),
    }),
    defineOperation("listSwarmTasks", "GET /v1/swarm/:id/tasks", {
      access: "user",
      ...pagesOf(SwarmTask),
      summary: "List the tasks of a swarm with their outputs, in the given order",
      handler: ({ params, query, caller }) => swarms.tasks(params.id, pageOf(query), caller),
    }),
    defineOperation("cancelSwarm", "POST /v1/swarm/:id/cancel", {
      access: "user",
      project: "viewer",
      scope: "runs",
      answer: Swarm,
      summary: "Cancel a swarm and everything that its tasks started",
      handler: ({ params, caller }) => swarms.cancel(params.id, caller),
    }),
    defineOperation("retrySwarmTask", "POST /v1/swarm/:id/tasks/:key/retry", {
      access: "user",
      scope: "runs",
      answer: Swarm,
      summary: "Retry a task that did not succeed",
      description:
        "Tasks that depend on it follow. If `on_failure` is `cancel_all`, every task that did not succeed is retried. An ended swarm continues.",
      handler: ({ params, caller }) => swarms.retry(params.id, params.key, caller),
    }),
  ]);
}
