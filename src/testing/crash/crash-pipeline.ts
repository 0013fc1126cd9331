/**
 * The run that is disturbed: six steps, two of them in parallel, and one for each item of a list. Each command writes
 * its start and end to a journal in the workspace, so that a command that ran twice can be detected.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

export interface CrashRun {
  id: string;
  /** The model; by default the scripted one. */
  model?: string;
  steps: object[];
  script: { version: 1; steps: Record<string, object[]> };
}

/** How long a command and a reply take, in ms. */
interface Pace {
  commandMs: number;
  replyMs: number;
  /** If set, commands wait until the workspace has a file `go`. */
  held?: boolean;
}

const note = (label: string, { commandMs, held }: Pace) => ({
  tool: "bash",
  input: {
    command: `echo "begin $SKEP_EXECUTION_ID ${label}" >> journal; sleep ${commandMs / 1_000}; ${held ? "until [ -e go ]; do sleep 0.05; done; " : ""}echo "end $SKEP_EXECUTION_ID ${label}" >> journal; echo noted`,
  },
});

/** A reply with two commands, which are labeled like their call ids, and the turn that completes the step. */
function turns(outputs: Record<string, unknown>, pace: Pace): object[] {
  const delay_ms = pace.replyMs;
  return [
    { text: "First I note two things.", tool_calls: [note("1_1", pace), note("1_2", pace)], delay_ms, chunk: 5 },
    { text: "That was it.", tool_calls: [{ tool: "complete", input: { outputs, summary: "noted" } }], delay_ms },
  ];
}

const step = (id: string, needs: string[], input: string, output: string, more: object = {}) => ({
  id,
  agent: "noter",
  needs,
  input,
  outputs: [output],
  ...more,
});

/** A run of six steps, for the process sandbox. */
export function sixSteps(pace: Pace): CrashRun {
  const items = { for_each: "{{ steps.plan.outputs.items }}" };
  return {
    id: "six",
    steps: [
      step("plan", [], "Plan {{ task_description }}", "items"),
      step("left", ["plan"], "Left of {{ task_description }}", "left"),
      step("right", ["plan"], "Right of {{ task_description }}", "right"),
      step("join", ["left", "right"], "{{ steps.left.outputs.left }}{{ steps.right.outputs.right }}", "joined"),
      step("each", ["join"], "{{ item }} of {{ steps.join.outputs.joined }}", "done", items),
      step("ship", ["each"], "Ship {{ steps.join.outputs.joined }}", "shipped"),
    ],
    script: {
      version: 1,
      steps: {
        plan: turns({ items: ["one", "two"] }, pace),
        left: turns({ left: "L" }, pace),
        right: turns({ right: "R" }, pace),
        join: turns({ joined: "{{ user }}" }, pace),
        each: turns({ done: "{{ user }}" }, pace),
        ship: turns({ shipped: "yes" }, pace),
      },
    },
  };
}

/** A run of two steps, for sandboxes that start slowly. */
export function twoSteps(pace: Pace): CrashRun {
  return {
    id: "two",
    steps: [
      step("make", [], "Make {{ task_description }}", "made"),
      step("check", ["make"], "{{ steps.make.outputs.made }}", "checked"),
    ],
    script: { version: 1, steps: { make: turns({ made: "M" }, pace), check: turns({ checked: "{{ user }}" }, pace) } },
  };
}

/** Writes agent, pipeline and transcript into a data folder. @returns the transcript's path. */
export function layOut(data: string, { id, steps, script, model = "demo/scripted" }: CrashRun): string {
  const agents = join(data, "agents");
  mkdirSync(join(agents, "noter"), { recursive: true });
  mkdirSync(join(agents, "_pipelines"), { recursive: true });
  writeFileSync(join(agents, "noter", "AGENT.md"), "---\nname: Noter\nnetwork: none\nmemory_mb: 64\n---\nYou note.\n");
  const pipeline = { id, name: id, version: 1, defaults: { model }, steps };
  writeFileSync(join(agents, "_pipelines", `${id}.yml`), stringify(pipeline));
  const path = join(data, "skep.crash-script.yml");
  writeFileSync(path, stringify(script));
  return path;
}
