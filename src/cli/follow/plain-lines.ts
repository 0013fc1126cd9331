/** A run as lines, one after the other, for pipes, logs and terminals that cannot redraw. */
import type { SkepEvent } from "../../core/events.ts";
import { textIn } from "../../core/is-object.ts";
import type { Client } from "../server/client.ts";
import { hasPerson } from "../terminal/ask.ts";
import { oneLine, paint, stripControls } from "../terminal/style.ts";
import { localizeTimes } from "../terminal/table.ts";
import { createApprovals } from "./approval.ts";
import { callDiff } from "./call-diff.ts";
import type { Follower } from "./follow.ts";
import { noticeOf } from "./notice.ts";
import { inputText } from "./state.ts";

const SHORT = 100;
const shorten = (value: unknown): string => {
  const text = oneLine(typeof value === "string" ? value : inputText(value));
  return text.length > SHORT ? `${text.slice(0, SHORT - 1)}…` : text;
};

export function createPlainLines(client: Client, runId: string, text: boolean, signal: AbortSignal): Follower {
  /** Whether the last line on the screen has no line break yet. */
  let open = false;
  const endLine = () => {
    if (open) process.stdout.write("\n");
    open = false;
  };
  const approvals = createApprovals(client, runId, { signal, before: endLine, after: () => {} });
  return {
    take(event) {
      const line = lineOf(event);
      if (line !== undefined) {
        endLine();
        console.log(line);
      } else if (text && event.kind === "agent_output") {
        const { text: said, call_id } = event.data;
        const piece = stripControls(String(said ?? ""));
        process.stdout.write(call_id ? paint("dim", piece) : piece);
        open = piece === "" ? open : !piece.endsWith("\n");
      }
      approvals.take(event);
    },
    end() {
      approvals.end();
      endLine();
    },
  };
}

/** Formats an event as one line; undefined for events that are not shown. */
function lineOf({ kind, step_id, agent_id, data }: SkepEvent): string | undefined {
  const d: Record<string, unknown> = data;
  const who = `${step_id ?? agent_id ?? ""}${typeof d["index"] === "number" ? `[${d["index"]}]` : ""}`;
  switch (kind) {
    case "run_created":
      return `run of ${d["pipeline_id"]}`;
    case "session_started":
      return `▶ ${who} (${agent_id ?? "a command"})`;
    case "output_withdrawn":
      return paint("dim", `  ↺ ${who}: what was shown of it last no longer counts`);
    case "tool_call_start":
      return `  · ${d["tool"]} ${paint("dim", shorten(d["input"]))}`;
    case "tool_call_end":
      return d["ok"] ? callDiff(String(d["output"] ?? "")) : `  ✗ ${d["tool"]}: ${shorten(d["output"])}`;
    case "step_complete":
      return `✔ ${who}`;
    case "step_failed":
      return `✘ ${who}: ${oneLine(textIn(d["error"], "message") ?? "")}`;
    case "step_retrying":
      return `- ${who} is tried again`;
    case "step_skipped":
      return `- ${who} is skipped`;
    case "budget_warning":
    case "budget_exceeded":
    case "activity":
      // The title is not cut: what the run waits for, and until when, is at its end.
      return paint("dim", `  ${localizeTimes(oneLine(noticeOf(kind, d)))}`);
    case "permission_requested":
      return `? ${who}: ${oneLine(String(d["message"] ?? ""))}\n  answer with: skep approvals allow ${d["request_id"]}, or deny`;
    case "approval_requested":
      // The person at this terminal is asked the question in full.
      return hasPerson() ? undefined : `? ${who}: ${stripControls(String(d["message"] ?? ""))}`;
    case "approval_resolved":
      return `${d["approved"] ? "✔" : "✘"} ${who}: ${d["approved"] ? "yes" : "no"}${d["comment"] ? `, ${oneLine(String(d["comment"]))}` : ""}`;
    default:
      return undefined;
  }
}
