/** /v1/projects/{id}/tasks. */

import { Type as t } from "@sinclair/typebox";
import { assertOwnAgent, type Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { queryBoolean } from "../../http/schema.ts";
import { Job } from "../jobs/model.ts";
import { Run } from "../runs/model.ts";
import type { TaskExecution } from "./execution.ts";
import {
  Claimed,
  Task,
  TaskBulk,
  TaskBulkAnswer,
  TaskClaim,
  TaskCreate,
  TaskHistoryEntry,
  TaskImport,
  TaskMove,
  TaskQuery,
  TaskTransition,
  TaskUpdate,
  Transitioned,
} from "./model.ts";
import { TaskExecute } from "./policy-model.ts";
import type { Tasks } from "./service.ts";

interface TaskRoutesDeps {
  tasks: Tasks;
  execution: TaskExecution;
  /** Starts the import in the background. @throws Problem 404, 422 for keys that do not fit together. */
  importTasks(projectId: string, input: (typeof TaskImport)["static"], caller: Caller): Job;
}

export function taskRoutes({ tasks, execution, importTasks }: TaskRoutesDeps) {
  return tagOperations("tasks", [
    ...changeRoutes(tasks),
    defineOperation("listProjectTasks", "GET /v1/projects/:id/tasks", {
      access: "user",
      query: t.Object({
        ...PageQuery,
        ...TaskQuery,
        ready: t.Optional(
          queryBoolean({ description: "Whether to list only ready tasks: unclaimed, with all dependencies done." }),
        ),
      }),
      answer: listOf(Task),
      summary: "List tasks in the order of the board, or ready tasks by priority",
      handler: ({ params, query }) => tasks.list(params.id, query, pageOf(query)),
    }),
    defineOperation("createProjectTask", "POST /v1/projects/:id/tasks", {
      access: "user",
      body: TaskCreate,
      answer: { 201: Task },
      summary: "Create a task",
      handler: ({ params, body, caller, answer }) =>
        answer.created("/v1/projects/:project_id/tasks/:id", () => tasks.create(params.id, body, caller)),
    }),
    defineOperation("updateProjectTasks", "PATCH /v1/projects/:id/tasks", {
      access: "user",
      body: TaskBulk,
      answer: TaskBulkAnswer,
      summary: "Change several tasks, with a result for each",
      handler: ({ params, body, caller }) => tasks.bulk(params.id, body, caller),
    }),
    defineOperation("importProjectTask", "POST /v1/projects/:id/tasks/import", {
      access: "user",
      body: TaskImport,
      answer: { 202: Job },
      summary: "Create many tasks, as a background job",
      handler: ({ params, body, caller, answer }) =>
        answer.accepted("/v1/jobs/:id", () => importTasks(params.id, body, caller)),
    }),
    defineOperation("executeProjectTask", "POST /v1/projects/:id/tasks/:tid/execute", {
      access: "user",
      body: t.Optional(TaskExecute),
      answer: { 202: Run },
      summary: "Have agents work on a task by starting a run of its next stages",
      handler: ({ params, body, caller, answer }) =>
        answer.accepted("/v1/runs/:id", () => execution.execute(params.id, params.tid, body ?? {}, caller)),
    }),
  ]);
}

function changeRoutes(tasks: Tasks) {
  return tagOperations("tasks", [
    defineOperation("getProjectTask", "GET /v1/projects/:id/tasks/:tid", {
      access: "user",
      answer: Task,
      summary: "Get a task",
      handler: ({ params }) => tasks.get(params.id, params.tid),
    }),
    defineOperation("updateProjectTask", "PUT /v1/projects/:id/tasks/:tid", {
      access: "user",
      body: TaskUpdate,
      answer: Task,
      summary: "Change a task except for its status, which a transition changes",
      handler: ({ params, body, caller }) => tasks.update(params.id, params.tid, body, caller),
    }),
    defineOperation("deleteProjectTask", "DELETE /v1/projects/:id/tasks/:tid", {
      access: "user",
      answer: 204,
      summary: "Delete a task",
      handler: ({ params, caller }) => tasks.remove(params.id, params.tid, caller),
    }),
    defineOperation("listProjectTaskHistory", "GET /v1/projects/:id/tasks/:tid/history", {
      access: "user",
      ...pagesOf(TaskHistoryEntry),
      summary: "List the history of a task, newest first",
      handler: ({ params, query }) => tasks.history(params.id, params.tid, pageOf(query)),
    }),
    defineOperation("claimProjectTask", "POST /v1/projects/:id/tasks/:tid/claim", {
      access: "user",
      body: TaskClaim,
      answer: Claimed,
      summary: "Claim a task for an agent, extend its lease, or give it back",
      handler: ({ params, body, caller }) => {
        assertOwnAgent(caller, body.agent_id);
        return tasks.claim(params.id, params.tid, body, caller);
      },
    }),
    defineOperation("transitionProjectTask", "POST /v1/projects/:id/tasks/:tid/transition", {
      access: "user",
      body: TaskTransition,
      answer: Transitioned,
      summary: "Move a task to another status",
      handler: ({ params, body, caller }) => tasks.transition(params.id, params.tid, body, caller),
    }),
    defineOperation("moveProjectTask", "POST /v1/projects/:id/tasks/:tid/move", {
      access: "user",
      body: TaskMove,
      answer: Task,
      summary: "Move a task to another place on the board",
      handler: ({ params, body, caller }) => tasks.move(params.id, params.tid, body, caller),
    }),
  ]);
}
