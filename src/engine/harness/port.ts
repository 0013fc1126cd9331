/** External agents as the engine sees them: a program that speaks the Agent Client Protocol over its standard streams. */
import type { OpenPipe } from "../../core/pipe.ts";
import type { DataPart, ModelUsage } from "../model.ts";
import type { TextPart } from "../parts.ts";
import type { Sandbox } from "../sandbox.ts";
import type { HarnessTools } from "./tools.ts";

/** What a tool of the program does, in the protocol's words. */
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

/** A tool call as far as the program has said; what an update leaves out is as it was. */
export interface CallUpdate {
  id: string;
  title?: string | undefined;
  /** The tool's own name, where the program gives one. */
  name?: string | undefined;
  kind?: CallKind | undefined;
  status?: "pending" | "in_progress" | "completed" | "failed" | undefined;
  input?: unknown;
  /** Files that it works on. */
  paths?: readonly string[] | undefined;
  /** What it gave: its text, and the paths of files that it changed. */
  output?: string | undefined;
  changed?: readonly string[] | undefined;
  /** Of these files as a unified diff, as far as it is short enough to be shown. */
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

/** What the program says during a turn. None of them may throw. */
export interface HarnessHandlers {
  onText(piece: string): void;
  onThinking(piece: string): void;
  onCall(call: CallUpdate): void;
  onPlan(entries: readonly { content: string; status: string }[]): void;
  /** Its conversation has so many tokens. */
  onFilled(tokens: number): void;
  /** @returns the id of the option that is chosen; undefined: none. */
  onPermission(request: PermissionRequest): Promise<string | undefined>;
  /** It says more than is read, and was ended. */
  onFlood(why: string): void;
  /** What the program prints besides the protocol. */
  onLog(text: string): void;
}

export interface HarnessPlace {
  /** Absolute path inside the sandbox. */
  cwd: string;
  /** Skep's tools: the address of the MCP server and its key. */
  tools: { url: string; token: string };
  /** Names that the program may have for its model, the best first: it is set to the first that it offers. */
  models: readonly string[];
}

/** Bytes are those of pictures, for a program that takes them. */
export type PromptPart = TextPart | DataPart;

export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";

export interface TurnEnd {
  reason: StopReason;
  /** Tokens of its model calls in this turn, where the program counts them. */
  usage?: ModelUsage | undefined;
}

export interface HarnessConnection {
  /** Whether a session of an earlier process can be continued. */
  readonly continues: boolean;
  /** Begins a session. @returns its id. @throws Problem 502 `harness_refused`. */
  begin(place: HarnessPlace): Promise<string>;
  /** Continues a session; what it repeats of its past reaches no handler. @throws Problem 502 `harness_refused`. */
  resume(sessionId: string, place: HarnessPlace): Promise<void>;
  /** Whether a prompt may hold pictures. */
  readonly takesPictures: boolean;
  /** One turn. @throws Problem 502 `harness_refused`, also when the program ends meanwhile. */
  prompt(sessionId: string, parts: readonly PromptPart[]): Promise<TurnEnd>;
  /** Asks it to end the turn; `prompt` still resolves by itself. */
  cancel(sessionId: string): Promise<void>;
  /** Resolves with why, in words, when the program or its streams are gone. */
  readonly ended: Promise<string>;
  close(): Promise<void>;
}

/** Answers requests of one execution's program. */
type GatewayHandler = (request: Request) => Promise<Response>;

interface GatewayListener {
  /** Where the program finds it, without a path. */
  url: string;
  /** Takes no further request, and ends those under way. */
  close(): Promise<void>;
}

export interface HarnessPort {
  /** Answers a request to the MCP server of an execution's tools. @param body its JSON; undefined where it has none. */
  answerTools(tools: HarnessTools, request: Request, body: unknown): Promise<Response>;
  /** Starts the program and greets it. @throws Problem 502 `harness_refused` when it does not speak the protocol in time. */
  connect(open: OpenPipe, handlers: HarnessHandlers, signal: AbortSignal): Promise<HarnessConnection>;
  /**
   * Listens for the programs of one sandbox. @param handler hands over the pieces of a stream for good: each is emptied
   * once it was sent. @throws Problem 503 `sandbox_lost`.
   */
  listen(openRoute: Sandbox["openRoute"], handler: GatewayHandler): Promise<GatewayListener>;
}
