/** /v1/projects/{id}/setup. */
import { Type as t } from "@sinclair/typebox";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import { ProjectSetup, SetupStart } from "./model.ts";
import type { Setups } from "./service.ts";

const PATH = "/v1/projects/:id/setup";
const ProjectPath = t.Object({ id: t.String({ maxLength: 100 }) });

export const setupRoutes = (setups: Setups) =>
  tagOperations("environments", [
    defineOperation("getProjectSetup", `GET ${PATH}`, {
      access: "user",
      params: ProjectPath,
      answer: ProjectSetup,
      summary: "Get the result of a project's set-up and whether its check passes there",
      handler: ({ params }) => setups.get(params.id),
    }),
    defineOperation("setUpProject", `POST ${PATH}`, {
      access: "user",
      params: ProjectPath,
      body: SetupStart,
      answer: { 202: Job },
      summary: "Set up a project's code and run its check, as a background job",
      description:
        "Builds the Dockerfile of the accepted environment step by step and runs its `setup`. Both happen in a separate container, which can reach the hosts that the project allows and holds no secret. The result is an image from which sandboxes start. Unless `again` is set, nothing happens if image, command, variables and lock files are unchanged. The set-up also starts automatically when an environment is accepted and when the project's branch has moved.",
      handler: ({ params, body, caller, answer }) =>
        answer.accepted("/v1/jobs/:id", () => setups.start(params.id, body, caller.userId)),
    }),
    defineOperation("deleteProjectSetup", `DELETE ${PATH}`, {
      access: "admin",
      params: ProjectPath,
      answer: 204,
      summary: "Remove the images that a project's set-ups created",
      handler: ({ params, caller }) => setups.remove(params.id, caller),
    }),
  ]);
