/** /v1/codehost/rules: the rules that start runs from events on the code host. */

import { Type as t } from "@sinclair/typebox";
import { LIMITS } from "../../core/limits.ts";
import { assertIfMatch } from "../../http/etag.ts";
import { listOf, PageQuery, pageOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { Rule, RuleCreate, RuleUpdate, Trial, TrialRequest } from "./model.ts";
import type { RuleRow, Rules } from "./rules.ts";

const RulePath = t.Object({ id: t.String({ maxLength: 100 }) });

export function ruleRoutes(rules: Rules, attempt: (rule: RuleRow, request: TrialRequest) => Promise<Trial>) {
  return tagOperations("codehost", [
    defineOperation("listCodehostRules", "GET /v1/codehost/rules", {
      access: "admin",
      query: t.Object({ ...PageQuery, project_id: t.Optional(t.String({ maxLength: LIMITS.nameCharacters })) }),
      answer: listOf(Rule),
      summary: "List the rules that start runs, newest first",
      handler: ({ query }) => rules.list(query, pageOf(query)),
    }),
    defineOperation("createCodeHostRule", "POST /v1/codehost/rules", {
      access: "admin",
      body: RuleCreate,
      answer: { 201: Rule },
      summary: "Create a rule that starts runs from events on the code host",
      handler: ({ body, caller, answer }) => answer.created("/v1/codehost/rules/:id", () => rules.create(body, caller)),
    }),
    defineOperation("getCodehostRule", "GET /v1/codehost/rules/:id", {
      access: "admin",
      params: RulePath,
      answer: Rule,
      summary: "Get a rule",
      handler: ({ params, answer }) => answer.tag(rules.get(params.id)),
    }),
    defineOperation("updateCodehostRule", "PUT /v1/codehost/rules/:id", {
      access: "admin",
      params: RulePath,
      body: RuleUpdate,
      answer: Rule,
      summary: "Change a rule; absent fields keep their values",
      handler: ({ params, body, request, caller, answer }) => {
        assertIfMatch(request, rules.get(params.id));
        return answer.tag(rules.update(params.id, body, caller));
      },
    }),
    defineOperation("deleteCodehostRule", "DELETE /v1/codehost/rules/:id", {
      access: "admin",
      params: RulePath,
      answer: 204,
      summary: "Delete a rule; runs that it started continue",
      handler: ({ params, caller }) => rules.remove(params.id, caller),
    }),
    defineOperation("tryCodeHostRule", "POST /v1/codehost/rules/:id/try", {
      access: "admin",
      params: RulePath,
      body: TrialRequest,
      answer: Trial,
      summary: "Test whether a rule would start a run; nothing is started or written",
      handler: ({ params, body }) => attempt(rules.get(params.id), body),
    }),
  ]);
}
