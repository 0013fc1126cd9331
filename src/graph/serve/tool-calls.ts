/** Calls of the agent tools: checks the arguments and returns the answer as text. */
import { isOneOf } from "../../core/typed-keys.ts";
import { GraphError } from "../graph-error.ts";
import { QUESTIONS, type Question } from "../model.ts";
import type { GraphSession } from "./session.ts";
import { askText, changesText, contextText, impactText, queryText } from "./tools.ts";

/** Answers one tool call as text. Throws if arguments are wrong, or if there is no index. */
export async function toolText(session: GraphSession, name: string, args: Record<string, unknown>): Promise<string> {
  switch (name) {
    case "code_graph_query":
      return queryText(
        session.query({ query: textOf(args, "query"), limit: numberOf(args, "limit", 10, 1, 50), includeCode: false }),
      );
    case "code_graph_context":
      return contextText(session.context(textOf(args, "symbol_name"), optionalText(args, "file_path")));
    case "code_graph_impact":
      return impactText(
        session.impact({
          target: textOf(args, "target"),
          direction: directionOf(args),
          maxDepth: numberOf(args, "max_depth", 3, 1, 10),
          minConfidence: 0,
        }),
      );
    case "code_graph_ask":
      return askText(
        session.ask({
          question: questionOf(args),
          subject: optionalText(args, "subject"),
          to: optionalText(args, "to"),
          path: optionalText(args, "path"),
          limit: numberOf(args, "limit", 30, 1, 200),
        }),
      );
    case "code_graph_changes":
      return changesText(await session.changes());
    default:
      throw new GraphError("invalid", `there is no tool ${name}`);
  }
}

function textOf(args: Record<string, unknown>, name: string): string {
  const value = args[name];
  if (typeof value !== "string" || value.trim() === "") throw new GraphError("invalid", `${name} must be a text`);
  return value;
}

function optionalText(args: Record<string, unknown>, name: string): string | undefined {
  const value = args[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function numberOf(args: Record<string, unknown>, name: string, fallback: number, min: number, max: number): number {
  const value = args[name] ?? fallback;
  if (typeof value !== "number" || !Number.isInteger(value))
    throw new GraphError("invalid", `${name} must be a whole number`);
  return Math.min(max, Math.max(min, value));
}

function questionOf(args: Record<string, unknown>): Question {
  const { question } = args;
  if (typeof question === "string" && isOneOf(QUESTIONS, question)) return question;
  throw new GraphError("invalid", `question must be one of ${QUESTIONS.join(", ")}`);
}

function directionOf(args: Record<string, unknown>): "upstream" | "downstream" {
  const value = args["direction"] ?? "upstream";
  if (value !== "upstream" && value !== "downstream")
    throw new GraphError("invalid", "direction must be upstream or downstream");
  return value;
}
