import { Type as t } from "@sinclair/typebox";
import { defineEvent } from "../../core/events.ts";
import { oneOf, orNull, Time } from "../../core/schema.ts";
import { BUDGET_SCOPES } from "./scopes.ts";

const budget = {
  scope: oneOf(...BUDGET_SCOPES),
  subject: t.String({
    description: "Id of the session, run, agent or user whose budget it is; empty for the budget of the instance.",
  }),
  limit_usd: t.Number(),
  spent_usd: t.Number(),
  resets_at: orNull(Time),
};

export const budgetWarning = defineEvent(
  "budget_warning",
  t.Object({ ...budget, percent: t.Number() }, { description: "Spending has reached the warning mark of a budget." }),
  { stale: ["/v1/usage", "/v1/admin/notifications"] },
);
export const budgetExceeded = defineEvent(
  "budget_exceeded",
  t.Object(budget, { description: "A model call was not made because it would have exceeded a budget." }),
  { stale: ["/v1/usage", "/v1/admin/notifications"] },
);

export const budgetEvents = [budgetWarning, budgetExceeded] as const;
