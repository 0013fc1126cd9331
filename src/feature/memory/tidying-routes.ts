/** /v1/memory/contradictions and the consolidation of a vault. For people: no execution judges its own memory. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { orNull } from "../../core/schema.ts";
import type { Base } from "../../http/base.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Job } from "../jobs/model.ts";
import type { createConsolidation } from "./consolidate.ts";
import type { Contradictions } from "./contradictions.ts";
import { Contradiction, ContradictionVerdict } from "./model.ts";

const tags = ["memory"];

export function tidyingRoutes(
  base: Base,
  contradictions: Contradictions,
  consolidation: Pick<ReturnType<typeof createConsolidation>, "start">,
) {
  return new Elysia({ name: "skep/memory-tidying" })
    .use(base)
    .get(
      "/v1/memory/contradictions",
      ({ query, caller }) => contradictions.list(query.agent_id, pageOf(query), caller),
      {
        access: "user",
        query: t.Object({
          ...PageQuery,
          agent_id: t.Optional(t.String({ maxLength: 64, description: "Only that agent's vault." })),
        }),
        response: { 200: listOf(Contradiction) },
        detail: {
          tags,
          operationId: "listMemoryContradictions",
          summary: "Pairs of entries that seem to say opposite things, found by consolidation",
        },
      },
    )
    .put(
      "/v1/memory/contradictions/:contradiction_id",
      ({ params, body, caller }) => contradictions.settle(params.contradiction_id, body, caller),
      {
        access: "user",
        params: t.Object({ contradiction_id: t.String({ maxLength: 64 }) }),
        body: ContradictionVerdict,
        response: {
          200: t.Object({ superseded: orNull(t.String({ description: "The other entry; undo brings it back." })) }),
        },
        detail: {
          tags,
          operationId: "settleMemoryContradiction",
          summary: "Say which entry of a contradiction holds, which supersedes the other, or that both are true",
        },
      },
    )
    .post(
      "/v1/memory/vaults/:agent_id/consolidate",
      ({ params, caller, answer }) =>
        answer.accepted(
          ({ id }) => `/v1/jobs/${id}`,
          () => consolidation.start(params.agent_id, caller),
        ),
      {
        access: "user",
        params: t.Object({ agent_id: t.String({ maxLength: 64 }) }),
        response: { 202: Job },
        detail: {
          tags,
          operationId: "consolidateMemory",
          summary: "Merge entries that say the same and list contradictions, among all that you may change",
        },
      },
    );
}
