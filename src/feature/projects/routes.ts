/** /v1/projects. */

import { Type as t } from "@sinclair/typebox";
import { forbidden } from "../../core/errors.ts";
import { oneOf } from "../../core/schema.ts";
import type { Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { operation, operations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import { Project, ProjectCreate, ProjectQuery, ProjectUpdate, VisionUpdate } from "./model.ts";
import type { Projects } from "./service.ts";
import type { Updates } from "./updates.ts";

const locationOf = (project: Project) => `/v1/projects/${project.id}`;

/** @throws Problem 403: the command runs in everybody's runs. */
function checked<Body extends { check?: string | null }>(body: Body, caller: Caller, before: Project | null): Body {
  if (!caller.admin && body.check !== undefined && body.check !== (before?.check ?? null))
    throw forbidden("Only an administrator sets the check, a command that everybody's runs of the project execute.");
  return body;
}

export function projectRoutes(projects: Projects, updates: Pick<Updates, "start" | "reset">) {
  return operations("projects", [
    operation(
      "listProjects",
      "GET /v1/projects",
      {
        access: "user",
        query: t.Object({ ...PageQuery, ...ProjectQuery }),
        answer: listOf(Project),
        summary: "List projects, newest first",
      },
      ({ query }) => projects.list(query, pageOf(query)),
    ),
    operation(
      "createProject",
      "POST /v1/projects",
      {
        access: "user",
        body: ProjectCreate,
        answer: { 201: Project },
        summary: "Create a project; a repository is cloned in the background",
      },
      ({ body, caller, answer }) => answer.created(locationOf, () => projects.create(checked(body, caller, null))),
    ),
    operation(
      "getProject",
      "GET /v1/projects/:id",
      { access: "user", answer: Project, summary: "One project" },
      ({ params, answer }) => answer.tagged(projects.get(params.id)),
    ),
    operation(
      "updateProject",
      "PUT /v1/projects/:id",
      { access: "user", body: ProjectUpdate, answer: Project, summary: "Change a project" },
      async ({ params, body, caller, answer }) =>
        answer.tagged(await projects.update(params.id, checked(body, caller, projects.get(params.id)))),
    ),
    operation(
      "updateProjectVision",
      "PUT /v1/projects/:id/vision",
      { access: "user", body: VisionUpdate, answer: Project, summary: "Set the project's vision" },
      ({ params, body, answer }) => answer.tagged(projects.setVision(params.id, body.vision)),
    ),
    operation(
      "deleteProject",
      "DELETE /v1/projects/:id",
      {
        access: "admin",
        query: t.Object({
          force: t.Optional(oneOf("true", "false")),
        }),
        answer: 204,
        summary: "Delete a project with its workspace",
        description: "`force` is needed when branches of runs are not merged.",
      },
      ({ params, query, caller }) => projects.remove(params.id, query.force === "true", caller),
    ),
    operation(
      "cloneProject",
      "POST /v1/projects/:id/clone",
      {
        access: "user",
        answer: { 202: Project },
        summary: "Make sure that there is a clone and that it is up to date",
      },
      ({ params, caller, answer }) => answer.accepted(locationOf, () => projects.clone(params.id, caller.userId)),
    ),
    operation(
      "fetchProject",
      "POST /v1/projects/:id/fetch",
      { access: "user", answer: { 202: Job }, summary: "Bring the clone up to date, as a background job" },
      ({ params, caller, answer }) =>
        answer.accepted(
          (job) => `/v1/jobs/${job.id}`,
          () => updates.start(params.id, caller.userId),
        ),
    ),
    operation(
      "resetProject",
      "POST /v1/projects/:id/reset",
      {
        access: "admin",
        answer: Project,
        summary: "Begin again at the fetched branch, after the repository's history was rewritten",
        description: "Merges that were not pushed are left out of the default branch; the branches of runs stay.",
      },
      async ({ params, answer }) => {
        await updates.reset(params.id);
        return answer.tagged(projects.get(params.id));
      },
    ),
  ]);
}
