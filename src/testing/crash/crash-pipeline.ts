/**
 * The run that is disturbed: six steps, two of them side by side, one for each of a list. Every agent notes in a
 * journal in its workspace where a command of its begins and ends, so that a command that ran twice shows.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";

export interface CrashRun {
  id: string;
  /** The scripted one, unless another plays the script. */
  model?: string;
  steps: object[];
  script: { version: 1; steps: Record<string, object[]> };
}

/** How long a command and a reply take, in ms. */
interface Pace {
  commandMs: number;
  replyMs: number;
  /** Commands then wait until the workspace has a file `go`. */
  held?: boolean;
}

const note = (label: string, { commandMs, held }: Pace) => ({
  tool: "bash",
  input: {
    command: `echo "begin $SKEP_EXECUTION_ID ${label}" >> journal; sleep ${commandMs / 1_000}; ${held ? "until [ -e go ]; do sleep 0.05; done; " : ""}echo "end $SKEP_EXECUTION_ID ${label}" >> journal; echo noted`,
  },
});

/** A reply with two commands, labelled like their call ids, then the end. */
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

/** Six steps for the process sandbox. */
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

/** Two steps, for sandboxes that take long to start. */
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
