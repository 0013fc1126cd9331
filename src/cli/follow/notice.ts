/** Notices of a run that are not about a step: why it waits, and how much of a budget is left. */
import { membersOf } from "../../core/is-object.ts";
import { costText } from "../terminal/table.ts";

/** What a budget applies to, in words for the sentence. Budgets that are missing here have the words of the settings. */
const BUDGETS: Readonly<Record<string, string>> = {
  session: "the work's budget",
  run: "the run's budget",
  agent_run: "the agent's budget in this run",
  agent_day: "the agent's budget of the day",
  user_day: "your budget of the day",
  user_month: "your budget of the month",
  instance_day: "the server's budget of the day",
  instance_month: "the server's budget of the month",
};

/** The sentence for an event of kind `activity`, `budget_warning` or `budget_exceeded`. Times in it are in UTC. */
export function noticeOf(kind: string, data: unknown): string {
  const { title, scope, spent_usd, limit_usd, resets_at } = membersOf(data);
  if (kind === "activity") return String(title ?? "");
  const budget = BUDGETS[String(scope)] ?? "a budget";
  const spent = `${costText(Number(spent_usd))} of ${costText(Number(limit_usd))} is spent of ${budget}`;
  const reset = typeof resets_at === "string" ? ` It resets at ${resets_at}.` : "";
  return kind === "budget_warning" ? `${spent}.` : `No room for another call: ${spent}.${reset}`;
}
