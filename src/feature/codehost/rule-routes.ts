/** /v1/codehost/rules: what on the code host starts runs. */
import { Type as t } from "@sinclair/typebox";
import { Elysia } from "elysia";
import { LIMITS } from "../../core/limits.ts";
import type { Base } from "../../http/base.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { Rule, RuleCreate, RuleUpdate, Trial, TrialRequest } from "./model.ts";
import type { RuleRow, Rules } from "./rules.ts";

const tags = ["codehost"];
const RulePath = t.Object({ id: t.String({ maxLength: 100 }) });

export function ruleRoutes(
  base: Base,
  rules: Rules,
  attempt: (rule: RuleRow, request: TrialRequest) => Promise<Trial>,
) {
  return new Elysia({ name: "skep/codehost-rules" })
    .use(base)
    .get("/v1/codehost/rules", ({ query }) => rules.list(query, pageOf(query)), {
      access: "admin",
      query: t.Object({ ...PageQuery, project_id: t.Optional(t.String({ maxLength: LIMITS.nameCharacters })) }),
      response: { 200: listOf(Rule) },
      detail: { tags, summary: "Rules that start runs, newest first" },
    })
    .post(
      "/v1/codehost/rules",
      ({ body, caller, answer }) =>
        answer.created(
          ({ id }) => `/v1/codehost/rules/${id}`,
          () => rules.create(body, caller),
        ),
      {
        access: "admin",
        body: RuleCreate,
        response: { 201: Rule },
        detail: { tags, operationId: "createCodeHostRule", summary: "Let something on the code host start runs" },
      },
    )
    .get("/v1/codehost/rules/:id", ({ params, answer }) => answer.tagged(rules.get(params.id)), {
      access: "admin",
      params: RulePath,
      response: { 200: Rule },
      detail: { tags, summary: "One rule" },
    })
    .put(
      "/v1/codehost/rules/:id",
      ({ params, body, request, caller, answer }) => {
        assertIfMatch(request, rules.get(params.id));
        return answer.tagged(rules.update(params.id, body, caller));
      },
      {
        access: "admin",
        params: RulePath,
        body: RuleUpdate,
        response: { 200: Rule },
        detail: { tags, summary: "Change a rule; fields that are left out stay" },
      },
    )
    .delete(
      "/v1/codehost/rules/:id",
      ({ params, caller, set }) => {
        rules.remove(params.id, caller);
        set.status = 204;
      },
      {
        access: "admin",
        params: RulePath,
        response: { 204: t.Void() },
        detail: { tags, summary: "Delete a rule; runs that it started continue" },
      },
    )
    .post("/v1/codehost/rules/:id/try", ({ params, body }) => attempt(rules.get(params.id), body), {
      access: "admin",
      params: RulePath,
      body: TrialRequest,
      response: { 200: Trial },
      detail: {
        tags,
        operationId: "tryCodeHostRule",
        summary: "Ask whether a rule would start a run there; nothing is started or written",
      },
    });
}
