/** /v1/projects/{id}/setup. */
import { Type as t } from "@sinclair/typebox";
import { operation, operations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import { ProjectSetup, SetupStart } from "./model.ts";
import type { Setups } from "./service.ts";

const PATH = "/v1/projects/:id/setup";
const ProjectPath = t.Object({ id: t.String({ maxLength: 100 }) });

export const setupRoutes = (setups: Setups) =>
  operations("environments", [
    operation("getProjectSetup", `GET ${PATH}`, {
      access: "user",
      params: ProjectPath,
      answer: ProjectSetup,
      summary: "What the set-up of a project's code left, and whether its check passes there",
      handler: ({ params }) => setups.get(params.id),
    }),
    operation("setUpProject", `POST ${PATH}`, {
      access: "user",
      params: ProjectPath,
      body: SetupStart,
      answer: { 202: Job },
      summary: "Set up a project's code and run its check, as a background job",
      description:
        "The Dockerfile of the accepted environment is built, step by step, and its `setup` runs, in a container of its own, which may reach the hosts that the project allows and holds no secret. What it leaves is an image that sandboxes start from. Nothing is done where neither image, command, variables nor lock files have changed, unless `again` is set. It begins by itself when an environment is accepted and when the project's branch has moved.",
      handler: ({ params, body, caller, answer }) =>
        answer.accepted("/v1/jobs/:id", () => setups.start(params.id, body, caller.userId)),
    }),
    operation("deleteProjectSetup", `DELETE ${PATH}`, {
      access: "admin",
      params: ProjectPath,
      answer: 204,
      summary: "Remove the images that set-ups of a project left",
      handler: ({ params, caller }) => setups.remove(params.id, caller),
    }),
  ]);
