/** /v1/settings/harness-logins: only the caller's own log-ins. */
import { Type as t } from "@sinclair/typebox";
import { pageOf, pagesOf } from "../../http/list.ts";
import { defineOperation, tagOperations } from "../../http/operation.ts";
import { HarnessLogin, HarnessLoginUpdate, HarnessName } from "./model.ts";
import type { HarnessLogins } from "./service.ts";

const HarnessPath = t.Object({ harness: HarnessName });

export const harnessLoginRoutes = (logins: HarnessLogins) =>
  tagOperations("providers", [
    defineOperation("listHarnessLogins", "GET /v1/settings/harness-logins", {
      access: "user",
      ...pagesOf(HarnessLogin),
      summary: "List your own log-ins for external agents, masked",
      handler: ({ query, caller }) => logins.list(pageOf(query), caller),
    }),
    defineOperation("updateHarnessLogin", "PUT /v1/settings/harness-logins/:harness", {
      access: "user",
      params: HarnessPath,
      body: HarnessLoginUpdate,
      answer: HarnessLogin,
      strict: true,
      summary: "Store your own log-in for an external agent, or set which agents may use it",
      description:
        "Agents with `credentials: own` that you start then use the log-in directly with its vendor. Budgets do not limit that use.",
      handler: ({ params, body, caller }) => logins.set(params.harness, body, caller),
    }),
    defineOperation("deleteHarnessLogin", "DELETE /v1/settings/harness-logins/:harness", {
      access: "user",
      params: HarnessPath,
      answer: 204,
      summary: "Delete your own log-in for an external agent",
      handler: ({ params, caller }) => logins.remove(params.harness, caller),
    }),
  ]);
