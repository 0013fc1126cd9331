/** /v1/projects/{id}/environment. */
import { Type as t } from "@sinclair/typebox";
import { operation, operations } from "../../http/operation.ts";
import { AllowedHost } from "../egress/model.ts";
import { EnvironmentChange, ProjectEnvironment } from "./model.ts";
import type { Environments } from "./service.ts";

const PATH = "/v1/projects/:id/environment";
const ProjectPath = t.Object({ id: t.String({ maxLength: 100 }) });

export const environmentRoutes = (environments: Environments) =>
  operations("environments", [
    operation("getProjectEnvironment", `GET ${PATH}`, {
      access: "user",
      params: ProjectPath,
      answer: ProjectEnvironment,
      summary: "What sandboxes of a project's work are started with, and what its repository proposes",
      handler: ({ params }) => environments.get(params.id),
    }),
    operation("updateProjectEnvironment", `PUT ${PATH}`, {
      access: "admin",
      strict: true,
      params: ProjectPath,
      body: EnvironmentChange,
      answer: ProjectEnvironment,
      summary: "Accept the environment that the repository proposes, or set one",
      description:
        "`hash` accepts a proposal as you read it, with another `image` if you name one; 409 `environment_changed` when the repository proposes something else by now. `definition` sets one of your own. With `build`, the Dockerfile and the files that it copies are taken as the project's branch has them now, and nothing else is built later; 422 says with its line what cannot be built. A `check` in it becomes the project's check. It counts from the next sandbox on.",
      handler: ({ params, body, caller }) => environments.accept(params.id, body, caller),
    }),
    operation("allowProjectHost", "POST /v1/projects/:id/allowed-hosts", {
      access: "admin",
      params: ProjectPath,
      body: AllowedHost,
      answer: ProjectEnvironment,
      summary: "Add a host to what `project` stands for in agents' allow-lists; it counts from the next connection on",
      handler: ({ params, body, caller }) => environments.allowHost(params.id, body, caller),
    }),
    operation("deleteProjectEnvironment", `DELETE ${PATH}`, {
      access: "admin",
      params: ProjectPath,
      answer: 204,
      summary: "Remove the accepted environment of a project",
      handler: ({ params, caller }) => environments.remove(params.id, caller),
    }),
  ]);
