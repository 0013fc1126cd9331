/** /v1/projects/{id}/caches. */
import { Type as t } from "@sinclair/typebox";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { CachesCleared, ProjectCaches } from "./model.ts";
import type { EnvironmentCaches } from "./service.ts";

const PATH = "/v1/projects/:id/caches";
const ProjectPath = t.Object({ id: t.String({ maxLength: 100 }) });

export const environmentCacheRoutes = (caches: EnvironmentCaches) =>
  tagOperations("environments", [
    defineOperation("getProjectCaches", `GET ${PATH}`, {
      access: "user",
      params: ProjectPath,
      answer: ProjectCaches,
      summary: "List the caches of your sandboxes in a project with their sizes, or everyone's as an administrator",
      handler: ({ params, caller }) => caches.get(params.id, caller),
    }),
    defineOperation("clearProjectCaches", `DELETE ${PATH}`, {
      access: "user",
      params: ProjectPath,
      answer: CachesCleared,
      summary: "Delete the caches of your sandboxes in a project, or everyone's as an administrator",
      handler: ({ params, caller }) => caches.clear(params.id, caller),
    }),
  ]);
