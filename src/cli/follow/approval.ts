/** Asks the person who follows a run about steps that wait for approval. Only a clear yes or no counts as an answer. */
import { createInterface } from "node:readline/promises";
import { isProblem } from "../../core/errors.ts";
import type { SkepEvent } from "../../core/events.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Client } from "../server/client.ts";
import { hasPerson } from "../terminal/ask.ts";
import { countColumns, paint, stripControls } from "../terminal/style.ts";
import type { Follower } from "./follow.ts";

interface ApprovalOptions {
  signal: AbortSignal;
  /** Called before a question is shown, and after it is answered. */
  before(): void;
  after(): void;
}

/** Asks one question after the other while the run continues. A question that is answered elsewhere disappears. */
export function createApprovals(client: Client, runId: string, options: ApprovalOptions): Follower {
  const open = new Map<string, string>();
  let asked: { step: string; stop: AbortController } | undefined;

  async function ask(step: string, message: string): Promise<void> {
    const stop = new AbortController();
    asked = { step, stop };
    open.delete(step);
    try {
      // Events from the run's start include questions that were answered long ago, so check that the step still waits.
      const { status } = await client.call("GET", `/v1/steps/${runId}/${encodeURIComponent(step)}`);
      if (status !== "waiting" || stop.signal.aborted) return;
      options.before();
      const meaning = await meaningOf(client, runId, step);
      const answer = await askQuestion(step, message, meaning, AbortSignal.any([stop.signal, options.signal]));
      if (answer) await client.call("POST", `/v1/runs/${runId}/approve`, { step_id: step, ...answer });
    } catch (error) {
      // Somebody else answered first, or the run was cancelled; the following events show which.
      if (!isProblem(error)) throw error;
      process.stderr.write(`${stripControls(error.detail)}\n`);
    } finally {
      asked = undefined;
      options.after();
      askNext();
    }
  }
  function askNext(): void {
    const [first] = open;
    if (first && !asked && !options.signal.aborted) void ask(...first);
  }
  return {
    take({ kind, step_id, data }: SkepEvent) {
      const step = String(data["step_id"] ?? step_id ?? "");
      if (kind === "approval_requested") {
        if (!hasPerson())
          return console.log(`  answer with: skep approve ${runId} ${step} [--reject] [--comment TEXT]`);
        open.set(step, String(data["message"] ?? ""));
        askNext();
      }
      if (kind !== "approval_resolved") return;
      open.delete(step);
      if (asked?.step === step) asked.stop.abort();
    },
    end() {
      open.clear();
      asked?.stop.abort();
    },
  };
}

interface Meaning {
  yes: string;
  no: string;
}

interface PipelineStep {
  id: string;
  needs?: string[];
  on_failure?: string | { goto: string };
}

/** What a yes and a no lead to in the pipeline; undefined when the pipeline cannot be read. */
async function meaningOf(client: Client, runId: string, step: string): Promise<Meaning | undefined> {
  try {
    const { pipeline_id } = await client.call("GET", `/v1/runs/${runId}`);
    const { steps } = await client.ask<{ steps: PipelineStep[] }>("GET", `/v1/pipelines/${pipeline_id}`);
    return meaningIn(steps, step);
  } catch (error) {
    if (isProblem(error)) return undefined;
    throw error;
  }
}

export function meaningIn(steps: readonly PipelineStep[], name: string): Meaning | undefined {
  const at = steps.findIndex(({ id }) => id === name);
  const step = steps[at];
  if (!step) return undefined;
  const following = steps
    .filter(({ needs }, index) => (needs ? needs.includes(name) : index === at + 1))
    .map(({ id }) => id)
    .join(", ");
  const yes = following ? `continues with ${following}` : "the run succeeds";
  const { on_failure } = step;
  if (typeof on_failure === "object") return { yes, no: `goes back to ${on_failure.goto}` };
  return { yes, no: on_failure === "continue" ? yes : "fails the run" };
}

/** The answer, or undefined when somebody else answered. */
async function askQuestion(
  step: string,
  message: string,
  meaning: Meaning | undefined,
  signal: AbortSignal,
): Promise<{ approved: boolean; comment?: string } | undefined> {
  const width = Math.min(countColumns(), 100) - 2;
  const text = Bun.wrapAnsi(stripControls(message), Math.max(20, width), { hard: true, trim: false }).replace(
    /^/gm,
    "  ",
  );
  const lines = ["", `${paint("yellow", "?")} ${paint("bold", step)} waits for your answer`, text, ""];
  if (meaning) lines.push(`  yes  ${meaning.yes}`, `  no   ${meaning.no}`);
  process.stderr.write(`${lines.join("\n")}\n`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  // A terminal in raw mode does not turn Ctrl-C into a signal.
  terminal.on("SIGINT", () => process.emit("SIGINT"));
  try {
    for (let hint = ""; ; hint = "Answer y or n. ") {
      const said = await terminal.question(`${hint}Approve? [y/n, then a comment] `, { signal });
      const [, answer, comment = ""] =
        /^\s*(y|yes|n|no)(?:\s+(.*))?$/is.exec(said.slice(0, LIMITS.textCharacters)) ?? [];
      if (answer === undefined) continue;
      const approved = /^y/i.test(answer);
      return { approved, ...(comment.trim() ? { comment: comment.trim() } : {}) };
    }
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") return undefined;
    throw error;
  } finally {
    process.stderr.write("\n");
    terminal.close();
  }
}
