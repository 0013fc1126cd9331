/** The end of a run in words: what came of it, where it is, what it cost, and which commands come next. */
import { hasEnded, type RunView } from "./follow.ts";
import { statusStyle } from "./resource/words.ts";
import { oneLine, paint, plain } from "./terminal/style.ts";
import { costText } from "./terminal/table.ts";

const shown = (value: unknown) => (typeof value === "string" ? plain(value) : JSON.stringify(value));

/** A run that somebody stopped following. @param ownServer whether its server ends with this command. */
export const leftText = ({ id, status }: RunView, ownServer: boolean): string =>
  `left ${id} ${status}; ${ownServer ? "it goes on when a server starts on this data folder" : "it goes on"}`;

export function reportLines(run: RunView): string[] {
  const status = paint(statusStyle(run.status), run.status);
  if (!hasEnded(run)) return [`${status}: ${run.id}`];
  return [
    `${status}: ${run.id}${run.branch ? ` on branch ${run.branch}` : ""}`,
    ...(run.error ? [`  ${run.error.step_id ? `${run.error.step_id}: ` : ""}${oneLine(run.error.message)}`] : []),
    ...Object.entries(run.outputs).map(([name, value]) => `  ${name}: ${shown(value)}`),
    `  cost: ${costText(run.cost_usd)}, ${run.tokens} tokens`,
  ];
}

/** After following: the end, or that it was left. */
export const followedLines = (run: RunView, ownServer: boolean): string[] =>
  hasEnded(run) ? reportLines(run) : [leftText(run, ownServer)];
