/** Workflow policies of projects, and what they mean for a task. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { readStrict, strictBody } from "../../http/strict-body.ts";
import type { WorkType } from "./model.ts";
import type { Policies } from "./policy.ts";
import { ResolvedWorkflow, WorkflowPolicy, WorkflowPolicyUpdate, WorkflowRequest } from "./policy-model.ts";

const tags = ["tasks"];
const ProjectPath = t.Object({ id: t.String() });

export interface PolicyRoutesDeps {
  policies: Policies;
  /** @throws Problem 404. */
  resolve(projectId: string, taskId: string, workType: WorkType | undefined): ResolvedWorkflow;
}

export function policyRoutes(base: Base, { policies, resolve }: PolicyRoutesDeps) {
  return new Elysia({ name: "skep/workflow-policy" })
    .use(base)
    .get("/v1/projects/:id/workflow-policy", ({ params, answer }) => answer.tagged(policies.get(params.id)), {
      access: "user",
      params: ProjectPath,
      response: { 200: WorkflowPolicy },
      detail: { tags, summary: "Stages that work of each kind goes through" },
    })
    .put(
      "/v1/projects/:id/workflow-policy",
      async ({ params, request, answer }) => {
        const input = await readStrict(request, WorkflowPolicyUpdate);
        assertIfMatch(request, policies.get(params.id));
        return answer.tagged(policies.update(params.id, input));
      },
      {
        access: "user",
        parse: "none",
        params: ProjectPath,
        response: { 200: WorkflowPolicy },
        detail: { tags, summary: "Change the workflow policy", requestBody: strictBody(WorkflowPolicyUpdate) },
      },
    )
    .post(
      "/v1/projects/:id/tasks/:tid/resolve-workflow",
      ({ params, body }) => resolve(params.id, params.tid, body?.work_type),
      {
        access: "user",
        params: t.Object({ id: t.String(), tid: t.String() }),
        body: t.Optional(WorkflowRequest),
        response: { 200: ResolvedWorkflow },
        detail: { tags, summary: "What is to be done for a task, and what is next" },
      },
    );
}
