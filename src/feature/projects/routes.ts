/** /v1/projects. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { forbidden } from "../../core/errors.ts";
import { oneOf } from "../../core/schema.ts";
import type { Base } from "../../http/base.ts";
import type { Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Job } from "../jobs/model.ts";
import { Project, ProjectCreate, ProjectQuery, ProjectUpdate, VisionUpdate } from "./model.ts";
import type { Projects } from "./service.ts";
import type { Updates } from "./updates.ts";

const tags = ["projects"];
const ProjectPath = t.Object({ id: t.String() });
const locationOf = (project: Project) => `/v1/projects/${project.id}`;

/** @throws Problem 403: the command runs in everybody's runs. */
function checked<Body extends { check?: string | null }>(body: Body, caller: Caller, before: Project | null): Body {
  if (!caller.admin && body.check !== undefined && body.check !== (before?.check ?? null))
    throw forbidden("Only an administrator sets the check, a command that everybody's runs of the project execute.");
  return body;
}

export function projectRoutes(base: Base, projects: Projects, updates: Pick<Updates, "start">) {
  return new Elysia({ name: "skep/projects" })
    .use(base)
    .get("/v1/projects", ({ query }) => projects.list(query, pageOf(query)), {
      access: "user",
      query: t.Object({ ...PageQuery, ...ProjectQuery }),
      response: { 200: listOf(Project) },
      detail: { tags, summary: "List projects, newest first" },
    })
    .post(
      "/v1/projects",
      ({ body, caller, answer }) => answer.created(locationOf, () => projects.create(checked(body, caller, null))),
      {
        access: "user",
        body: ProjectCreate,
        response: { 201: Project },
        detail: { tags, summary: "Create a project; a repository is cloned in the background" },
      },
    )
    .get("/v1/projects/:id", ({ params, answer }) => answer.tagged(projects.get(params.id)), {
      access: "user",
      params: ProjectPath,
      response: { 200: Project },
      detail: { tags, summary: "One project" },
    })
    .put(
      "/v1/projects/:id",
      ({ params, body, caller, answer }) =>
        answer.tagged(projects.update(params.id, checked(body, caller, projects.get(params.id)))),
      {
        access: "user",
        params: ProjectPath,
        body: ProjectUpdate,
        response: { 200: Project },
        detail: { tags, summary: "Change a project" },
      },
    )
    .put(
      "/v1/projects/:id/vision",
      ({ params, body, answer }) => answer.tagged(projects.setVision(params.id, body.vision)),
      {
        access: "user",
        params: ProjectPath,
        body: VisionUpdate,
        response: { 200: Project },
        detail: { tags, summary: "Set the project's vision" },
      },
    )
    .delete(
      "/v1/projects/:id",
      async ({ params, query, caller, set }) => {
        await projects.remove(params.id, query.force === "true", caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: ProjectPath,
        query: t.Object({
          force: t.Optional(oneOf("true", "false")),
        }),
        response: { 204: t.Void() },
        detail: {
          ...{ tags, summary: "Delete a project with its workspace" },
          description: "`force` is needed when branches of runs are not merged.",
        },
      },
    )
    .post(
      "/v1/projects/:id/clone",
      ({ params, caller, answer }) => answer.accepted(locationOf, () => projects.clone(params.id, caller.userId)),
      {
        access: "user",
        params: ProjectPath,
        response: { 202: Project },
        detail: { tags, summary: "Make sure that there is a clone and that it is up to date" },
      },
    )
    .post(
      "/v1/projects/:id/fetch",
      ({ params, caller, answer }) =>
        answer.accepted(
          (job) => `/v1/jobs/${job.id}`,
          () => updates.start(params.id, caller.userId),
        ),
      {
        access: "user",
        params: ProjectPath,
        response: { 202: Job },
        detail: { tags, summary: "Bring the clone up to date, as a background job" },
      },
    );
}
