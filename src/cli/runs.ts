/** `skep runs`: lists runs, shows or follows one; `skep cancel`, `skep restart` and `skep approve` act on one. */
import type { Command } from "commander";
import { readConfig } from "../core/config.ts";
import { type Client, findServer } from "./client.ts";
import { exitCodeOf, followRun, hasEnded, type RunView } from "./follow.ts";
import { INTERRUPTED, onInterrupt } from "./interrupt.ts";
import { report } from "./run.ts";

interface Flags {
  url?: string;
  data?: string;
  json?: boolean;
}

const server = ({ url, data }: Flags) =>
  findServer({ url, data: readConfig(process.env, data === undefined ? {} : { data }).data });
const withServer = (command: Command) =>
  command
    .option("--url <url>", "server to use [SKEP_URL]")
    .option("--data <dir>", "data folder [DATA]")
    .option("--json", "JSON instead of words");

interface StepView {
  step_id: string;
  agent_id: string | null;
  status: string;
  attempt: number;
  model: string | null;
  cost_usd: number;
  error: { message: string } | null;
}

/** A run and its steps, every attempt. */
async function show(client: Client, id: string, json: boolean): Promise<void> {
  const path = encodeURIComponent(id);
  const run = await client.call<RunView>("GET", `/v1/runs/${path}`);
  if (json) return console.log(JSON.stringify(run));
  if (hasEnded(run)) report(run, false, false);
  else console.log(`${run.status}: ${run.id}`);
  const { items } = await client.call<{ items: StepView[] }>("GET", `/v1/steps/${path}?limit=200`);
  for (const { step_id, agent_id, status, attempt, model, cost_usd, error } of items)
    console.log(
      [
        `  ${step_id.padEnd(20)} ${status.padEnd(9)}`,
        attempt > 1 ? `attempt ${attempt}` : undefined,
        agent_id ?? undefined,
        model ?? undefined,
        cost_usd > 0 ? `$${cost_usd.toFixed(4)}` : undefined,
        error?.message,
      ]
        .filter((part) => part !== undefined)
        .join("  "),
    );
}

export function runsCommand(program: Command, exit: (code: number) => void): void {
  withServer(program.command("runs"))
    .description("list runs, or show one")
    .argument("[run]", "id of a run")
    .option("--pipeline <id>", "runs of this pipeline only")
    .option("--status <status>", "runs in this status only")
    .option("--limit <n>", "how many", "20")
    .option("--follow", "follow the run until it ends")
    .action(
      async (
        run: string | undefined,
        flags: Flags & { pipeline?: string; status?: string; limit: string; follow?: boolean },
      ) => {
        const client = await server(flags);
        const json = flags.json ?? false;
        if (run !== undefined) {
          if (!flags.follow) return show(client, run, json);
          const interrupt = onInterrupt(client, run, false);
          const shown = await followRun(client, run, { json, text: true }, interrupt.signal);
          interrupt.done();
          report(shown, json, false);
          return exit(interrupt.asked ? INTERRUPTED : exitCodeOf(shown.status));
        }
        const query = new URLSearchParams({ limit: flags.limit });
        if (flags.pipeline) query.set("pipeline_id", flags.pipeline);
        if (flags.status) query.set("status", flags.status);
        const list = await client.call<{
          items: (RunView & { pipeline_id: string; created_at: string; task_description: string })[];
        }>("GET", `/v1/runs?${query}`);
        if (json) return console.log(JSON.stringify(list));
        if (list.items.length === 0) console.log('no runs yet; try: skep run hello "Greet this repository"');
        for (const { id, status, pipeline_id, created_at, cost_usd, task_description } of list.items)
          console.log(
            [
              id,
              status.padEnd(9),
              created_at.slice(0, 19),
              pipeline_id.padEnd(12),
              `$${cost_usd.toFixed(4)}`,
              task_description.replaceAll("\n", " ").slice(0, 60),
            ].join("  "),
          );
      },
    );

  const act = (name: string, description: string, path: string) =>
    withServer(program.command(name))
      .description(description)
      .argument("<run>", "id of a run")
      .action(async (run: string, flags: Flags) => {
        const after = await (await server(flags)).call<RunView>("POST", `/v1/runs/${encodeURIComponent(run)}/${path}`);
        console.log(flags.json ? JSON.stringify(after) : `${after.id} ${after.status}`);
      });
  act("cancel", "cancel a run", "cancel");
  act("restart", "restart a failed or cancelled run", "restart");

  withServer(program.command("approve"))
    .description("answer a step that waits for a person")
    .argument("<run>", "id of a run")
    .argument("<step>", "name of the step")
    .option("--reject", "say no")
    .option("--comment <text>", "what the next steps are told")
    .action(async (run: string, step: string, flags: Flags & { reject?: boolean; comment?: string }) => {
      const answer = { step_id: step, approved: !flags.reject, ...(flags.comment ? { comment: flags.comment } : {}) };
      const after = await (await server(flags)).call<RunView>(
        "POST",
        `/v1/runs/${encodeURIComponent(run)}/approve`,
        answer,
      );
      console.log(flags.json ? JSON.stringify(after) : `${after.id} ${after.status}`);
    });
}
