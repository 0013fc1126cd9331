/** /v1/pipelines. */

import { Type as t } from "@sinclair/typebox";
import { awaitOwnTurn } from "../../core/turns.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Pipeline, PipelineBody, PipelineDetail, Validation } from "./model.ts";
import type { Pipelines } from "./service.ts";

/** @param jsonSchema schema of the file format, for editors. */
export function pipelineRoutes(pipelines: Pipelines, jsonSchema: () => Record<string, unknown>) {
  return tagOperations("pipelines", [
    defineOperation("listPipelines", "GET /v1/pipelines", {
      access: "user",
      ...pagesOf(Pipeline),
      summary: "List pipelines by id, broken ones with their problems",
      handler: ({ query }) => pipelines.listInTurns(pageOf(query)),
    }),
    defineOperation("getPipelinesSchemaJson", "GET /v1/pipelines/schema.json", {
      access: "user",
      answer: t.Record(t.String(), t.Unknown()),
      summary: "Get the JSON Schema of pipeline files, for editors",
      handler: () => jsonSchema(),
    }),
    defineOperation("validatePipeline", "POST /v1/pipelines/validate", {
      access: "user",
      body: PipelineBody,
      answer: Validation,
      summary: "Check a pipeline without storing it",
      handler: async ({ body }) => {
        await awaitOwnTurn();
        return pipelines.validate(body);
      },
    }),
    defineOperation("getPipeline", "GET /v1/pipelines/:id", {
      access: "user",
      answer: PipelineDetail,
      summary: "Get a pipeline with the text of its file",
      handler: ({ params, answer }) => answer.tag(pipelines.get(params.id)),
    }),
    defineOperation("createPipeline", "POST /v1/pipelines", {
      access: "admin",
      body: PipelineBody,
      answer: { 201: PipelineDetail },
      summary: "Create a pipeline",
      handler: ({ body, caller, answer }) => answer.created("/v1/pipelines/:id", () => pipelines.create(body, caller)),
    }),
    defineOperation("updatePipeline", "PUT /v1/pipelines/:id", {
      access: "admin",
      body: PipelineBody,
      answer: PipelineDetail,
      summary: "Change a pipeline; if fields are sent, comments in its file stay",
      handler: ({ params, body, caller, request, answer }) => {
        assertIfMatch(request, pipelines.get(params.id));
        return answer.tag(pipelines.update(params.id, body, caller));
      },
    }),
    defineOperation("deletePipeline", "DELETE /v1/pipelines/:id", {
      access: "admin",
      answer: 204,
      summary: "Delete a pipeline; its runs continue with the copy they hold",
      handler: ({ params, caller, request }) => {
        assertIfMatch(request, pipelines.get(params.id));
        pipelines.remove(params.id, caller);
      },
    }),
  ]);
}
