/** Following a run in a terminal: steps, tool calls and text as they come, a line of progress, an answer for approvals. */
import { createInterface } from "node:readline/promises";
import type { SkepEvent } from "../core/events.ts";
import { LIMITS } from "../core/limits.ts";
import type { Client } from "./server/client.ts";

export interface RunView {
  id: string;
  status: string;
  outputs: Record<string, unknown>;
  error: { code: string; message: string; step_id?: string } | null;
  cost_usd: number;
  tokens: number;
  branch: string | null;
}

export interface FollowOptions {
  /** One JSON line per event instead of words. */
  json: boolean;
  /** False hides the text of agents. */
  text: boolean;
}

const ENDED = new Set(["succeeded", "failed", "cancelled"]);
const dim = (text: string) => (process.stdout.isTTY ? `\x1b[2m${text}\x1b[0m` : text);
/** Control characters of an agent's text must not move the cursor or set the title. */
const plain = (text: string) => text.replace(/[\x00-\x08\x0b-\x1f\x7f]/g, "");
const short = (value: unknown) => {
  const text = plain(typeof value === "string" ? value : JSON.stringify(value)).replaceAll("\n", " ");
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
};

/** Exit code by outcome: 0 succeeded, 1 failed, 3 cancelled. */
export const exitCodeOf = (status: string): number => (status === "succeeded" ? 0 : status === "cancelled" ? 3 : 1);

/** Follows until the run ends or `signal` aborts. @returns the run as it then is. */
export async function followRun(
  client: Client,
  runId: string,
  { json, text }: FollowOptions,
  signal: AbortSignal,
): Promise<RunView> {
  const progress = createProgress(runId, json);
  try {
    for await (const event of client.events(`/v1/events/stream?run_id=${runId}`, signal)) {
      progress.clear();
      const shown = json ? JSON.stringify(event) : lineOf(event);
      if (shown !== undefined) line(shown);
      else if (text && event.kind === "agent_output") piece(event);
      progress.heard(event);
      if (event.kind === "approval_requested") await askApproval(client, runId, event, json);
    }
  } finally {
    progress.stop();
  }
  return client.call<RunView>("GET", `/v1/runs/${runId}`);
}

export const hasEnded = (run: RunView): boolean => ENDED.has(run.status);

let openLine = false;
function line(text: string): void {
  if (openLine) process.stdout.write("\n");
  openLine = false;
  console.log(text);
}

/** Text of an agent or of a running tool, as it comes. */
function piece({ data }: SkepEvent): void {
  const text = plain(String(data["text"] ?? ""));
  process.stdout.write(data["call_id"] ? dim(text) : text);
  openLine = !text.endsWith("\n");
}

/** An event in one line, or undefined for those that are not shown. */
function lineOf({ kind, step_id, agent_id, data }: SkepEvent): string | undefined {
  const who = step_id ?? agent_id ?? "";
  const d = data as Record<string, unknown> & { error?: { message?: string } };
  switch (kind) {
    case "run_created":
      return `run of ${d["pipeline_id"]}`;
    case "session_started":
      return `▶ ${who} (${agent_id})`;
    case "tool_call_start":
      return `  · ${d["tool"]} ${dim(short(d["input"]))}`;
    case "tool_call_end":
      return d["ok"] ? undefined : `  ✗ ${d["tool"]}: ${short(d["output"])}`;
    case "step_complete":
      return `✔ ${who}`;
    case "step_failed":
      return `✘ ${who}: ${d.error?.message ?? ""}`;
    case "step_retrying":
      return `- ${who} is tried again`;
    case "step_skipped":
      return `- ${who} is skipped`;
    case "budget_warning":
    case "budget_exceeded":
    case "activity":
      return dim(`  ${short(d["title"] ?? d)}`);
    case "approval_requested":
      return `? ${who}: ${plain(String(d["message"] ?? ""))}`;
    default:
      return undefined;
  }
}

/** The line at the bottom of a terminal: steps, tokens, cost, time. */
function createProgress(runId: string, json: boolean) {
  const live = process.stdout.isTTY && !json;
  const started = Date.now();
  let [steps, tokens, cost, shown] = [0, 0, 0, false];
  const draw = () => {
    if (!live || openLine) return;
    const seconds = Math.floor((Date.now() - started) / 1_000);
    const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    process.stdout.write(
      `\r\x1b[2K${dim(`${runId} · ${steps} steps done · ${tokens} tokens · $${cost.toFixed(4)} · ${clock}`)}`,
    );
    shown = true;
  };
  const timer = live ? setInterval(draw, 500) : undefined;
  return {
    heard({ kind, data }: SkepEvent) {
      if (kind === "step_complete") steps++;
      if (kind !== "llm_call") return;
      tokens += Number(data["input_tokens"] ?? 0) + Number(data["output_tokens"] ?? 0);
      cost += Number(data["cost_usd"] ?? 0);
    },
    clear() {
      if (shown) process.stdout.write("\r\x1b[2K");
      shown = false;
    },
    stop() {
      clearInterval(timer);
      this.clear();
      if (openLine) process.stdout.write("\n");
      openLine = false;
    },
  };
}

async function askApproval(client: Client, runId: string, { step_id, data }: SkepEvent, json: boolean): Promise<void> {
  const step = String(data["step_id"] ?? step_id);
  if (json || !process.stdin.isTTY) {
    if (!json) console.log(`  answer with: skep approve ${runId} ${step} [--reject] [--comment TEXT]`);
    return;
  }
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  const said = (await reader.question("  approve? [y/n, then a comment] ")).slice(0, LIMITS.textCharacters);
  reader.close();
  const [, answer = "n", comment = ""] = /^\s*(\S*)\s*(.*)$/.exec(said) ?? [];
  const approved = /^y(es)?$/i.test(answer);
  await client.call("POST", `/v1/runs/${runId}/approve`, { step_id: step, approved, ...(comment ? { comment } : {}) });
}
