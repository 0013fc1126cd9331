/** Checks a call before it is made: against the rules of its agent and, if a rule asks, with a person. */
import { Problem } from "../../core/errors.ts";
import { isObject } from "../../core/is-object.ts";
import { TOOL_SEARCH } from "../../core/outside-table.ts";
import { kindOfTool } from "../../core/permission-rule.ts";
import type { Turn } from "../calls.ts";
import type { Execution, StoredCall } from "../execution.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { type Decision, decideAll, type PermissionRequest } from "./decide.ts";
import type { Rule } from "./rules.ts";

/** The question that a person is asked. */
export interface Question extends Pick<Decision, "asking" | "isUncertain"> {
  request: PermissionRequest;
  /** The command, the paths or the address. May hold secret values. */
  subject: string;
}

/** The state of a question. `why`: a sentence for the agent. `until`: ms since the epoch. */
export type Permit = { state: "allowed" } | { state: "denied"; why: string } | { state: "waiting"; until: number };

export interface PermissionRows {
  /**
   * Returns the state of the question about this call, and asks it if that has not happened yet. On disk when it
   * returns: a call repeated after a crash finds the same question.
   */
  ask(execution: Execution, callId: string, question: Question): Permit;
  /** Whether a question of this execution is waiting for its answer. */
  isWaiting(execution: Pick<Execution, "id">): boolean;
  /** The newest call of the execution about which a person was asked and whose id has this prefix. */
  lastAsked(execution: Pick<Execution, "id">, beginning: string): string | undefined;
  /** Resolves once the question no longer waits: it was answered, or its time is over. @throws the signal's reason. */
  waitForAnswer(execution: Execution, callId: string, signal: AbortSignal): Promise<void>;
  /** Withdraws the question about a call that will not be made. */
  withdraw(execution: Execution, callId: string): void;
}

export interface Permissions extends PermissionRows {
  /** The rules of the execution's agent, and of the agents whose powers bound it. */
  rulesOf(execution: Pick<Execution, "agentId" | "sessionId">): readonly (readonly Rule[])[];
}

/**
 * What the model reads when the call may not be made; undefined when it may.
 * @param faultOf says why the tool does not accept the input; such a call is refused without asking a person.
 * @throws Problem 503 `waiting_for_permission` while a person is asked.
 */
export async function refusalOf(
  { execution, ports }: Turn,
  call: StoredCall,
  tool: Tool,
  faultOf: () => Promise<string | undefined>,
): Promise<ToolResult | undefined> {
  if (tool.group === "end" || tool.name === TOOL_SEARCH) return undefined;
  const rules = ports.permissions.rulesOf(execution);
  if (rules.length === 0) return undefined;
  const request = requestOf(tool, call.input);
  const decision = decideAll(rules, request);
  if (decision.effect === "allow") return undefined;
  if (decision.effect === "deny")
    return toRefusal(
      `Not made: the rules of this agent refuse it (${decision.rule?.text}). Do it another way, or say so.`,
    );
  const fault = await faultOf();
  if (fault !== undefined) return toRefusal(fault);
  const subject = subjectOf(request);
  const question = { ...decision, request, subject };
  const permit = ports.permissions.ask(execution, call.callId, question);
  if (permit.state === "allowed") return undefined;
  if (permit.state === "denied") return toRefusal(permit.why);
  throw new Problem(503, "waiting_for_permission", waitingWords(execution, question), {
    data: { until: permit.until },
  });
}

/** Says what the execution waits for. */
export const waitingWords = (
  { agentId }: Pick<Execution, "agentId">,
  { request, subject }: Pick<Question, "request" | "subject">,
): string => `A person is asked whether ${agentId} may use ${request.tool}${subject ? `: ${shorten(subject)}` : ""}`;

const toRefusal = (output: string): ToolResult => ({ ok: false, output });

const SHOWN_CHARACTERS = 200;
const shorten = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;

const PATHS = ["path", "file_path", "source", "destination"] as const;

/** Describes what a call does, as far as its input tells. */
export function requestOf({ name }: Pick<Tool, "name">, input: unknown): PermissionRequest {
  const given: Record<string, unknown> = isObject(input) ? input : {};
  const readText = (member: string) => (typeof given[member] === "string" ? given[member] : undefined);
  const paths = PATHS.flatMap((member) => readText(member) ?? []);
  return { tool: name, kind: kindOfTool(name), paths, command: readText("command"), address: readText("url") };
}

export const subjectOf = ({ paths = [], command, address }: PermissionRequest): string =>
  [command, address, ...paths].filter((one) => one !== undefined).join("\n");
