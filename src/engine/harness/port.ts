/** The engine's view of external agents: programs that speak the Agent Client Protocol over their standard streams. */
import type { OpenPipe } from "../../core/pipe.ts";
import type { DataPart, ModelUsage } from "../model.ts";
import type { TextPart } from "../parts.ts";
import type { Sandbox } from "../sandbox.ts";
import type { HarnessTools } from "./tools.ts";

/** What a tool of the program does, in the protocol's terms. */
export type CallKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "switch_mode"
  | "other";

/** A tool call as far as the program has described it. Fields that an update leaves out are unchanged. */
export interface CallUpdate {
  id: string;
  title?: string | undefined;
  /** The tool's own name, where the program gives one. */
  name?: string | undefined;
  kind?: CallKind | undefined;
  status?: "pending" | "in_progress" | "completed" | "failed" | undefined;
  input?: unknown;
  /** Files that the call works on. */
  paths?: readonly string[] | undefined;
  /** The call's result: its text, and the paths of files that it changed. */
  output?: string | undefined;
  changed?: readonly string[] | undefined;
  /** Unified diff of the changed files, as far as it is short enough to be shown. */
  diff?: string | undefined;
}

export interface PermissionOption {
  id: string;
  kind: "allow_once" | "allow_always" | "reject_once" | "reject_always";
}

export interface PermissionRequest {
  call: CallUpdate;
  options: readonly PermissionOption[];
}

/** Called with what the program says during a turn. No handler may throw. */
export interface HarnessHandlers {
  onText(piece: string): void;
  onThinking(piece: string): void;
  onCall(call: CallUpdate): void;
  onPlan(entries: readonly { content: string; status: string }[]): void;
  /** The program's conversation now has so many tokens. */
  onFilled(tokens: number): void;
  /** @returns the id of the chosen option; undefined when none is chosen. */
  onPermission(request: PermissionRequest): Promise<string | undefined>;
  /** The program sent more than the limit and was ended. */
  onFlood(why: string): void;
  /** Other output of the program, outside the protocol. */
  onLog(text: string): void;
}

export interface HarnessPlace {
  /** Absolute path inside the sandbox. */
  cwd: string;
  /** The MCP server of Skep's tools: its address and key. */
  tools: { url: string; token: string };
  /** Names that the program may use for its model, best first. The program is set to the first one that it offers. */
  models: readonly string[];
}

/** Data parts are pictures, for programs that accept them. */
export type PromptPart = TextPart | DataPart;

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

export interface TurnEnd {
  reason: StopReason;
  /** Tokens of the model calls in this turn, if the program counts them. */
  usage?: ModelUsage | undefined;
}

export interface HarnessConnection {
  /** Whether a session of an earlier process can be continued. */
  readonly continues: boolean;
  /** Begins a session. @returns its id. @throws Problem 502 `harness_refused`. */
  begin(place: HarnessPlace): Promise<string>;
  /**
   * Continues a session. What the program repeats of the past reaches no handler. @throws Problem 502
   * `harness_refused`.
   */
  resume(sessionId: string, place: HarnessPlace): Promise<void>;
  /** Whether a prompt may hold pictures. */
  readonly takesPictures: boolean;
  /** Runs one turn. @throws Problem 502 `harness_refused`, also when the program ends meanwhile. */
  prompt(sessionId: string, parts: readonly PromptPart[]): Promise<TurnEnd>;
  /** Asks the program to end the turn; `prompt` still resolves by itself. */
  cancel(sessionId: string): Promise<void>;
  /** Resolves with the reason, in words, when the program or its streams are gone. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/** Answers requests of one execution's program. */
type GatewayHandler = (request: Request) => Promise<Response>;

interface GatewayListener {
  /** Base address of the listener for the program, without a path. */
  url: string;
  /** Accepts no further requests and ends those under way. */
  close(): Promise<void>;
}

export interface HarnessPort {
  /** Answers a request to the MCP server of an execution's tools. @param body its JSON; undefined when it has none. */
  answerTools(tools: HarnessTools, request: Request, body: unknown): Promise<Response>;
  /** Starts the program and greets it. @throws Problem 502 `harness_refused` when it does not speak the protocol in time. */
  connect(open: OpenPipe, handlers: HarnessHandlers, signal: AbortSignal): Promise<HarnessConnection>;
  /**
   * Listens for the programs of one sandbox.
   * @param handler gives away the chunks of a streamed answer: each buffer is emptied once it was sent.
   * @throws Problem 503 `sandbox_lost`.
   */
  listen(openRoute: Sandbox["openRoute"], handler: GatewayHandler): Promise<GatewayListener>;
}
