/** The interviewers' tools. Only sessions of the kind `onboarding` have them. */
import { Type as t } from "@sinclair/typebox";
import { type Tool, type ToolSource, toolsOf } from "../../engine/tool.ts";
import { OnboardingContext } from "./context.ts";
import type { Progress } from "./progress.ts";

const TIMEOUT_MS = 30_000;

export function onboardingTools(progress: Pick<Progress, "update" | "finish">): ToolSource {
  const update: Tool<OnboardingContext> = {
    name: "update_context",
    group: "projects",
    description:
      "Writes down what the person said: any section, any of its fields. A field that is given takes the place of what was there, lists as a whole; the others stay. Answers with all that is known and what your phase still lacks. Without any field it only answers.",
    parameters: OnboardingContext,
    timeoutMs: TIMEOUT_MS,
    resumes: true,
    async run(input, { execution }) {
      const { context, missing } = progress.update(execution, input);
      const lacks =
        missing.length > 0 ? `Your phase still needs: ${missing.join("; ")}.` : "Your phase has all it needs.";
      return { ok: true, output: `${lacks}\n\n${JSON.stringify(context, null, 1)}` };
    },
  };
  const finish: Tool<Record<string, never>> = {
    name: "finish_phase",
    group: "projects",
    description:
      "Ends your part of the onboarding, when your phase has all it needs and the person has agreed to what you wrote down. The next interviewer takes over; the last one makes the project with its vision and tasks.",
    parameters: t.Object({}),
    timeoutMs: TIMEOUT_MS,
    resumes: true,
    run: async (_input, { execution }) => ({ ok: true, output: progress.finish(execution) }),
  };
  return toolsOf("onboarding", [update, finish], ({ kind }) => kind === "onboarding");
}
