/** /v1/projects/{id}/tasks. */
import { Type as t } from "@sinclair/typebox";
import { Elysia, t as elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertOwnAgent, type Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
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
import { WorkflowRequest } from "./policy-model.ts";
import type { Tasks } from "./service.ts";

const tags = ["tasks"];
const ProjectPath = t.Object({ id: t.String() });
const TaskPath = t.Object({ id: t.String(), tid: t.String() });
const locationOf = ({ project_id, id }: Task) => `/v1/projects/${project_id}/tasks/${id}`;

export interface TaskRoutesDeps {
  tasks: Tasks;
  execution: TaskExecution;
  /** Starts the background job. @throws Problem 404, 422 for keys that do not fit together. */
  importTasks(projectId: string, input: (typeof TaskImport)["static"], caller: Caller): Job;
}

export function taskRoutes(base: Base, { tasks, execution, importTasks }: TaskRoutesDeps) {
  return new Elysia({ name: "skep/tasks" })
    .use(base)
    .use(changeRoutes(base, tasks))
    .get("/v1/projects/:id/tasks", ({ params, query }) => tasks.list(params.id, query, pageOf(query)), {
      access: "user",
      params: ProjectPath,
      query: t.Object({
        ...PageQuery,
        ...TaskQuery,
        ready: t.Optional(elysia.BooleanString({ description: "Unclaimed, and all that it depends on is done." })),
      }),
      response: { 200: listOf(Task) },
      detail: { tags, summary: "Tasks in the board's order; what is ready by priority first" },
    })
    .post(
      "/v1/projects/:id/tasks",
      ({ params, body, caller, answer }) => answer.created(locationOf, () => tasks.create(params.id, body, caller)),
      {
        access: "user",
        params: ProjectPath,
        body: TaskCreate,
        response: { 201: Task },
        detail: { tags, summary: "Create a task" },
      },
    )
    .patch("/v1/projects/:id/tasks", ({ params, body, caller }) => tasks.bulk(params.id, body, caller), {
      access: "user",
      params: ProjectPath,
      body: TaskBulk,
      response: { 200: TaskBulkAnswer },
      detail: { tags, summary: "Change several tasks; each says how it went" },
    })
    .post(
      "/v1/projects/:id/tasks/import",
      ({ params, body, caller, answer }) =>
        answer.accepted(
          (job) => `/v1/jobs/${job.id}`,
          () => importTasks(params.id, body, caller),
        ),
      {
        access: "user",
        params: ProjectPath,
        body: TaskImport,
        response: { 202: Job },
        detail: { tags, summary: "Create many tasks, as a background job" },
      },
    )
    .post(
      "/v1/projects/:id/tasks/:tid/execute",
      ({ params, body, caller, answer }) =>
        answer.accepted(
          (run) => `/v1/runs/${run.id}`,
          () => execution.execute(params.id, params.tid, body ?? {}, caller),
        ),
      {
        access: "user",
        params: TaskPath,
        body: t.Optional(WorkflowRequest),
        response: { 202: Run },
        detail: { tags, summary: "Have agents do the task: starts the run of its next stages" },
      },
    );
}

function changeRoutes(base: Base, tasks: Tasks) {
  return new Elysia({ name: "skep/task" })
    .use(base)
    .get("/v1/projects/:id/tasks/:tid", ({ params }) => tasks.get(params.id, params.tid), {
      access: "user",
      params: TaskPath,
      response: { 200: Task },
      detail: { tags, summary: "One task" },
    })
    .put(
      "/v1/projects/:id/tasks/:tid",
      ({ params, body, caller }) => tasks.update(params.id, params.tid, body, caller),
      {
        access: "user",
        params: TaskPath,
        body: TaskUpdate,
        response: { 200: Task },
        detail: { tags, summary: "Change a task; its status changes by a transition" },
      },
    )
    .delete(
      "/v1/projects/:id/tasks/:tid",
      ({ params, caller, set }) => {
        tasks.remove(params.id, params.tid, caller);
        set.status = 204;
      },
      { access: "user", params: TaskPath, response: { 204: t.Void() }, detail: { tags, summary: "Delete a task" } },
    )
    .get(
      "/v1/projects/:id/tasks/:tid/history",
      ({ params, query }) => tasks.history(params.id, params.tid, pageOf(query)),
      {
        access: "user",
        params: TaskPath,
        query: t.Object(PageQuery),
        response: { 200: listOf(TaskHistoryEntry) },
        detail: { tags, summary: "What happened to a task, newest first" },
      },
    )
    .post(
      "/v1/projects/:id/tasks/:tid/claim",
      ({ params, body, caller }) => {
        assertOwnAgent(caller, body.agent_id);
        return tasks.claim(params.id, params.tid, body, caller);
      },
      {
        access: "user",
        params: TaskPath,
        body: TaskClaim,
        response: { 200: Claimed },
        detail: { tags, summary: "Claim a task for an agent, lengthen its lease, or give it back" },
      },
    )
    .post(
      "/v1/projects/:id/tasks/:tid/transition",
      ({ params, body, caller }) => tasks.transition(params.id, params.tid, body, caller),
      {
        access: "user",
        params: TaskPath,
        body: TaskTransition,
        response: { 200: Transitioned },
        detail: { tags, summary: "Move a task to another status" },
      },
    )
    .post(
      "/v1/projects/:id/tasks/:tid/move",
      ({ params, body, caller }) => tasks.move(params.id, params.tid, body, caller),
      {
        access: "user",
        params: TaskPath,
        body: TaskMove,
        response: { 200: Task },
        detail: { tags, summary: "Put a task at another place of the board" },
      },
    );
}
