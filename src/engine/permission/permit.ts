/** Before a call is made: what the rules of its agent say, and the person whom they ask. */
import { Problem } from "../../core/errors.ts";
import { isObject } from "../../core/is-object.ts";
import { TOOL_SEARCH } from "../../core/outside-table.ts";
import { kindOfTool } from "../../core/permission-rule.ts";
import type { Turn } from "../calls.ts";
import type { Execution, StoredCall } from "../execution.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { type Decision, decideAll, type PermissionRequest } from "./decide.ts";
import type { Rule } from "./rules.ts";

/** What a person is asked. */
export interface Question extends Pick<Decision, "asking" | "isUncertain"> {
  request: PermissionRequest;
  /** The command, the paths or the address. May hold secret values. */
  subject: string;
}

/** How a question stands. `why`: a sentence for the agent. `until`: ms since the epoch. */
export type Permit = { state: "allowed" } | { state: "denied"; why: string } | { state: "waiting"; until: number };

export interface PermissionRows {
  /**
   * How the question about that call stands; asks it where it was not asked yet. On disk when it returns: asked again
   * after a crash, it is the same question.
   */
  ask(execution: Execution, callId: string, question: Question): Permit;
  /** Whether a question of the execution waits for its answer. */
  isWaiting(execution: Pick<Execution, "id">): boolean;
  /** The newest call of the execution whose id begins so, among those about which a person was asked. */
  lastAsked(execution: Pick<Execution, "id">, beginning: string): string | undefined;
  /** Resolves once that question waits no longer: it was answered, or its time is over. @throws what the signal aborts with. */
  answered(execution: Execution, callId: string, signal: AbortSignal): Promise<void>;
  /** That call will not be made: nobody is asked about it any more. */
  withdraw(execution: Execution, callId: string): void;
}

export interface Permissions extends PermissionRows {
  /** The rules of its agent, and of those agents whose powers bound it. */
  rulesOf(execution: Pick<Execution, "agentId" | "sessionId">): readonly (readonly Rule[])[];
}

/**
 * What the model reads of a call that may not be made; undefined: it may.
 * @param faultOf why the tool does not take the input: no person is asked about that.
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
    return refused(
      `Not made: the rules of this agent refuse it (${decision.rule?.text}). Do it another way, or say so.`,
    );
  const fault = await faultOf();
  if (fault !== undefined) return refused(fault);
  const subject = subjectOf(request);
  const question = { ...decision, request, subject };
  const permit = ports.permissions.ask(execution, call.callId, question);
  if (permit.state === "allowed") return undefined;
  if (permit.state === "denied") return refused(permit.why);
  throw new Problem(503, "waiting_for_permission", waitingWords(execution, question), {
    data: { until: permit.until },
  });
}

/** What is waited for, in words. */
export const waitingWords = (
  { agentId }: Pick<Execution, "agentId">,
  { request, subject }: Pick<Question, "request" | "subject">,
): string => `A person is asked whether ${agentId} may use ${request.tool}${subject ? `: ${shortened(subject)}` : ""}`;

const refused = (output: string): ToolResult => ({ ok: false, output });

const SHOWN_CHARACTERS = 200;
const shortened = (text: string): string =>
  text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;

const PATHS = ["path", "file_path", "source", "destination"] as const;

/** What a call does, as far as its input says so. */
export function requestOf({ name }: Pick<Tool, "name">, input: unknown): PermissionRequest {
  const given: Record<string, unknown> = isObject(input) ? input : {};
  const text = (member: string) => (typeof given[member] === "string" ? given[member] : undefined);
  const paths = PATHS.flatMap((member) => text(member) ?? []);
  return { tool: name, kind: kindOfTool(name), paths, command: text("command"), address: text("url") };
}

export const subjectOf = ({ paths = [], command, address }: PermissionRequest): string =>
  [command, address, ...paths].filter((one) => one !== undefined).join("\n");
