/** Evals in words and tables. */
import type { AnswerOf, RowOf } from "../../api/types.ts";
import { paint } from "../terminal/style.ts";
import {
  bytesText,
  type Column,
  costText,
  formatCount,
  fullCostText,
  shortCostText,
  spanText,
  tableLines,
} from "../terminal/table.ts";

type Detail = AnswerOf<"GET", `/v1/evals/${string}`>;
type Score = Detail["scores"][number];
type Attempt = RowOf<`/v1/evals/${string}/attempts`>;

const share = (of: number | null): string => (of === null ? "" : `${(of * 100).toFixed(0)}%`);
export const whoOf = ({ worker, agent_id }: Pick<Score, "worker" | "agent_id">): string =>
  worker === "agent" ? (agent_id ?? "") : worker === "solution" ? "(solution)" : "(nothing done)";

const scoreColumns = (k: number): Column<Score>[] => [
  { head: "AGENT", of: whoOf },
  { head: "MODEL", of: ({ worker, model }) => (worker === "agent" ? (model ?? "its own") : ""), optional: true },
  { head: "HARNESS", of: ({ harness }) => harness, optional: true },
  { head: "PASSED", of: ({ passed, ended }) => `${passed}/${ended}`, right: true },
  { head: `PASS^${k}`, of: ({ pass_all_k }) => share(pass_all_k), right: true },
  { head: `PASS@${k}`, of: ({ pass_at_k }) => share(pass_at_k), right: true },
  { head: "ERRORS", of: ({ errors }) => errors || "", right: true, optional: true },
  { head: "COST", of: shortCostText, right: true },
  { head: "TOKENS", of: ({ tokens }) => tokens.toLocaleString("en-US"), right: true },
  { head: "TIME", of: ({ duration_ms }) => (duration_ms === null ? "" : spanText(duration_ms)), right: true },
  { head: "TOOL ERRORS", of: ({ tool_errors }) => tool_errors || "", right: true, optional: true },
];

export function evalLines(found: Detail): string[] {
  const { id, name, mode, status, ended, total, attempts, budget_usd, replayed, problems, scores, size_bytes } = found;
  const oracle = problems.length === 0 ? ["Every solution passes, and doing nothing passes nothing."] : [];
  return [
    `${paint("bold", id)}  ${name}  ${status}  ${ended} of ${formatCount(total, "attempt")}  ${fullCostText(found)}  ${bytesText(size_bytes)} stored`,
    ...(budget_usd === null ? [] : [`budget ${costText(budget_usd)}`]),
    ...(replayed ? ["Recorded replies were played; no model was asked."] : []),
    "",
    ...tableLines(scoreColumns(attempts), scores),
    ...(mode === "oracle" && status === "done" ? ["", ...oracle] : []),
    ...problems.map(({ task, message }) => `${paint("red", task)}: ${message}`),
  ];
}

export const ATTEMPT_COLUMNS: Column<Attempt>[] = [
  { head: "TASK", of: ({ task }) => task },
  { head: "AGENT", of: whoOf },
  { head: "MODEL", of: ({ model }) => model, optional: true },
  { head: "TRY", of: ({ number }) => number, right: true },
  { head: "STATUS", of: ({ status }) => status },
  { head: "COST", of: shortCostText, right: true },
  { head: "TOKENS", of: ({ tokens }) => tokens, right: true },
  { head: "TIME", of: ({ duration_ms }) => (duration_ms === null ? "" : spanText(duration_ms)), right: true },
  { head: "RUN", of: ({ run_id }) => run_id, optional: true },
  { head: "WHY", of: ({ reason }) => reason, shrinks: true, optional: true },
];
