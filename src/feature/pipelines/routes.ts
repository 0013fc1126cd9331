/** /v1/pipelines. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { Base } from "../../http/base.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Pipeline, PipelineBody, PipelineDetail, Validation } from "./model.ts";
import type { Pipelines } from "./service.ts";

const tags = ["pipelines"];
const PipelinePath = t.Object({ id: t.String() });
const locationOf = (pipeline: PipelineDetail) => `/v1/pipelines/${pipeline.id}`;

/** @param jsonSchema of the file format, for editors. */
export function pipelineRoutes(base: Base, pipelines: Pipelines, jsonSchema: () => Record<string, unknown>) {
  return new Elysia({ name: "skep/pipelines" })
    .use(base)
    .get("/v1/pipelines", ({ query }) => pipelines.list(pageOf(query)), {
      access: "user",
      query: t.Object(PageQuery),
      response: { 200: listOf(Pipeline) },
      detail: { tags, summary: "List pipelines, by id; broken ones with their problems" },
    })
    .get("/v1/pipelines/schema.json", () => jsonSchema(), {
      access: "user",
      response: { 200: t.Record(t.String(), t.Unknown()) },
      detail: { tags, summary: "JSON Schema of pipeline files, for editors" },
    })
    .post("/v1/pipelines/validate", ({ body }) => pipelines.validate(body), {
      access: "user",
      body: PipelineBody,
      response: { 200: Validation },
      detail: { tags, summary: "Check a pipeline without storing it" },
    })
    .get("/v1/pipelines/:id", ({ params, answer }) => answer.tagged(pipelines.get(params.id)), {
      access: "user",
      params: PipelinePath,
      response: { 200: PipelineDetail },
      detail: { tags, summary: "One pipeline with its text" },
    })
    .post(
      "/v1/pipelines",
      ({ body, caller, answer }) => answer.created(locationOf, () => pipelines.create(body, caller)),
      {
        access: "admin",
        body: PipelineBody,
        response: { 201: PipelineDetail },
        detail: { tags, summary: "Create a pipeline" },
      },
    )
    .put(
      "/v1/pipelines/:id",
      ({ params, body, caller, request, answer }) => {
        assertIfMatch(request, pipelines.get(params.id));
        return answer.tagged(pipelines.update(params.id, body, caller));
      },
      {
        access: "admin",
        params: PipelinePath,
        body: PipelineBody,
        response: { 200: PipelineDetail },
        detail: { tags, summary: "Change a pipeline; comments in its file stay when fields are sent" },
      },
    )
    .delete(
      "/v1/pipelines/:id",
      ({ params, caller, request, set }) => {
        assertIfMatch(request, pipelines.get(params.id));
        pipelines.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: PipelinePath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a pipeline; runs of it continue with the copy they hold" },
      },
    );
}
