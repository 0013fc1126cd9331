/**
 * `/v1/memory/contradictions`, and the consolidation of a vault. For people only: no execution judges its own memory.
 */

import { Type as t } from "@sinclair/typebox";
import { orNull } from "../../core/schema.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { answerAfter, defineOperation, tagOperations } from "../../http/operation.ts";
import { Job } from "../jobs/model.ts";
import type { createConsolidation } from "./consolidate.ts";
import type { Contradictions } from "./contradictions.ts";
import type { Entries } from "./entries.ts";
import { Contradiction, ContradictionVerdict } from "./model.ts";

export function tidyingRoutes(
  contradictions: Contradictions,
  consolidation: Pick<ReturnType<typeof createConsolidation>, "start">,
  { written }: Pick<Entries, "written">,
) {
  return answerAfter(
    () => written(),
    tagOperations("memory", [
      defineOperation("listMemoryContradictions", "GET /v1/memory/contradictions", {
        access: "user",
        query: t.Object({
          ...PageQuery,
          agent_id: t.Optional(t.String({ maxLength: 64, description: "Only contradictions in this agent's vault." })),
        }),
        answer: listOf(Contradiction),
        summary: "List pairs of entries that consolidation found to contradict each other",
        handler: ({ query, caller }) => contradictions.list(query.agent_id, pageOf(query), caller),
      }),
      defineOperation("settleMemoryContradiction", "PUT /v1/memory/contradictions/:contradiction_id", {
        access: "user",
        params: t.Object({ contradiction_id: t.String({ maxLength: 64 }) }),
        body: ContradictionVerdict,
        answer: t.Object({
          superseded: orNull(
            t.String({ description: "The entry that was superseded, which undo brings back; null if both are true." }),
          ),
        }),
        summary: "Choose which entry of a contradiction holds, or that both are true",
        handler: ({ params, body, caller }) => contradictions.settle(params.contradiction_id, body, caller),
      }),
      defineOperation("consolidateMemory", "POST /v1/memory/vaults/:agent_id/consolidate", {
        access: "user",
        params: t.Object({ agent_id: t.String({ maxLength: 64 }) }),
        answer: { 202: Job },
        summary: "Consolidate a vault: merge entries that say the same and list contradictions",
        handler: ({ params, caller, answer }) =>
          answer.accepted("/v1/jobs/:id", () => consolidation.start(params.agent_id, caller)),
      }),
    ]),
  );
}
