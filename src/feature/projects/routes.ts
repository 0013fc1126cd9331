/** /v1/projects. */

import { Type as t } from "@sinclair/typebox";
import { forbidden } from "../../core/errors.ts";
import { roleIn } from "../../core/ownership.ts";
import { oneOf } from "../../core/schema.ts";
import type { Caller } from "../../http/caller.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import { type Project, ProjectCreate, ProjectQuery, ProjectUpdate, ShownProject, VisionUpdate } from "./model.ts";
import type { Projects } from "./service.ts";
import type { Updates } from "./updates.ts";

/** The project, with what the caller may do in it and who sees it. */
const shownTo = (project: Project, caller: Caller): ShownProject => ({
  ...project,
  role: roleIn(caller, project.id) ?? "viewer",
});
const LOCATION = "/v1/projects/:id";

/**
 * @throws Problem 403 when a caller who is no administrator changes the check: that command is executed in everybody's
 * runs.
 */
function authorize<Body extends { check?: string | null }>(body: Body, caller: Caller, before: Project | null): Body {
  if (!caller.admin && body.check !== undefined && body.check !== (before?.check ?? null))
    throw forbidden("Only an administrator sets the check, a command that everybody's runs of the project execute.");
  return body;
}

export function projectRoutes(projects: Projects, updates: Pick<Updates, "start" | "reset">) {
  return tagOperations("projects", [
    defineOperation("listProjects", "GET /v1/projects", {
      access: "user",
      query: t.Object({ ...PageQuery, ...ProjectQuery }),
      answer: listOf(ShownProject),
      summary: "List projects, newest first",
      handler: ({ query, caller }) => {
        const { items, next_cursor } = projects.list(query, pageOf(query), caller);
        return { items: items.map((one) => shownTo(one, caller)), next_cursor };
      },
    }),
    defineOperation("createProject", "POST /v1/projects", {
      access: "user",
      body: ProjectCreate,
      answer: { 201: ShownProject },
      summary: "Create a project and clone its repository in the background",
      handler: ({ body, caller, answer }) =>
        answer.created(LOCATION, () => shownTo(projects.create(authorize(body, caller, null), caller), caller)),
    }),
    defineOperation("getProject", "GET /v1/projects/:id", {
      access: "user",
      answer: ShownProject,
      summary: "Get a project",
      handler: ({ params, caller, answer }) => answer.tag(shownTo(projects.get(params.id), caller)),
    }),
    defineOperation("updateProject", "PUT /v1/projects/:id", {
      access: "user",
      project: "maintainer",
      body: ProjectUpdate,
      answer: ShownProject,
      summary: "Change a project",
      handler: async ({ params, body, caller, answer }) => {
        const updated = await projects.update(params.id, authorize(body, caller, projects.get(params.id)));
        return answer.tag(shownTo(updated, caller));
      },
    }),
    defineOperation("updateProjectVision", "PUT /v1/projects/:id/vision", {
      access: "user",
      project: "maintainer",
      body: VisionUpdate,
      answer: ShownProject,
      summary: "Set or remove a project's vision",
      handler: ({ params, body, caller, answer }) =>
        answer.tag(shownTo(projects.setVision(params.id, body.vision), caller)),
    }),
    defineOperation("deleteProject", "DELETE /v1/projects/:id", {
      access: "user",
      project: "owner",
      query: t.Object({
        force: t.Optional(oneOf("true", "false")),
      }),
      answer: 204,
      summary: "Delete a project and its workspace",
      description: "`force` is required if the project has branches of runs that are not merged.",
      handler: ({ params, query, caller }) => projects.remove(params.id, query.force === "true", caller),
    }),
    defineOperation("cloneProject", "POST /v1/projects/:id/clone", {
      access: "user",
      answer: { 202: ShownProject },
      summary: "Clone a project's repository, or bring the clone up to date",
      handler: ({ params, caller, answer }) =>
        answer.accepted(LOCATION, () => shownTo(projects.clone(params.id, caller.userId), caller)),
    }),
    defineOperation("fetchProject", "POST /v1/projects/:id/fetch", {
      access: "user",
      answer: { 202: Job },
      summary: "Bring a project's clone up to date, as a background job",
      handler: ({ params, caller, answer }) =>
        answer.accepted("/v1/jobs/:id", () => updates.start(params.id, caller.userId)),
    }),
    defineOperation("resetProject", "POST /v1/projects/:id/reset", {
      access: "admin",
      answer: ShownProject,
      summary: "Reset a project to the fetched branch after the repository's history was rewritten",
      description: "The default branch loses merges that were not pushed. The branches of runs stay.",
      handler: async ({ params, caller, answer }) => {
        await updates.reset(params.id);
        return answer.tag(shownTo(projects.get(params.id), caller));
      },
    }),
  ]);
}
