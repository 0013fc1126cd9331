/** Chooses the program that drives agents: Skep's own loop, or an external agent that the user already has. */
import { badUsage, isProblem } from "../../core/errors.ts";
import { HARNESS_NAMES, type HarnessName } from "../../core/harness-names.ts";
import { SCRIPTED } from "../model-choice.ts";
import type { Client } from "../server/client.ts";
import { choose, hasPerson } from "../terminal/ask.ts";
import type { InitFlags } from "./init.ts";

/** Names of the external agents' programs on the user's machine. */
const PROGRAMS: Readonly<Record<HarnessName, string>> = {
  opencode: "opencode",
  codex: "codex",
  "claude-code": "claude",
  gemini: "gemini",
  qwen: "qwen",
  pi: "pi",
};
const PROMPT = "You write code in this repository, with tests, and say in the end what you changed.";

/** @throws Problem 422 `bad_usage` for an unknown name. */
export function harnessFlag({ harness }: Pick<InitFlags, "harness">): HarnessName | "builtin" | undefined {
  if (harness === undefined || harness === "builtin") return harness;
  const found = HARNESS_NAMES.find((name) => name === harness);
  if (found) return found;
  const names = ["builtin", ...HARNESS_NAMES].join(", ");
  throw badUsage(`--harness: there is no ${harness}. There are: ${names}.`);
}

/** Creates an agent that the chosen program drives. @returns the agent's id; undefined for the built-in loop. */
export async function setUpHarness(
  client: Client,
  flags: InitFlags,
  model: string,
  say: (text: string) => void,
): Promise<HarnessName | undefined> {
  const name = harnessFlag(flags) ?? (await chooseHarness(flags));
  if (name === "builtin") return undefined;
  const scripted = model === SCRIPTED ? { model } : {};
  const isNew = await client.call("POST", "/v1/agents", { id: name, harness: name, prompt: PROMPT, ...scripted }).then(
    () => true,
    (error) => {
      if (!isProblem(error) || error.status !== 409) throw error;
      return false;
    },
  );
  say(`Agent       ${name}, ${isNew ? `driven by ${name}` : "which is there already"}`);
  return name;
}

async function chooseHarness({ yes }: InitFlags): Promise<HarnessName | "builtin"> {
  const installed = HARNESS_NAMES.filter((name) => Bun.which(PROGRAMS[name]));
  if (yes || !hasPerson() || installed.length === 0) return "builtin";
  console.error("Use the built-in agent, or one that is installed here?");
  return choose("Agent", [
    { label: "the built-in agent", value: "builtin" as const },
    ...installed.map((name) => ({ label: name, value: name })),
  ]);
}
