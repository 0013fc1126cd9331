/** Workflow policies of projects, and the stages that they give a task. */

import { Type as t } from "@sinclair/typebox";
import { assertIfMatch } from "../../http/etag.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import type { WorkType } from "./model.ts";
import type { Policies } from "./policy.ts";
import { ResolvedWorkflow, WorkflowPolicy, WorkflowPolicyUpdate, WorkflowRequest } from "./policy-model.ts";

interface PolicyRoutesDeps {
  policies: Policies;
  /** @throws Problem 404. */
  resolve(projectId: string, taskId: string, workType: WorkType | undefined): ResolvedWorkflow;
}

export function policyRoutes({ policies, resolve }: PolicyRoutesDeps) {
  return tagOperations("tasks", [
    defineOperation("getProjectWorkflowPolicy", "GET /v1/projects/:id/workflow-policy", {
      access: "user",
      answer: WorkflowPolicy,
      summary: "Get the workflow policy: the stages of each type of work",
      handler: ({ params, answer }) => answer.tag(policies.get(params.id)),
    }),
    defineOperation("updateProjectWorkflowPolicy", "PUT /v1/projects/:id/workflow-policy", {
      access: "user",
      project: "maintainer",
      strict: true,
      body: WorkflowPolicyUpdate,
      answer: WorkflowPolicy,
      summary: "Change the workflow policy",
      handler: ({ params, request, body: input, answer }) => {
        assertIfMatch(request, policies.get(params.id));
        return answer.tag(policies.update(params.id, input));
      },
    }),
    defineOperation("resolveWorkflowProjectTask", "POST /v1/projects/:id/tasks/:tid/resolve-workflow", {
      access: "user",
      project: "viewer",
      body: t.Optional(WorkflowRequest),
      answer: ResolvedWorkflow,
      summary: "Get the workflow of a task and its next stage",
      handler: ({ params, body }) => resolve(params.id, params.tid, body?.work_type),
    }),
  ]);
}
