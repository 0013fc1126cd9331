/** /v1/projects/{id}/caches. */
import { Type as t } from "@sinclair/typebox";
import { operation, operations } from "../../http/operation.ts";
import { CachesCleared, ProjectCaches } from "./model.ts";
import type { EnvironmentCaches } from "./service.ts";

const PATH = "/v1/projects/:id/caches";
const ProjectPath = t.Object({ id: t.String({ maxLength: 100 }) });

export const environmentCacheRoutes = (caches: EnvironmentCaches) =>
  operations("environments", [
    operation("getProjectCaches", `GET ${PATH}`, {
      access: "user",
      params: ProjectPath,
      answer: ProjectCaches,
      summary: "What sandboxes of your work in a project keep of their homes, with sizes; an administrator sees all",
      handler: ({ params, caller }) => caches.get(params.id, caller),
    }),
    operation("clearProjectCaches", `DELETE ${PATH}`, {
      access: "user",
      params: ProjectPath,
      answer: CachesCleared,
      summary: "Remove what sandboxes of your work in a project kept; of everybody's, as an administrator",
      handler: ({ params, caller }) => caches.clear(params.id, caller),
    }),
  ]);
