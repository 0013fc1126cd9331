/** Suggests the keys of pipeline files at the start of a line. */
import type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";

const TOP: Record<string, string> = {
  id: "Name of the pipeline and of its file.",
  name: "Shown to people.",
  description: "Shown to people.",
  version: "Counted by the person who edits the file.",
  defaults: "Model, time limit, attempts and budget of steps that do not say themselves.",
  inputs: "What a run may be given beside its task.",
  steps: "What is done.",
};
const STEP: Record<string, string> = {
  id: "Name of the step, unique in the pipeline.",
  name: "Shown to people.",
  agent: "Who does it.",
  input: "What to do, with {{ variables }}.",
  needs: "Steps that must have ended first. Without it: the step above.",
  when: "The step is skipped when this condition is not true.",
  outputs: "Outputs that the agent must give.",
  output_schema: "JSON Schema of the outputs.",
  for_each: "A list: the agent does it once for every item.",
  max_parallel: "Items at work at once.",
  run: "Command line for the sandbox's shell, without a model.",
  working_directory: "Folder that the command runs in.",
  env: "Environment variables of the command, with {{ variables }}.",
  approval: "A person decides: message, timeout_seconds, on_timeout.",
  on_failure: "fail, retry, continue, or { goto: step }.",
  route: "Where to go, by an output of this step.",
  model: "provider/model",
  timeout_seconds: "Seconds one attempt may take.",
  max_attempts: "Attempts under on_failure: retry.",
  skills: "Skills always put into the prompt.",
};

export function completePipeline(context: CompletionContext): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos);
  const before = context.matchBefore(/^[\s-]*\w*/);
  if (!before || (before.text.trim() === "" && !context.explicit)) return null;
  const word = /\w*$/.exec(before.text)?.[0] ?? "";
  const keys = /^\S/.test(line.text) && !line.text.startsWith("-") ? TOP : STEP;
  return {
    from: context.pos - word.length,
    options: Object.entries(keys).map(([label, info]) => ({ label: `${label}:`, info, type: "property" })),
  };
}
