/** /v1/projects/{id}/environment. */
import { Type as t } from "@sinclair/typebox";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { AllowedHost } from "../egress/model.ts";
import { EnvironmentChange, ProjectEnvironment } from "./model.ts";
import type { Environments } from "./service.ts";

const PATH = "/v1/projects/:id/environment";
const ProjectPath = t.Object({ id: t.String({ maxLength: 100 }) });

export const environmentRoutes = (environments: Environments) =>
  tagOperations("environments", [
    defineOperation("getProjectEnvironment", `GET ${PATH}`, {
      access: "user",
      params: ProjectPath,
      answer: ProjectEnvironment,
      summary: "Get the environment of a project's sandboxes, and what its repository proposes",
      handler: ({ params }) => environments.get(params.id),
    }),
    defineOperation("updateProjectEnvironment", `PUT ${PATH}`, {
      access: "admin",
      strict: true,
      params: ProjectPath,
      body: EnvironmentChange,
      answer: ProjectEnvironment,
      summary: "Accept the environment that the repository proposes, or set your own",
      description:
        "`hash` accepts the proposal that you read, with another `image` if you name one. If the repository proposes something else by now, the answer is 409 `environment_changed`. `definition` sets an environment of your own. With `build`, the Dockerfile and the files that it copies are taken from the project's branch as they are now; later changes to them are not built. If they cannot be built, the answer is 422 and names the line. A `check` becomes the project's check. The environment takes effect with the next sandbox.",
      handler: ({ params, body, caller }) => environments.accept(params.id, body, caller),
    }),
    defineOperation("allowProjectHost", "POST /v1/projects/:id/allowed-hosts", {
      access: "admin",
      params: ProjectPath,
      body: AllowedHost,
      answer: ProjectEnvironment,
      summary: "Add a host to those that `project` stands for in agents' allow-lists, from the next connection on",
      handler: ({ params, body, caller }) => environments.allowHost(params.id, body, caller),
    }),
    defineOperation("deleteProjectEnvironment", `DELETE ${PATH}`, {
      access: "admin",
      params: ProjectPath,
      answer: 204,
      summary: "Remove the accepted environment of a project",
      handler: ({ params, caller }) => environments.remove(params.id, caller),
    }),
  ]);
