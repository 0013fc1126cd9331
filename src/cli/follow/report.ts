/** The report at the end of a run: its result, where the files are, what it cost, and which commands come next. */
import { join } from "node:path";
import { isProblem } from "../../core/errors.ts";
import { statusStyle } from "../resource/words.ts";
import type { Client } from "../server/client.ts";
import { oneLine, paint, stripControls } from "../terminal/style.ts";
import { formatCount, fullCostText, localizeTimes } from "../terminal/table.ts";
import { hasEnded, type RunView } from "./follow.ts";

const formatValue = (value: unknown) => stripControls(typeof value === "string" ? value : JSON.stringify(value));
const indent = (text: string, by: number): string => text.trimEnd().replaceAll("\n", `\n${" ".repeat(by)}`);

const isEmpty = (value: unknown): boolean =>
  value === null || value === "" || (typeof value === "object" && Object.keys(value).length === 0);

/** The outputs of a step, one per line, without empty ones. */
function outputLines(step: string, outputs: unknown): string[] {
  if (outputs === null || typeof outputs !== "object" || Array.isArray(outputs))
    return [`  ${step}: ${indent(formatValue(outputs), 4)}`];
  const given = Object.entries(outputs).filter(([, value]) => !isEmpty(value));
  const [only] = given;
  if (given.length === 1 && only?.[0] === step) return [`  ${step}: ${indent(formatValue(only[1]), 4)}`];
  if (given.length === 0) return [];
  return [`  ${step}:`, ...given.map(([name, value]) => `    ${name}: ${indent(formatValue(value), 6)}`)];
}

/** Says that the person left the run. @param ownServer whether this command's own server ends with it. */
const leftText = ({ id, status }: RunView, ownServer: boolean): string =>
  `left ${id} ${status}; ${ownServer ? "it continues when a server starts on this data folder" : "it continues"}`;

/** @param client knows the data folder if the server runs on this machine. */
export function reportLines(run: RunView, client?: Pick<Client, "data">): string[] {
  const status = paint(statusStyle(run.status), run.status);
  if (!hasEnded(run))
    return [
      `${status}: ${run.id}`,
      ...(run.waiting_reason ? [`  waits: ${localizeTimes(oneLine(run.waiting_reason))}`] : []),
    ];
  return [
    `${status}: ${run.id}`,
    ...(run.error ? [`  ${run.error.step_id ? `${run.error.step_id}: ` : ""}${oneLine(run.error.message)}`] : []),
    ...Object.entries(run.outputs).flatMap(([name, value]) => outputLines(name, value)),
    ...(run.branch ? [`  branch: ${run.branch}`] : []),
    ...placeOf(run, client?.data),
    `  cost: ${fullCostText(run)}, ${formatCount(run.tokens, "token")}`,
  ];
}

/** Where the files are, if the server's data folder is on this machine. */
function placeOf({ id, branch, project_id }: RunView, data: string | undefined): string[] {
  if (data === undefined) return [];
  if (project_id === null) return [`  folder: ${join(data, "workspaces", id)}`];
  return branch ? [`  repository: ${join(data, "projects", project_id, "git")}`] : [];
}

/** What to print after following: the run's end with the commands that come next, or that the person left it. */
export async function followedLines(
  run: RunView,
  client: Pick<Client, "call" | "data">,
  ownServer: boolean,
): Promise<string[]> {
  if (!hasEnded(run)) return [leftText(run, ownServer), `  follow it with: skep runs ${run.id} --follow`];
  return [...reportLines(run, client), ...nextLines(run, client.data, await hasWork(run, client))];
}

/** Whether a run changed files of its project. False if it has no branch yet; true if that cannot be determined. */
async function hasWork({ id, branch, project_id }: RunView, client: Pick<Client, "call">): Promise<boolean> {
  if (!branch || project_id === null) return false;
  const changed = client.call("GET", `/v1/runs/${id}/diff?limit=1`);
  return changed.then(({ stats }) => stats.files > 0).catch((error) => !(isProblem(error) && error.status === 404));
}

/** The commands that come next: see the work, take it over, continue it. */
function nextLines(run: RunView, data: string | undefined, hasWork: boolean): string[] {
  const { id, status, branch, project_id } = run;
  const next: string[] = status === "succeeded" ? [] : [`skep restart ${id}`];
  if (hasWork && project_id !== null) {
    next.push(`skep diff ${id}`, `skep merge ${id}`);
    if (data !== undefined)
      next.push(`git fetch ${join(data, "projects", project_id, "git")} ${branch} && git merge FETCH_HEAD`);
  }
  next.push(`skep runs ${id}`);
  return ["", ...next.map((command, at) => `${at === 0 ? "next: " : "      "}${command}`)];
}
